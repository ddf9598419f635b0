// Package webhook sends a single signed message to a receiver by HTTP and reports the outcome.
//
// It owns the format of the request, its signature (Standard Webhooks 1.0.0) and the guard that
// keeps requests out of internal networks. It must not know what a message is about, when it is
// retried, or where outcomes are stored. It writes no log, with one exception in net/http: if a
// receiver sends unsolicited data, net/http logs up to 4 KiB of it with the standard logger.
//
// All failures to reach a receiver are reported with the same sentence, so that nobody who can
// register a webhook can use it to scan the internal network for machines and ports. There is
// no such promise for allowed networks, whose responses are shown as they are.
//
// The guard does not recognize networks with their own gateway from public IPv6 addresses to
// private IPv4 addresses, other than 64:ff9b::/96 and 6to4. Nor does it recognize the machine's
// own public addresses: services listening there are reached without passing a firewall in
// front of the machine.
package webhook

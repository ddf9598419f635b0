// Package webhook sends one signed message to a receiver by HTTP and tells the
// outcome.
//
// It owns the form of the request, its signature (Standard Webhooks 1.0.0) and
// the guard that keeps receivers out of the networks inside. It must not know
// what a message is about, when it is tried again, or where outcomes are kept.
// It writes no log. net/http has one line of its own for a receiver that says
// something unasked: it quotes up to 4 KiB of that to the standard logger.
//
// What it tells of a receiver that could not be reached is one sentence for
// every reason, so that nobody who may name a receiver can look for machines
// and ports inside. In the networks that are allowed there is no such promise:
// an answer is shown as it came.
//
// A network whose own gateway turns public IPv6 addresses into private IPv4
// ones, other than by 64:ff9b::/96 and 6to4, is not recognised. Neither are the
// machine's own public addresses: what listens there is reached past a
// firewall that stands before the machine.
package webhook

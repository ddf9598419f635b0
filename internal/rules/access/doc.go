// Package access decides who may do what: API keys and how often they may be
// used.
//
// It owns the form of secrets, the check of a presented key, and the counting
// of requests. It must not know HTTP, SQL or where a key is printed.
package access

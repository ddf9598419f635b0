// Package access decides who may do what: API keys and how often they may be used.
//
// It defines the form of secrets, checks presented keys and counts requests. It must not know
// about HTTP, SQL or where a key is printed.
package access

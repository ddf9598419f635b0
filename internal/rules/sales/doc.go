// Package sales decides about a school's sales: what a list of transactions
// contains and which transactions may be taken in.
//
// It must not know HTTP, SQL or a file format.
package sales

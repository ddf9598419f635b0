// Package sales decides about a school's sales: what a list of transactions contains and which
// transactions may be imported.
//
// It must not know about HTTP, SQL or file formats.
package sales

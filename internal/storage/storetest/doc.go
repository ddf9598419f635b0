// Package storetest defines the behavior of a store: a suite that every store passes, and the
// real databases on which tests run it.
//
// It must not know how a store stores anything.
package storetest

// Package storetest defines what a store is: a suite that every store passes,
// and the real databases that tests run it on.
//
// It must not know how a store keeps anything.
package storetest

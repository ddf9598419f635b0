// Package apilyceum is Lyceum's own interface as contract/lyceum.yaml has it:
// what versions 1 and 2 lack.
//
// It owns how this interface writes what the rules give it, its statuses and
// its errors. It decides nothing, and must not know the other faces.
package apilyceum

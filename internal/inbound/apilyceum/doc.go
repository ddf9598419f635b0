// Package apilyceum implements the Lyceum API of contract/lyceum.yaml: everything that
// versions 1 and 2 lack.
//
// It owns how this API renders what the rules return, its status codes and its errors. It
// decides nothing, and must not know the other faces.
package apilyceum

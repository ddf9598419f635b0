// Package apiv2 is the v2 interface as contract/v2.yaml has it.
//
// It owns how v2 writes what the rules give it, its statuses and its errors.
// It decides nothing, and must not know v1: v2 is in beta and may change
// without v1 noticing.
package apiv2

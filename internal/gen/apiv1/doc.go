// Package apiv1 is the v1 interface's words as Go types: what its requests ask
// and what its answers hold, field for field and in the contract's order. A
// pointer is a field that may be null, or a parameter that may be absent.
//
// It has only what somebody names. All but this comment is written by
// tools/generate from contract/v1.yaml. Only the face of the same name imports
// it.
package apiv1

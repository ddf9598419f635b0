// Package mirror copies a school out of a server that speaks v1, through its
// public operations alone, into a school of this one.
//
// It owns the questions and their order. What may be kept and how is decided
// by the rules that imports go through. It must not know SQL.
package mirror

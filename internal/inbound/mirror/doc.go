// Package mirror copies a school from a server that speaks v1 into a school of this
// server, through public operations only.
//
// It owns the requests and their order. The rules for imports decide what may be saved,
// and how. It must not know SQL.
package mirror

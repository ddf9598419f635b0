// Package wire is the binder and response writer that all faces share: how a request becomes
// typed values, what a row of a face's table of operations contains and how it is made from a
// rule, and how a response is sent.
//
// It must not know any face's paths or names, and decides nothing about a school. It is
// separate from package server because server imports the faces.
package wire

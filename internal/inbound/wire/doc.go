// Package wire is the server's binder and writer, which all faces share: how a
// query string becomes typed values, what a row of a face's table of
// operations says, and how an answer is sent.
//
// It must not know any face's paths, names or error bodies, and decides
// nothing about a school. It stands apart from package server because server
// imports the faces.
package wire

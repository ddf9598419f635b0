// Package wire is the server's binder and writer, which all faces share: how a
// request becomes typed values, what a row of a face's table of operations says
// and how it is made of a rule, and how an answer is sent.
//
// It must not know any face's paths or names, and decides
// nothing about a school. It stands apart from package server because server
// imports the faces.
package wire

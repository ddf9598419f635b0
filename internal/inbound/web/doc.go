// Package web is what all pages for people share: the layout, the style, the
// headers that keep a page from being framed, read along or made to load
// foreign things, and the cookie of a session.
//
// It must not know any page, nor decide who may see one. It stands apart, as
// wire does, because packages of the inbound room do not import each other.
package web

// Package oauth lets learners in and apps act for them: the pages for signing
// in, for passwords, for consent and for the apps that have access, and the
// endpoints at which an app exchanges and gives back tokens.
//
// It owns how requests of browsers and of apps are read, and every page and
// redirect that comes of them. What may be asked, granted and exchanged,
// rules/access decides.
package oauth

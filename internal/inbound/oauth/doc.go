// Package oauth signs learners in and allows apps to act for them: the pages for sign-in,
// passwords, consent and the apps that have access, and the endpoints where apps exchange and
// revoke tokens.
//
// It owns how requests from browsers and apps are parsed, and every page and redirect that
// results. Package rules/access decides what may be requested, granted and exchanged.
package oauth

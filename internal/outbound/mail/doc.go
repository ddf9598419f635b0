// Package mail sends letters by SMTP: the links with which people set a
// password.
//
// It owns the form of a letter and the conversation with the mail server. It
// must not know what a letter is about, and neither its errors nor anything
// else it says holds a letter's text or the server's password.
package mail

// Package mail sends emails by SMTP: those that wait, from a queue that the database
// keeps, until the mail server has taken them.
//
// It owns the form of an email and the conversation with the mail server. It must not
// know what an email is about, and neither its errors nor anything else it says holds
// an email's text, its receiver or the server's password.
package mail

// Package mail sends emails by SMTP from a queue in the database, until the mail server has
// accepted them.
//
// It owns the format of emails and the conversation with the mail server. It must not know what
// an email is about. Neither its errors nor anything else it reports contain an email's text,
// its recipient or the server's password.
package mail

package main

import (
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/outbound/mail"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// mailSettings say how emails are sent; without them none are sent.
type mailSettings struct {
	SMTPURL     string `name:"smtp-url" help:"Mail server for emails to users. Without one the owner creates the links in the console." placeholder:"smtp://USER:PASSWORD@HOST:587" xor:"smtp"`
	SMTPURLFile string `name:"smtp-url-file" help:"File with that URL, to keep the password out of the process list." placeholder:"FILE" xor:"smtp"`
	MailFrom    string `help:"Sender address of emails." placeholder:"ADDRESS"`
}

// sender returns the function that sends an email, or nil without settings.
func (m *mailSettings) sender(p *program, ring *lyceum.Keyring) (templates.Send, error) {
	server := m.SMTPURL
	if m.SMTPURLFile != "" {
		var err error
		if server, err = secretFile("--smtp-url-file", m.SMTPURLFile); err != nil {
			return nil, err
		}
	}
	if server == "" {
		if m.MailFrom != "" {
			return nil, lyceum.InvalidFields(lyceum.FieldError{Field: "--mail-from", Message: "needs --smtp-url as well"})
		}
		return nil, nil //nolint:nilnil // no mail server is configured
	}
	if len(ring.Keys()) == 0 {
		return nil, lyceum.InvalidFields(lyceum.FieldError{
			Field:   "--smtp-url",
			Message: "needs a secret key, because links wait encrypted until they are sent; set one with --secret-key-file",
		})
	}
	// The clock may still become that of the database.
	sender, err := mail.New(server, m.MailFrom, func() time.Time { return p.clock() })
	if err != nil {
		return nil, err
	}
	return sender.Send, nil
}

package mail

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/url"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// patience is how long one letter may take in all.
const patience = 15 * time.Second

// Sender sends letters through one mail server. It is safe for concurrent use.
type Sender struct {
	host, port     string
	tlsFirst       bool // smtps
	user, password string
	from           *mail.Address
	clock          func() time.Time
	roots          *x509.CertPool // nil are the system's
}

// New makes a sender from an address such as smtp://user:password@host:587 or
// smtps://host:465, and the address that letters come from. With smtp:// the
// server must offer STARTTLS, unless it is on this machine.
func New(server, from string, clock func() time.Time) (*Sender, error) {
	const taken = "must be an address such as smtp://user:password@mail.example.com:587 or smtps://mail.example.com:465"
	at, err := url.Parse(server)
	if err != nil || at.Scheme != "smtp" && at.Scheme != "smtps" || at.Hostname() == "" ||
		strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.Fragment != "" {
		return nil, lyceum.InvalidFields(lyceum.FieldError{Field: "--smtp-url", Message: taken})
	}
	s := &Sender{host: at.Hostname(), port: at.Port(), tlsFirst: at.Scheme == "smtps", clock: clock}
	switch {
	case s.port != "":
	case s.tlsFirst:
		s.port = "465"
	default:
		s.port = "587"
	}
	if at.User != nil {
		s.user = at.User.Username()
		s.password, _ = at.User.Password()
	}
	if s.from, err = mail.ParseAddress(from); err != nil {
		return nil, lyceum.InvalidFields(lyceum.FieldError{
			Field:   "--mail-from",
			Message: "must be an email address such as school@example.com",
		})
	}
	return s, nil
}

// Send sends a letter and returns when the mail server has taken it.
func (s *Sender) Send(ctx context.Context, to, subject, text string) error {
	receiver, err := mail.ParseAddress(to)
	if err != nil {
		return errors.New("send mail: the recipient has no email address")
	}
	letter, err := s.write(receiver, subject, text)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client, err := s.connect(ctx)
	if err != nil {
		return fmt.Errorf("connect to the mail server %s: %w", s.host, err)
	}
	defer func() { _ = client.Close() }() // after Quit there is nothing left to close
	if err := s.hand(client, receiver, letter); err != nil {
		return fmt.Errorf("send mail by %s: %w", s.host, err)
	}
	return nil
}

// connect opens a conversation that nobody on the way can read.
func (s *Sender) connect(ctx context.Context) (*smtp.Client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(s.host, s.port))
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline) // fails for a closed connection, as does the next step
	}
	secure := &tls.Config{ServerName: s.host, RootCAs: s.roots, MinVersion: tls.VersionTLS12}
	if s.tlsFirst {
		conn = tls.Client(conn, secure)
	}
	client, err := smtp.NewClient(conn, s.host)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := s.protect(client, secure); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

func (s *Sender) protect(client *smtp.Client, secure *tls.Config) error {
	if !s.tlsFirst {
		offered, _ := client.Extension("STARTTLS")
		switch {
		case offered:
			if err := client.StartTLS(secure); err != nil {
				return err
			}
		case !loopback(s.host):
			return errors.New("it does not offer STARTTLS, and emails are not sent unencrypted")
		}
	}
	if s.user == "" {
		return nil
	}
	return client.Auth(smtp.PlainAuth("", s.user, s.password, s.host))
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s *Sender) hand(client *smtp.Client, to *mail.Address, letter []byte) error {
	if err := client.Mail(s.from.Address); err != nil {
		return err
	}
	if err := client.Rcpt(to.Address); err != nil {
		return errors.New("the recipient was refused") // the server's words may hold the address
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(letter); err != nil {
		return errors.Join(err, w.Close())
	}
	if err := w.Close(); err != nil {
		return err
	}
	return client.Quit()
}

// write puts a letter together (RFC 5322). A line break in what goes into a
// header would begin another one; there is none left.
func (s *Sender) write(to *mail.Address, subject, text string) ([]byte, error) {
	_, domain, _ := strings.Cut(s.from.Address, "@")
	var letter bytes.Buffer
	for _, header := range [][2]string{
		{"From", s.from.String()},
		{"To", (&mail.Address{Address: to.Address}).String()},
		{"Subject", mime.QEncoding.Encode("utf-8", strings.Join(strings.Fields(subject), " "))},
		{"Date", s.clock().Format(time.RFC1123Z)},
		{"Message-ID", "<" + rand.Text() + "@" + domain + ">"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
		{"Auto-Submitted", "auto-generated"},
	} {
		fmt.Fprintf(&letter, "%s: %s\r\n", header[0], header[1])
	}
	letter.WriteString("\r\n")
	body := quotedprintable.NewWriter(&letter)
	if _, err := body.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n"))); err != nil {
		return nil, err
	}
	if err := body.Close(); err != nil {
		return nil, err
	}
	return letter.Bytes(), nil
}

package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// patience is how long one email may take in total.
const patience = 15 * time.Second

// Sender sends emails through one mail server. It is safe for concurrent use.
type Sender struct {
	host, port     string
	tlsFirst       bool // smtps
	user, password string
	from           *mail.Address
	clock          func() time.Time
	roots          *x509.CertPool // nil: the system's
}

// New returns a Sender for a server URL such as smtp://user:password@host:587 or
// smtps://host:465, and the address that emails are sent from. With smtp:// the server must
// offer STARTTLS, unless it is on this machine.
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

// Send sends an email and returns once the mail server has accepted it. The error has the kind
// Invalid if the recipient's address does not exist.
func (s *Sender) Send(ctx context.Context, m templates.Message) error {
	receiver, err := mail.ParseAddress(m.To)
	if err != nil {
		return lyceum.Errorf(lyceum.Invalid, "send mail: the recipient has no email address")
	}
	letter, err := s.write(receiver, &m)
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

// connect opens an encrypted connection, unless the mail server is on this machine and does not
// offer STARTTLS.
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
		return refused(err)
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
	_ = client.Quit() // the server has accepted the email: sending it again would be wrong
	return nil
}

// refused returns why a server rejected a recipient, without the server's words, which may
// contain the address. What it says about the mailbox is permanent (RFC 3463, section 3.2).
func refused(err error) error {
	reply, is := errors.AsType[*textproto.Error](err)
	if is && reply.Code >= 500 && strings.HasPrefix(reply.Msg, "5.1.") {
		return lyceum.Errorf(lyceum.Invalid, "the recipient's mailbox does not exist")
	}
	return errors.New("the recipient was refused")
}

// write formats an email (RFC 5322). Line breaks, which would begin a new header, are removed
// from header values.
func (s *Sender) write(to *mail.Address, m *templates.Message) ([]byte, error) {
	_, domain, _ := strings.Cut(s.from.Address, "@")
	var letter bytes.Buffer
	for _, header := range [][2]string{
		{"From", s.from.String()},
		{"To", (&mail.Address{Address: to.Address}).String()},
		{"Subject", mime.QEncoding.Encode("utf-8", strings.Join(strings.Fields(m.Subject), " "))},
		{"Date", s.clock().Format(time.RFC1123Z)},
		{"Message-ID", "<" + m.ID + "@" + domain + ">"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
		{"Auto-Submitted", "auto-generated"},
	} {
		fmt.Fprintf(&letter, "%s: %s\r\n", header[0], header[1])
	}
	letter.WriteString("\r\n")
	body := quotedprintable.NewWriter(&letter)
	if _, err := body.Write([]byte(m.Text)); err != nil {
		return nil, err
	}
	if err := body.Close(); err != nil {
		return nil, err
	}
	return letter.Bytes(), nil
}

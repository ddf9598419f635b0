package mail

import (
	"bufio"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// post is a mail server that accepts one email.
type post struct {
	address  string
	roots    *x509.CertPool
	secure   *tls.Config
	offers   string // extensions in addition to those with TLS
	refuses  string // a command that it rejects
	says     string // its response to that command
	letter   chan string
	talk     chan string // the commands, sent at the end of the conversation
	tlsFirst bool
}

func open(t *testing.T, change func(*post)) *post {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	p := &post{roots: x509.NewCertPool(), letter: make(chan string, 1), talk: make(chan string, 1), offers: "STARTTLS"}
	p.roots.AddCert(certificate)
	p.secure = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	change(p)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p.address = listener.Addr().String()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if p.tlsFirst {
			conn = tls.Server(conn, p.secure)
		}
		p.converse(conn)
	}()
	return p
}

// converse speaks as much SMTP (RFC 5321) as a sender needs.
func (p *post) converse(conn net.Conn) {
	var talk strings.Builder
	defer func() { p.talk <- talk.String() }()
	read := bufio.NewReader(conn)
	say := func(line string) { fmt.Fprint(conn, line+"\r\n") }
	say("220 post")
	for {
		line, err := read.ReadString('\n')
		if err != nil {
			return
		}
		talk.WriteString(line)
		command := strings.ToUpper(strings.TrimSpace(line))
		switch {
		case p.refuses != "" && strings.HasPrefix(command, p.refuses):
			say(cmp.Or(p.says, "550 no"))
		case strings.HasPrefix(command, "EHLO"):
			if _, secured := conn.(*tls.Conn); secured {
				say("250-post\r\n250 AUTH PLAIN")
			} else {
				say("250-post\r\n250 " + p.offers)
			}
		case command == "STARTTLS":
			say("220 go on")
			conn = tls.Server(conn, p.secure)
			read = bufio.NewReader(conn)
		case command == "DATA":
			say("354 go on")
			var letter strings.Builder
			for {
				line, err := read.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				letter.WriteString(line)
			}
			p.letter <- letter.String()
			say("250 taken")
		case command == "QUIT":
			say("221 bye")
			return
		case strings.HasPrefix(command, "AUTH"):
			say("235 come in")
		default:
			say("250 ok")
		}
	}
}

func sender(t *testing.T, p *post, scheme string) *Sender {
	t.Helper()
	s, err := New(scheme+"://school:canary-password@"+p.address, "Fernwood <school@example.com>", func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) })
	if err != nil {
		t.Fatal(err)
	}
	s.roots = p.roots
	return s
}

func TestLetterArrives(t *testing.T) {
	for _, scheme := range []string{"smtp", "smtps"} {
		t.Run(scheme, func(t *testing.T) {
			p := open(t, func(p *post) { p.tlsFirst = scheme == "smtps" })
			const text = "Grüße,\n\nhttps://school.example.com/secure/1/identity/set_password/lyceum_link_1_0123456789012345678901234567890123456789\n.\nEnd\n"
			if err := sender(t, p, scheme).Send(t.Context(), templates.Message{ID: "ONE", To: "mira@example.com", Subject: "Your pässword\r\nBcc: evil@example.com", Text: text}); err != nil {
				t.Fatal(err)
			}
			letter, err := mail.ReadMessage(strings.NewReader(<-p.letter))
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{
				"From": `"Fernwood" <school@example.com>`, "To": "<mira@example.com>", "Bcc": "", "Date": "Sun, 01 Mar 2026 12:00:00 +0000",
				"Subject": "=?utf-8?q?Your_p=C3=A4ssword_Bcc:_evil@example.com?=", "Content-Type": "text/plain; charset=utf-8", "Auto-Submitted": "auto-generated",
				"Message-ID": "<ONE@example.com>",
			} {
				if got := letter.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			body, err := io.ReadAll(quotedprintable.NewReader(letter.Body))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n..\n", "\n.\n"); got != text {
				t.Errorf("the text is %q", got)
			}
			talk := <-p.talk
			if auth := base64.StdEncoding.EncodeToString([]byte("\x00school\x00canary-password")); !strings.Contains(talk, "AUTH PLAIN "+auth) {
				t.Errorf("the sender has not shown who it is: %s", talk)
			}
			if scheme == "smtp" && !strings.Contains(strings.SplitN(talk, "AUTH", 2)[0], "STARTTLS") {
				t.Errorf("the password went in the clear: %s", talk)
			}
		})
	}
}

// TestLineEnds checks that a text has the same lines when it arrives, however they end: those of a
// template that a program saved can end with \r\n.
func TestLineEnds(t *testing.T) {
	for _, text := range []string{"Hello,\n\nbye\n", "Hello,\r\n\r\nbye\r\n", "Hello,\r\n\nbye\r\n"} {
		p := open(t, func(*post) {})
		if err := sender(t, p, "smtp").Send(t.Context(), templates.Message{ID: "ONE", To: "mira@example.com", Subject: "Hello", Text: text}); err != nil {
			t.Fatal(err)
		}
		letter, err := mail.ReadMessage(strings.NewReader(<-p.letter))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(quotedprintable.NewReader(letter.Body)); err != nil || string(body) != "Hello,\r\n\r\nbye\r\n" {
			t.Errorf("%q arrives as %q, %v", text, body, err)
		}
	}
}

func TestR16_ErrorsHoldNoSecret(t *testing.T) {
	for what, change := range map[string]func(*post){
		"the password is refused":   func(p *post) { p.refuses = "AUTH" },
		"the sender is refused":     func(p *post) { p.refuses = "MAIL" },
		"the recipient was refused": func(p *post) { p.refuses = "RCPT" },
		"the letter is refused":     func(p *post) { p.refuses = "DATA" },
		"another certificate":       func(p *post) { p.roots = x509.NewCertPool() },
	} {
		t.Run(what, func(t *testing.T) {
			p := open(t, change)
			err := sender(t, p, "smtp").Send(t.Context(), templates.Message{ID: "m", To: "canary@example.com", Subject: "canary-subject", Text: "canary-text"})
			if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestWhatIsFinal checks that an email counts as sent once the server has accepted it, whatever
// the server responds to QUIT, and that only emails to unknown addresses are given up.
func TestWhatIsFinal(t *testing.T) {
	m := templates.Message{ID: "m", To: "mira@example.com", Subject: "s", Text: "t"}
	for _, tc := range []struct {
		refuses, says string
		sent          bool
		kind          lyceum.Kind
	}{
		{"QUIT", "451 later", true, 0},
		{"RCPT", "550 5.1.1 nobody <mira@example.com>", false, lyceum.Invalid},
		{"RCPT", "550 5.7.1 no relay", false, lyceum.Internal},
		{"RCPT", "450 5.1.1 later", false, lyceum.Internal},
	} {
		p := open(t, func(p *post) { p.refuses, p.says = tc.refuses, tc.says })
		err := sender(t, p, "smtp").Send(t.Context(), m)
		if tc.sent != (err == nil) || err != nil && lyceum.KindOf(err) != tc.kind {
			t.Errorf("%s: %v", tc.says, err)
		}
	}
}

func TestNothingIsSentInTheClear(t *testing.T) {
	s, err := New("smtp://mail.example.com", "school@example.com", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if loopback(s.host) || !loopback("localhost") || !loopback("::1") || loopback("127.0.0.1.example.com") {
		t.Error("what is on this machine is not known")
	}
	p := open(t, func(p *post) { p.offers = "SIZE" })
	near := sender(t, p, "smtp")
	near.user = ""
	if err := near.Send(t.Context(), templates.Message{To: "mira@example.com", Subject: "s", Text: "t"}); err != nil {
		t.Error("a server on this machine:", err)
	}
}

func TestBadSettings(t *testing.T) {
	for _, tc := range []struct{ server, from, flag string }{
		{"", "a@example.com", "--smtp-url"},
		{"mail.example.com:587", "a@example.com", "--smtp-url"},
		{"http://mail.example.com", "a@example.com", "--smtp-url"},
		{"smtp://", "a@example.com", "--smtp-url"},
		{"smtp://user:canary@mail.example.com/path", "a@example.com", "--smtp-url"},
		{"smtp://user:can%ary@mail.example.com", "a@example.com", "--smtp-url"},
		{"smtps://mail.example.com", "", "--mail-from"},
		{"smtps://mail.example.com", "school", "--mail-from"},
	} {
		_, err := New(tc.server, tc.from, time.Now)
		e := lyceum.Public(err)
		if err == nil || e.Kind != lyceum.Invalid || len(e.Fields) != 1 || e.Fields[0].Field != tc.flag || strings.Contains(e.Error(), "canary") {
			t.Errorf("%q from %q: %v", tc.server, tc.from, err)
		}
	}
	s, err := New("smtps://mail.example.com", "a@example.com", time.Now)
	if err != nil || s.port != "465" {
		t.Error(s, err)
	}
	if err := s.Send(t.Context(), templates.Message{To: "no address", Subject: "s", Text: "t"}); err == nil {
		t.Error("a receiver that is none is taken")
	}
}

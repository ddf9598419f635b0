package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
)

func wantKind(t testing.TB, err error, want lyceum.Kind, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %v", want)
	}
	if got := lyceum.KindOf(err); got != want {
		t.Errorf("%v error %q, want %v", got, err, want)
	}
	for _, part := range parts {
		if detail := lyceum.Public(err).Detail; !strings.Contains(detail, part) {
			t.Errorf("the sentence %q does not say %q", detail, part)
		}
	}
}

func TestListen(t *testing.T) {
	first, err := server.Listen(t.Context(), "--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	address := first.Addr().String()
	_, err = server.Listen(t.Context(), "--metrics-addr", address)
	wantKind(t, err, lyceum.Unavailable, address, "is in use", "with --metrics-addr ")
	for _, address := range []string{"nonsense", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:-1", "127.0.0.1:80:80", "[::1", "192.0.2.1:8080"} {
		_, err := server.Listen(t.Context(), "--addr", address)
		wantKind(t, err, lyceum.Invalid, address, "--addr", "127.0.0.1:8080")
	}
}

// network is an in-memory network, whose connections use the clock of a test's bubble.
type network struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newNetwork() *network {
	return &network{dialled: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.dialled:
		return conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (n *network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr implements net.Listener.
func (n *network) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }

func (n *network) dial(t *testing.T) net.Conn {
	t.Helper()
	client, served := net.Pipe()
	select {
	case n.dialled <- served:
	case <-n.closed:
		t.Fatal("nobody listens any more")
	}
	return client
}

// serving runs a server in the bubble and returns a function that ends it and a channel with
// its result.
func serving(t *testing.T, n *network, handler http.Handler, log io.Writer) (stop func(), served chan error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	served = make(chan error, 1)
	go func() {
		served <- server.Serve(ctx, n, handler, nil, slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	}()
	return stop, served
}

func TestStopLetsARequestFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		received, finish := make(chan struct{}), make(chan struct{})
		var log logbook
		stop, served := serving(t, n, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(received)
			<-finish
			if err := r.Context().Err(); err != nil {
				t.Errorf("the request was cancelled: %v", err)
			}
			_, _ = io.WriteString(w, "finished")
		}), &log)
		conn := n.dial(t)
		defer conn.Close()
		write(t, conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		<-received
		stop()
		<-n.closed // no new connection is accepted
		<-time.After(9 * time.Second)
		select {
		case err := <-served:
			t.Fatalf("stopped before the request was answered: %v", err)
		default:
		}
		close(finish)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(response.Body); err != nil || string(text) != "finished" {
			t.Errorf("answered %q, %v", text, err)
		}
		if err := <-served; err != nil {
			t.Errorf("stopped with %v", err)
		}
		if strings.Contains(log.String(), "cut off") {
			t.Errorf("log: %s", &log)
		}
	})
}

func TestStopDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		received, ended := make(chan struct{}), make(chan struct{})
		var log logbook
		stop, served := serving(t, n, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(received)
			<-r.Context().Done()
			close(ended)
		}), &log)
		conn := n.dial(t)
		defer conn.Close()
		write(t, conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		<-received
		begin := time.Now()
		stop()
		if err := <-served; err != nil {
			t.Errorf("stopped with %v", err)
		}
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("stopped after %v", took)
		}
		<-ended
		if !strings.Contains(log.String(), "requests were cut off") {
			t.Errorf("log: %s", &log)
		}
	})
}

func write(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// TestR6SlowClientsAreCutOff checks the limits of section 4 of security.md, with a fake clock.
func TestR6SlowClientsAreCutOff(t *testing.T) {
	const rawRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	var writers *sync.WaitGroup // of the bubble
	for _, tc := range []struct {
		name   string
		client func(*testing.T, net.Conn)
		want   time.Duration
	}{
		{"sends nothing", func(*testing.T, net.Conn) {}, 5 * time.Second},
		{"sends half a header", func(t *testing.T, conn net.Conn) { t.Helper(); write(t, conn, rawRequest[:20]) }, 5 * time.Second},
		{"sends a byte a second", func(_ *testing.T, conn net.Conn) {
			writers.Go(func() {
				for _, c := range []byte(rawRequest) {
					if _, err := conn.Write([]byte{c}); err != nil {
						return // disconnected
					}
					<-time.After(time.Second)
				}
			})
		}, 5 * time.Second},
		{"sends half a body", func(t *testing.T, conn net.Conn) {
			t.Helper()
			write(t, conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf of it")
		}, 15 * time.Second},
		{"asks nothing more", func(t *testing.T, conn net.Conn) {
			t.Helper()
			write(t, conn, rawRequest)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
		}, 60 * time.Second},
		{"does not read the answer", func(t *testing.T, conn net.Conn) {
			t.Helper()
			write(t, conn, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
			<-time.After(time.Minute)
		}, 30 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork()
				cut := make(chan time.Time, 1)
				begin := time.Now()
				stop, served := serving(t, n, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/large" {
						if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err == nil {
							t.Error("all was read")
						}
						cut <- time.Now()
						return
					}
					if _, err := io.ReadAll(r.Body); err != nil {
						cut <- time.Now()
					}
				}), io.Discard)
				conn := n.dial(t)
				writers = new(sync.WaitGroup)
				tc.client(t, conn)
				_, _ = io.ReadAll(conn) // until the server closes the connection
				end := time.Now()
				select {
				case end = <-cut:
				default:
				}
				if took := end.Sub(begin); took != tc.want {
					t.Errorf("cut off after %v, want %v", took, tc.want)
				}
				conn.Close()
				writers.Wait()
				stop()
				if err := <-served; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestHeadersAreBounded(t *testing.T) {
	s := newSite(t)
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		stop, served := serving(t, n, s, io.Discard)
		for size, want := range map[int]int{16 << 10: http.StatusNotFound, 16<<10 + 1: http.StatusRequestHeaderFieldsTooLarge} {
			conn := n.dial(t)
			const begin, end = "GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: ", "\r\n\r\n"
			go func() {
				_, _ = io.WriteString(conn, begin+strings.Repeat("x", size-len(begin+end))+end)
			}()
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != want {
				t.Errorf("%d bytes: %s, want %d", size, response.Status, want)
			}
			conn.Close()
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

func TestServeOnAListenerThatIsClosed(t *testing.T) {
	n := newNetwork()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	err := server.Serve(t.Context(), n, http.NotFoundHandler(), nil, slog.New(slog.DiscardHandler))
	if err == nil || !strings.HasPrefix(err.Error(), "serve: ") {
		t.Errorf("error %v", err)
	}
}

// certificate creates a certificate for 127.0.0.1 and its key, as PEM files.
func certificate(t *testing.T, name string) (certFile, keyFile string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	save := func(file, kind string, block []byte) string {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: block}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return save(name+".pem", "CERTIFICATE", der), save(name+".key", "PRIVATE KEY", secret), roots
}

func TestLoadTLS(t *testing.T) {
	if config, err := server.LoadTLS("", ""); config != nil || err != nil {
		t.Errorf("without files: %v, %v", config, err)
	}
	certFile, keyFile, _ := certificate(t, "one")
	_, other, _ := certificate(t, "other")
	garbage := filepath.Join(t.TempDir(), "garbage.pem")
	if err := os.WriteFile(garbage, []byte("-----BEGIN CERTIFICATE-----\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing.pem")
	for name, files := range map[string][2]string{
		"a certificate alone": {certFile, ""}, "a key alone": {"", keyFile}, "another's key": {certFile, other}, "the wrong way round": {keyFile, certFile},
		"no such certificate": {missing, keyFile}, "no such key": {certFile, missing}, "no certificate": {garbage, keyFile}, "no key": {certFile, garbage},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := server.LoadTLS(files[0], files[1])
			wantKind(t, err, lyceum.Invalid, "--tls-cert", "--tls-key")
			if config != nil {
				t.Error("there is a configuration nevertheless")
			}
		})
	}
}

func TestTLS(t *testing.T) {
	s := newSite(t, func(_ *site, o *server.Options) { o.HTTPS = true })
	certFile, keyFile, roots := certificate(t, "lyceum")
	secure, err := server.LoadTLS(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := server.Listen(t.Context(), "--addr", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener, s, secure, s.options.Log) }()
	address := "https://" + listener.Addr().String() + "/v1/transactions"
	send := func(method string, config *tls.Config) (*http.Response, string, error) {
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header["apiKey"] = []string{s.key}
		response, err := (&http.Client{Transport: transport}).Do(r)
		if err != nil {
			return nil, "", err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		return response, string(text), err
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		response, text, err := send(http.MethodGet, &tls.Config{RootCAs: roots, MinVersion: version, MaxVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 || response.TLS.Version != version || !strings.Contains(text, `"total":30`) {
			t.Errorf("%s %s over %s: %s", response.Proto, response.Status, tls.VersionName(response.TLS.Version), text)
		}
		if hsts := response.Header.Get("Strict-Transport-Security"); hsts == "" {
			t.Error("https is not to be remembered")
		}
	}
	head, nothing, err := send(http.MethodHead, &tls.Config{RootCAs: roots})
	if err != nil || head.StatusCode != http.StatusOK || nothing != "" || head.ContentLength <= 0 {
		t.Errorf("HEAD: %v, %v with %q", head, err, nothing)
	}
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}}
	if conn, err := dialer.DialContext(t.Context(), "tcp", listener.Addr().String()); err == nil {
		conn.Close()
		t.Error("TLS 1.1 is spoken")
	}
	if _, _, err := send(http.MethodGet, &tls.Config{}); err == nil {
		t.Error("a certificate that nobody vouches for is taken: this test sees nothing")
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

package webhook

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lyceum-school/lyceum"
)

// inside is a service of this machine, on all of its addresses, that nobody outside may reach.
type inside struct {
	port     string
	accepted atomic.Int64
}

func openInside(t *testing.T) *inside {
	t.Helper()
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return serveInside(listener)
}

func serveInside(listener net.Listener) *inside {
	in := &inside{port: strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			in.accepted.Add(1)
			go func() {
				defer conn.Close()
				if takeRequest(bufio.NewReader(conn)) != "" {
					io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\ninside")
				}
			}()
		}
	}()
	return in
}

// proxy is set for all tests, because net/http reads the proxy settings only once.
var proxy *inside

func TestMain(m *testing.M) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	proxy = serveInside(listener)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		os.Setenv(name, "http://127.0.0.1:"+proxy.port)
	}
	os.Unsetenv("NO_PROXY")
	os.Unsetenv("no_proxy")
	os.Exit(m.Run())
}

// visits returns the number of connections so far. Connections are accepted in order, so when
// one of our own has been answered, all before it are counted.
func (in *inside) visits(t *testing.T) int64 {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+in.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "no request\r\n\r\n")
	io.Copy(io.Discard, conn)
	return in.accepted.Add(-1)
}

// names is a DNS server (RFC 1035) that responds to queries for IPv4 addresses with the results
// of resolve; n counts them from 1.
func names(t *testing.T, resolve func(n int) []string) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		queries := 0
		query := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(query)
			if err != nil {
				return
			}
			end := 12
			for end < n && query[end] != 0 {
				end += int(query[end]) + 1
			}
			if end += 5; end > n {
				continue
			}
			var found []string
			if binary.BigEndian.Uint16(query[end-4:]) == 1 { // A
				queries++
				found = resolve(queries)
			}
			server.WriteTo(reply(query[:end], found), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func reply(query []byte, addresses []string) []byte {
	message := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, byte(len(addresses)), 0, 0, 0, 0}, query[12:]...)
	for _, address := range addresses {
		message = append(message, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4) // the name queried, A, IN, TTL 0
		message = append(message, netip.MustParseAddr(address).AsSlice()...)
	}
	return message
}

// hostsInside are ways to write hosts that must not be reached. Those that net/http treats as
// names resolve to 127.0.0.1 in the tests' DNS.
var hostsInside = []string{
	// This machine in IPv4.
	"127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254", "127.1", "127.0.1", "127", "0x7f.1", "0x7f.0.0.1", "0x7f000001", "0X7F000001",
	"2130706433", "017700000001", "0177.0.0.1", "0177.1", "127.0.0.01", "127.0.0.1.", "127.0x0.0.1", "0.0.0.0", "0", "0.0.0.1", "00000177.1",
	// This machine in IPv6, and IPv4 within IPv6.
	"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:127.0.0.1]",
	"[::ffff:0.0.0.0]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[::127.0.0.1]", "[::7f00:1]", "[::ffff:0:127.0.0.1]",
	"[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:7f00:1::1]", "[2002:a00:1::1]",
	"[2001:0:0:0:0:0:80ff:fffe]", "[2001::1]", "[2001:10::1]", "[100::1]", "[2001:db8::1]", "[3fff::1]", "[5f00::1]",
	// Link-local, zoned, site-local and multicast addresses.
	"[fe80::1]", "[fe80::1%25lo]", "[fe80::1%25eth0]", "[::1%25lo]", "[2606:4700::1111%25lo]", "[fec0::1]", "[fc00::1]", "[fd00::1]", "[fd00:ec2::254]", "[ff02::1]", "[ff05::2]",
	"169.254.0.1", "169.254.169.254", "169.254.170.2", "169.254.169.254.", "0xa9fea9fe", "2852039166", "[::ffff:a9fe:a9fe]",
	// Private, shared and reserved addresses.
	"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255",
	"192.0.0.1", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "192.88.99.1", "168.63.129.16",
	"224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "10.1", "0xa000001", "3232235521",
	// Names.
	"localhost", "localhost.", "LOCALHOST", "a.localhost", "localhost.localdomain", "ip6-localhost", "metadata", "metadata.google.internal", "metadata.google.internal.",
	"instance-data", "instance-data.ec2.internal", "kubernetes.default.svc", "127.0.0.1.nip.example", "receiver.example.com", "xn--lcalhost-54a.example",
	// Dots and digits of other scripts.
	"127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "１２７.0.0.1", "①②⑦.⓪.⓪.①", "１２７。０。０。１", "ｌｏｃａｌｈｏｓｔ", "locaⓛhost", "[::１]", "٠.٠.٠.٠",
}

// formsInside are additional whole URLs.
var formsInside = []string{
	"https://receiver.example.com@127.0.0.1:PORT/", "https://127.0.0.1:PORT@127.0.0.1:PORT/", "https://user:password@localhost:PORT/", "https://@127.0.0.1:PORT/",
	"https://127.0.0.1:PORT\\@receiver.example.com/", "https://receiver.example.com\\@127.0.0.1:PORT/", "https://receiver.example.com:443@127.0.0.1:PORT/",
	"https://127.0.0.1:PORT#@receiver.example.com/", "https://receiver.example.com#@127.0.0.1:PORT/", "https://127.0.0.1:PORT?@receiver.example.com/",
	"https:127.0.0.1:PORT", "https:/127.0.0.1:PORT/", "https:///127.0.0.1:PORT/", "https:\\\\127.0.0.1:PORT/", "//127.0.0.1:PORT/", "127.0.0.1:PORT", "HTTPS://127.0.0.1:PORT/",
	"https://127.0.0.1:PORT:443/", "https://127.0.0.1:0PORT/", "https://127.0.0.1:+PORT/", "https://127.0.0.1:/", "https://127.0.0.1:0/", "https://127.0.0.1:65536/",
	"https://127.0.0.1:22/", "https://127.0.0.1:25/", "https://127.0.0.1:5432/", "https://127.0.0.1:6379/", "https://127.0.0.1:80/", "https://127.0.0.1/", "https://10.0.0.1:8080/",
	"https://127.0.0.1:PORT /", " https://127.0.0.1:PORT/", "https://127.0.0.1:PORT/\r\nHost: a", "https://127.0.0.1%2e:PORT/", "https://%31%32%37.0.0.1:PORT/", "https://127.0.0.1%00.example.com:PORT/",
	"https://127.0.0.1\t:PORT/", "https://[127.0.0.1]:PORT/", "https://::1:PORT/", "https://[::1/", "https://[::1]PORT/", "https://[v1.127]:PORT/",
	"ftp://127.0.0.1:PORT/", "gopher://127.0.0.1:PORT/_", "file:///etc/passwd", "unix:///run/docker.sock", "ws://127.0.0.1:PORT/", "data:,a", "https://", "", "\x00", "\xff\xfe",
}

// allForms returns every form of a URL for an internal service, with https and http.
func allForms(t *testing.T, port string) []string {
	t.Helper()
	hosts := hostsInside
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, network := range own {
		if ip := network.(*net.IPNet).IP; ip.To4() != nil && ip.IsPrivate() {
			hosts = append(hosts, ip.String())
		}
	}
	forms := []string{}
	for _, host := range hosts {
		forms = append(forms, "https://"+host+":"+port+"/hook", "http://"+host+":"+port+"/hook", "https://"+host+"/")
	}
	for _, form := range formsInside {
		form = strings.ReplaceAll(form, "PORT", port)
		forms = append(forms, form)
		if rest, found := strings.CutPrefix(form, "https:"); found {
			forms = append(forms, "http:"+rest)
		}
	}
	return forms
}

func allInside(int) []string { return []string{"127.0.0.1"} }

func message(url string) Message {
	return Message{URL: url, ID: "evt_1", At: time.Now(), Body: []byte(`{"a":1}`), Secrets: [][]byte{newSecret}}
}

// sameAsRefused fails unless an outcome looks like that of any unreachable receiver.
func sameAsRefused(t *testing.T, form string, out Outcome) {
	t.Helper()
	if out.Delivered || out.Status != 0 || out.Problem != "The receiver could not be reached." || out.RetryAfter != 0 || out.ResponseHeader != nil || out.ResponseBody != nil {
		t.Errorf("%q: %+v", form, out)
	}
}

func TestR10_NothingInsideIsReached(t *testing.T) {
	in := openInside(t)
	s := New(Options{Resolver: names(t, allInside)})
	forms := allForms(t, in.port)
	t.Logf("%d forms", len(forms))
	for _, form := range forms {
		sameAsRefused(t, form, s.Send(t.Context(), message(form)))
	}
	if n := in.visits(t); n != 0 {
		t.Errorf("%d connections came in", n)
	}
}

// TestR10_TheGuardNeedsNoOtherCheck dials what CheckURL would reject.
func TestR10_TheGuardNeedsNoOtherCheck(t *testing.T) {
	in := openInside(t)
	s := New(Options{Resolver: names(t, allInside)})
	for _, form := range allForms(t, in.port) {
		sameAsRefused(t, form, s.tryUnchecked(t, form))
	}
	if n := in.visits(t); n != 0 {
		t.Errorf("%d connections came in", n)
	}
	// The same forms reach the service if it is allowed; otherwise they would prove nothing.
	open := New(Options{Resolver: names(t, allInside), Allow: prefixes("0.0.0.0/0", "::/0")})
	for _, host := range []string{"127.0.0.1", "127.1.2.3", "0x7f.1", "0x7f000001", "[::ffff:127.0.0.1]", "0.0.0.0", "localhost.", "127。0。0。1", "metadata.google.internal"} {
		if out := open.tryUnchecked(t, "http://"+host+":"+in.port+"/"); string(out.ResponseBody) != "inside" {
			t.Errorf("%s is not reached with everything allowed: %+v", host, out)
		}
	}
}

func (s *Sender) tryUnchecked(t *testing.T, url string) Outcome {
	t.Helper()
	m := message(url)
	out := Outcome{RequestHeader: header(m)}
	s.try(t.Context(), m, &out)
	return out
}

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func TestR10_FormsAreRefusedWhenTheyAreSet(t *testing.T) {
	s := New(Options{})
	for _, form := range allForms(t, "8443") {
		u, err := url.Parse(form)
		if err == nil && isName(u.Hostname()) && !isLocalhost(u.Hostname()) && u.Scheme == "https" && u.User == nil && u.Fragment == "" && u.Opaque == "" {
			continue // a name; what it resolves to is only known when it is dialed
		}
		e := lyceum.Public(s.CheckURL(form))
		if e.Kind != lyceum.Invalid || len(e.Fields) != 1 || e.Fields[0].Field != "url" || !strings.HasPrefix(e.Fields[0].Message, "must ") {
			t.Errorf("%q: %v", form, e)
		}
	}
}

// TestR10_Rebinding has a name resolve to a public address when it is checked and to this
// machine when it is dialed.
func TestR10_Rebinding(t *testing.T) {
	in := openInside(t)
	resolver := names(t, func(n int) []string {
		if n == 1 {
			return []string{"93.184.215.14"}
		}
		return []string{"127.0.0.1"}
	})
	first, err := resolver.LookupNetIP(t.Context(), "ip4", "rebind.example.com")
	if err != nil || len(first) != 1 || first[0] != netip.MustParseAddr("93.184.215.14") {
		t.Fatal(first, err)
	}
	s := New(Options{Resolver: resolver})
	for range 3 {
		sameAsRefused(t, "rebind", s.Send(t.Context(), message("https://rebind.example.com:"+in.port+"/")))
	}
	if n := in.visits(t); n != 0 {
		t.Errorf("%d connections came in", n)
	}
}

// TestR10_RebindingAfterADelivery has the name resolve to a reachable receiver first, and then
// to this machine, on the same port.
func TestR10_RebindingAfterADelivery(t *testing.T) {
	var port string
	var listener net.Listener
	for try := 0; listener == nil; try++ { // a port that is free at both addresses
		receiver := at(t, "127.0.0.2:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		_, port, _ = net.SplitHostPort(receiver.Listener.Addr().String())
		var err error
		if listener, err = net.Listen("tcp", "127.0.0.1:"+port); err != nil && try == 20 {
			t.Fatal(err)
		}
	}
	reached := make(chan struct{}, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				close(reached)
				return
			}
			reached <- struct{}{}
			conn.Close()
		}
	}()
	for _, later := range [][]string{{"127.0.0.1"}, {"10.0.0.1", "127.0.0.1"}, {"169.254.169.254"}} {
		s := New(Options{Allow: prefixes("127.0.0.2/32"), Resolver: names(t, func(n int) []string {
			if n == 1 {
				return []string{"127.0.0.2"}
			}
			return later
		})})
		if out := s.Send(t.Context(), message("http://rebind.example.com:"+port+"/")); !out.Delivered {
			t.Fatalf("the receiver is not reached: %+v", out)
		}
		s.plain.CloseIdleConnections()
		sameAsRefused(t, fmt.Sprint(later), s.Send(t.Context(), message("http://rebind.example.com:"+port+"/")))
	}
	own, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	<-reached
	own.Close()
	listener.Close()
	if _, more := <-reached; more {
		t.Error("a connection came in besides our own")
	}
}

// at serves at an address of this machine.
func at(t *testing.T, address string, handler http.Handler) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// TestR10_RedirectsAreNotFollowed checks that redirects are not followed, not even to targets
// that the guard would permit.
func TestR10_RedirectsAreNotFollowed(t *testing.T) {
	in := openInside(t)
	for _, status := range []int{300, 301, 302, 303, 305, 307, 308} {
		for _, target := range []string{"http://127.0.0.1:" + in.port + "/", "//127.0.0.1:" + in.port, "https://localhost:" + in.port, "http://[::1]:" + in.port} {
			receiver := at(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", target)
				w.Header().Set("Refresh", "0; url="+target)
				w.WriteHeader(status)
			}))
			out := New(Options{Loopback: true}).Send(t.Context(), message(receiver.URL))
			if out.Delivered || out.Status != status || out.Problem != "" || out.ResponseHeader.Get("Location") != target {
				t.Errorf("%d: %+v", status, out)
			}
		}
	}
	if n := in.visits(t); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// TestR10_NoProxy sets a proxy that the guard would permit.
func TestR10_NoProxy(t *testing.T) {
	s := New(Options{Loopback: true, Allow: prefixes("127.0.0.0/8"), Resolver: names(t, func(int) []string { return nil })})
	for _, form := range []string{"https://receiver.example.com/", "http://receiver.example.com/", "https://receiver.example.com:8443/"} {
		if err := s.CheckURL(form); err != nil {
			t.Error(err)
		}
		sameAsRefused(t, form, s.Send(t.Context(), message(form)))
	}
	if n := proxy.visits(t); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

// TestR10_WhyItFailedDoesNotShow checks that all failures before a connection look alike.
func TestR10_WhyItFailedDoesNotShow(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and never sends anything
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	s := New(Options{Loopback: true, Timeout: 200 * time.Millisecond, Resolver: names(t, func(int) []string { return nil })})
	for _, form := range []string{
		"http://127.0.0.1:1", "https://127.0.0.1:1", "https://[::1]:1", // refused by the system
		"https://nowhere.example.com", "https://" + mute.Addr().String(), // no address; no TLS
		"https://10.0.0.1", "https://192.168.0.1:22", "http://10.0.0.1", "ftp://a", "", // rejected by the guard
	} {
		sameAsRefused(t, form, s.Send(t.Context(), message(form)))
	}
}

func TestR10_AllowListLetsThroughWhatItNames(t *testing.T) {
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	second, third := at(t, "127.0.0.2:0", handler), at(t, "127.0.0.3:0", handler)
	_, secondPort, _ := net.SplitHostPort(second.Listener.Addr().String())
	for _, allow := range []string{"127.0.0.2/32", "::ffff:127.0.0.2/128"} {
		s := New(Options{Allow: prefixes(allow), Resolver: names(t, func(int) []string { return []string{"127.0.0.2"} })})
		for _, form := range []string{second.URL, "http://[::ffff:127.0.0.2]:" + secondPort, "http://receiver.internal:" + secondPort} {
			if err := s.CheckURL(form); err != nil {
				t.Error(err)
			}
			if out := s.Send(t.Context(), message(form)); !out.Delivered {
				t.Errorf("%s with %s: %+v", form, allow, out)
			}
		}
		for _, form := range []string{third.URL, "http://127.0.0.1:" + secondPort, "http://localhost:" + secondPort} {
			sameAsRefused(t, form, s.Send(t.Context(), message(form)))
		}
	}
}

func TestR10_LoopbackIsThisMachineAlone(t *testing.T) {
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	receiver := at(t, "127.0.0.1:0", handler)
	_, port, _ := net.SplitHostPort(receiver.Listener.Addr().String())
	s := New(Options{Loopback: true})
	for _, form := range []string{receiver.URL, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port} {
		if err := s.CheckURL(form); err != nil {
			t.Error(err)
		}
		if out := s.Send(t.Context(), message(form)); !out.Delivered {
			t.Errorf("%s: %+v", form, out)
		}
	}
	for _, form := range []string{"http://10.0.0.1", "https://10.0.0.1", "https://172.16.0.1", "https://192.168.0.1", "https://169.254.169.254", "https://0.0.0.0", "https://[::]", "https://[fd00::1]", "http://example.com", "http://8.8.8.8"} {
		if s.CheckURL(form) == nil {
			t.Error(form, "is taken")
		}
		sameAsRefused(t, form, s.Send(t.Context(), message(form)))
	}
}

func TestR10_NothingGoesToTheInternetInTheClear(t *testing.T) {
	s := New(Options{Allow: prefixes("10.1.0.0/16")})
	for _, address := range []string{"93.184.215.14:80", "[2606:4700::1111]:80", "10.2.0.1:80"} {
		_, err := s.plain.DialContext(t.Context(), "tcp", address)
		if _, refused := errors.AsType[*net.AddrError](err); !refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestSendHoldsToCheckURL(t *testing.T) {
	in := openInside(t)
	s := New(Options{Loopback: true, Resolver: names(t, allInside)})
	for _, form := range []string{
		"http://user:password@127.0.0.1:" + in.port, "http://127.0.0.1:" + in.port + "/#a", "http://127.0.0.1:" + in.port + "/" + strings.Repeat("a", 2000),
		"http://receiver.example.com:" + in.port, "http://127。0。0。1:" + in.port,
	} {
		sameAsRefused(t, form, s.Send(t.Context(), message(form)))
		if out := s.tryUnchecked(t, form); !out.Delivered {
			t.Errorf("%q would not be reached anyway: %+v", form, out)
		}
	}
	if n := in.visits(t); n != 5 {
		t.Errorf("%d connections came in, 5 of them wanted", n)
	}
}

func TestGuardPasses(t *testing.T) {
	for _, tc := range []struct {
		options             Options
		address             string
		secure, plain, pass bool
	}{
		{Options{}, "8.8.8.8:443", true, false, true},
		{Options{}, "8.8.8.8:8443", true, false, true},
		{Options{}, "[2606:4700::1111]:443", true, false, true},
		{Options{}, "127.0.0.1:443", false, false, false},
		{Options{Loopback: true}, "127.0.0.1:80", true, true, true},
		{Options{Loopback: true}, "127.9.9.9:80", true, true, true},
		{Options{Loopback: true}, "[::1]:80", true, true, true},
		{Options{Loopback: true}, "[::2]:80", false, false, false},
		{Options{Loopback: true}, "128.0.0.1:80", true, false, true},
		{Options{Loopback: true}, "126.255.255.255:80", true, false, true},
		{Options{Loopback: true}, "10.0.0.1:80", false, false, false},
		{Options{Loopback: true}, "168.63.129.16:80", false, false, false},
		{Options{Allow: prefixes("168.63.129.16/32")}, "168.63.129.16:80", true, true, true},
		{Options{Allow: prefixes("10.1.0.0/16")}, "10.1.255.255:80", true, true, true},
		{Options{Allow: prefixes("10.1.0.0/16")}, "10.2.0.0:80", false, false, false},
		{Options{Allow: prefixes("10.1.2.3/16")}, "10.1.255.255:80", true, true, true},
		{Options{Allow: prefixes("::ffff:10.1.0.0/112")}, "10.1.255.255:80", true, true, true},
		{Options{Allow: prefixes("::ffff:10.1.0.0/112")}, "10.2.0.0:80", false, false, false},
		{Options{Allow: prefixes("fd00:1::/32")}, "[fd00:1::5]:80", true, true, true},
		{Options{Allow: prefixes("fd00:1::/32")}, "[fd00:2::5]:80", false, false, false},
		{Options{Allow: prefixes("fd00:1::/32")}, "[fd00:1::5%lo]:80", false, false, false},
		{Options{Allow: prefixes("::/0")}, "10.0.0.1:80", false, false, false},
		{Options{Allow: prefixes("0.0.0.0/0")}, "[::1]:80", false, false, false},
		{Options{Allow: []netip.Prefix{{}}}, "10.0.0.1:80", false, false, false},
	} {
		g := newGuard(tc.options)
		network := "tcp4"
		if tc.address[0] == '[' {
			network = "tcp6"
		}
		if got := g.dialSecure(network, tc.address, nil) == nil; got != tc.secure {
			t.Errorf("%+v: https to %s is %v", tc.options, tc.address, got)
		}
		if got := g.dialPlain(network, tc.address, nil) == nil; got != tc.plain {
			t.Errorf("%+v: http to %s is %v", tc.options, tc.address, got)
		}
		if got := g.passes(netip.MustParseAddrPort(tc.address).Addr()); got != tc.pass {
			t.Errorf("%+v: %s passes: %v", tc.options, tc.address, got)
		}
	}
}

package main

import (
	"fmt"
	"net"
	"syscall"
	"testing"
)

// TestSecondSignal checks that a second signal ends a server at once, although a request is still in
// progress, for which it would wait.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := openShop(t, t.TempDir())
			s.serve(t)
			request, err := net.Dial("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer request.Close()
			_, err = fmt.Fprintf(request, "POST /v1/users HTTP/1.1\r\nHost: %s\r\napiKey: %s\r\n"+
				"Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n", s.addr, s.key)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := request.Read(make([]byte, 100)); err != nil || n == 0 { // 100 Continue: it waits for the body
				t.Fatal(n, err)
			}
			if err := s.server.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if !await(func() bool { // no longer accepts connections
				another, err := net.Dial("tcp", s.addr)
				if err == nil {
					another.Close()
				}
				return err != nil
			}) {
				t.Fatal("the first signal does not stop the server")
			}
			if status, err := s.server.signal(signal); status != -1 || err != nil {
				t.Errorf("after the second signal: exit status %d, %v; want that the signal ended it", status, err)
			}
		})
	}
}

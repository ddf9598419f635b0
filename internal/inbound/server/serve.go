package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The limits of a connection: slower clients are disconnected.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = 30 * time.Second
	// responseTimeout is how long a response may take to make. It leaves time to report that it
	// took too long.
	responseTimeout = writeTimeout - 5*time.Second
	idleTimeout     = 60 * time.Second
	// maxHeader is the limit for HTTP/2; for HTTP/1, net/http reads 4 KiB more.
	maxHeader = 12 << 10
	// stopTimeout is how long requests in progress may take when the server stops.
	stopTimeout = 10 * time.Second
)

// Listen opens the address that a flag specified. Port 0 picks a free port.
func Listen(ctx context.Context, flag, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &lyceum.Error{
			Kind: lyceum.Unavailable,
			Detail: "the address " + address + " is in use by another program; stop it, or choose another address with " +
				flag + " (port 0 picks a free port)",
			Err: err,
		}
	case errors.Is(err, syscall.EACCES):
		return nil, &lyceum.Error{
			Kind:   lyceum.Unavailable,
			Detail: "this user is not allowed to listen on " + address + "; choose a port above 1023 with " + flag, Err: err,
		}
	case err != nil:
		return nil, &lyceum.Error{
			Kind:   lyceum.Invalid,
			Detail: "the server cannot listen on " + address + "; " + flag + " must be host:port, such as 127.0.0.1:8080",
			Err:    err,
		}
	}
	return listener, nil
}

// LoadTLS reads a certificate and its key from files.
func LoadTLS(certFile, keyFile string) (*tls.Config, error) {
	if certFile == "" && keyFile == "" {
		return nil, nil //nolint:nilnil // no files: no TLS
	}
	if certFile == "" || keyFile == "" {
		return nil, lyceum.Invalidf("--tls-cert and --tls-key must be set together")
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, &lyceum.Error{
			Kind: lyceum.Invalid,
			Detail: "the TLS certificate and key cannot be read; --tls-cert and --tls-key must be PEM files that " +
				"belong together",
			Err: err,
		}
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// Serve serves requests on a listener until the context ends, and then waits for those in
// progress to finish.
func Serve(
	ctx context.Context,
	listener net.Listener,
	handler http.Handler,
	secure *tls.Config,
	log *slog.Logger,
) error {
	server := &http.Server{
		Handler:           handler,
		TLSConfig:         secure,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if connections, ok := listener.(*Connections); ok {
		server.ConnState = connections.note
	}
	failed := make(chan error, 1)
	go func() {
		if secure != nil {
			failed <- server.ServeTLS(listener, "", "")
		} else {
			failed <- server.Serve(listener)
		}
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		log.WarnContext(last, "requests were cut off", "after", stopTimeout)
		return server.Close()
	}
	return nil
}

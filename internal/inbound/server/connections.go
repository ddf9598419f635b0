package server

import (
	"container/list"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Connections is a listener that limits how many of its connections are open at the same time.
// At the limit, a new connection replaces the one that has been idle longest. If none is idle,
// it waits for one to end or become idle, and those behind it wait in the operating system's
// queue. Only Serve reports which connections are idle.
type Connections struct {
	net.Listener

	most int
	log  *slog.Logger

	room   chan struct{} // signals that a connection ended or became idle; holds one signal
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex
	open   int
	full   int64
	warned time.Time
	idle   list.List // of *connection, longest idle first
}

// LimitConnections limits the number of open connections of a listener.
func LimitConnections(listener net.Listener, most int, log *slog.Logger) *Connections {
	return &Connections{
		Listener: listener, most: most, log: log, room: make(chan struct{}, 1), closed: make(chan struct{}),
	}
}

// Open returns the number of open connections.
func (l *Connections) Open() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(l.open)
}

// Full returns how many connections arrived while the limit was reached.
func (l *Connections) Full() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}

// Accept implements net.Listener. It must be called by only one goroutine.
func (l *Connections) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !l.enter() {
		l.noteFull()
		for !l.enter() {
			if !l.closeIdle() && !l.wait() {
				_ = conn.Close() // nothing was read from it yet
				return nil, net.ErrClosed
			}
		}
	}
	return &connection{Conn: conn, of: l}, nil
}

// Close implements net.Listener.
func (l *Connections) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

func (l *Connections) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most {
		return false
	}
	l.open++
	return true
}

// fullPause is how long the log says nothing more about the limit after reporting that it was
// reached.
const fullPause = time.Minute

func (l *Connections) noteFull() {
	l.mu.Lock()
	l.full++
	now := time.Now()
	warn := l.warned.IsZero() || now.Sub(l.warned) >= fullPause
	if warn {
		l.warned = now
	}
	l.mu.Unlock()
	if warn {
		l.log.Warn("all connections are in use: idle ones are closed for new ones, which wait while none is idle",
			"connections", l.most, "setting", "--max-connections")
	}
}

// closeIdle closes the connection that has been idle longest, if there is one. A request that
// is just arriving on it is lost, as it would be at the end of the idle timeout.
func (l *Connections) closeIdle() bool {
	l.mu.Lock()
	longest := l.idle.Front()
	if longest == nil {
		l.mu.Unlock()
		return false
	}
	c := longest.Value.(*connection)
	l.leave(c)
	l.mu.Unlock()
	_ = c.Conn.Close() // no request was in progress
	return true
}

// wait reports false if the listener is closed.
func (l *Connections) wait() bool {
	select {
	case <-l.room:
		return true
	case <-l.closed:
		return false
	}
}

func (l *Connections) signal() {
	select {
	case l.room <- struct{}{}:
	default:
	}
}

// note tracks which connections are idle. It is the ConnState of an http.Server.
func (l *Connections) note(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, ok := conn.(*connection)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy(c)
	if state == http.StateIdle && !c.ended {
		c.place = l.idle.PushBack(c)
		l.signal()
	}
}

// busy removes a connection from the idle ones.
func (l *Connections) busy(c *connection) {
	if c.place != nil {
		l.idle.Remove(c.place)
		c.place = nil
	}
}

// leave removes a connection from the count.
func (l *Connections) leave(c *connection) {
	if !c.ended {
		c.ended = true
		l.busy(c)
		l.open--
		l.signal()
	}
}

// connection is a net.Conn that counts as open until it is closed.
type connection struct {
	net.Conn

	of    *Connections
	place *list.Element // its place in the list of idle connections; nil while it is not idle
	ended bool
}

// Close implements net.Conn.
func (c *connection) Close() error {
	err := c.Conn.Close()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.leave(c)
	return err
}

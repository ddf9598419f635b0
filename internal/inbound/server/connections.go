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

// Connections is a listener that bounds how many of its connections are open at
// once. At the bound a new connection takes the place of the one that has been
// idle longest. While none is idle it waits for one that ends or becomes idle,
// and those behind it wait in the operating system's queue. Only Serve knows
// which connections are idle.
type Connections struct {
	net.Listener

	most int
	log  *slog.Logger

	room   chan struct{} // a connection ended or became idle; holds one signal
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex
	open   int
	full   int64
	warned time.Time
	idle   list.List // of *connection, the one that has been idle longest first
}

// LimitConnections bounds the connections of a listener.
func LimitConnections(listener net.Listener, most int, log *slog.Logger) *Connections {
	return &Connections{
		Listener: listener, most: most, log: log, room: make(chan struct{}, 1), closed: make(chan struct{}),
	}
}

// Open returns how many connections are open.
func (l *Connections) Open() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(l.open)
}

// Full counts the connections that came while as many as may be were open.
func (l *Connections) Full() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.full
}

// Accept implements net.Listener. One goroutine calls it.
func (l *Connections) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !l.enter() {
		l.noteFull()
		for !l.enter() {
			if !l.closeIdle() && !l.wait() {
				_ = conn.Close() // it was not answered
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

// fullPause is how long the log is silent about the bound after it said that it
// was reached.
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

// closeIdle closes the connection that has been idle longest, if one is. A
// request that is on its way over it is lost, as at the end of the idle time.
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
	_ = c.Conn.Close() // nothing was under way
	return true
}

// wait returns false when the listener is closed.
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

// note keeps which connections are idle. It is an http.Server's ConnState.
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

// busy takes a connection out of the idle ones.
func (l *Connections) busy(c *connection) {
	if c.place != nil {
		l.idle.Remove(c.place)
		c.place = nil
	}
}

// leave takes a connection out of the count.
func (l *Connections) leave(c *connection) {
	if !c.ended {
		c.ended = true
		l.busy(c)
		l.open--
		l.signal()
	}
}

// connection is one that counts until it is closed.
type connection struct {
	net.Conn

	of    *Connections
	place *list.Element // among the idle ones; nil while it is not idle
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

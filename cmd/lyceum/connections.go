package main

import (
	"net"
	"syscall"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
)

// connectionSettings limit the connections to a server.
type connectionSettings struct {
	MaxConnections int `help:"Maximum number of open connections. At the limit, a new connection replaces the one that has been idle longest, or waits." default:"10000" placeholder:"N"`
}

// mostConnections is the largest --max-connections.
const mostConnections = 1_000_000

func (s *connectionSettings) wrong() []lyceum.FieldError {
	if s.MaxConnections < 1 || s.MaxConnections > mostConnections {
		return []lyceum.FieldError{{Field: "--max-connections", Message: "must be from 1 to 1000000, such as 10000"}}
	}
	return nil
}

// limit limits the connections of a listener, and adds metrics about them. They use at most
// half of the files that the process may open, because databases and webhooks need some, too.
func (s *connectionSettings) limit(p *program, m *server.Metrics, listener net.Listener) *server.Connections {
	most := s.MaxConnections
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err == nil && files.Cur/2 < uint64(most) {
		most = max(1, int(files.Cur/2))
		p.log.Warn("the process is not allowed to open enough files for --max-connections; raise its limit "+
			"(LimitNOFILE in the unit, ulimit -n)",
			"max_connections", s.MaxConnections, "files", files.Cur, "connections", most)
	}
	connections := server.LimitConnections(listener, most, p.log)
	server.Measure(m, func() *server.Connections { return connections }, []server.Figure[*server.Connections]{
		{Name: "lyceum_connections", Help: "Connections that are open.", Value: (*server.Connections).Open},
		{
			Name: "lyceum_connections_full_total", Help: "Connections that arrived while the maximum number was open.",
			Rises: true, Value: (*server.Connections).Full,
		},
	})
	return connections
}

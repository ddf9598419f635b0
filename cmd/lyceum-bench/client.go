package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// client is one connection that sends requests and discards the responses as cheaply as
// possible: its cost is the same for both servers.
type client struct {
	conn net.Conn
	read *bufio.Reader
}

func dial(address string) (*client, error) {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, read: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// request renders the request for a path.
func request(path, key string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\napiKey: " + key + "\r\n\r\n")
}

// do sends a request and returns the status and, if keep is true, the body.
func (c *client) do(request []byte, keep bool) (status int, body []byte, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return 0, nil, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	length := -1
	for {
		line, err := c.read.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		if len(line) <= 2 {
			break
		}
		if status == 0 {
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, nil, err
			}
		} else if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, nil, err
			}
		}
	}
	if status == 204 {
		return status, nil, nil
	}
	if length < 0 {
		return status, nil, errors.New("an answer without length")
	}
	if keep {
		body = make([]byte, length)
		_, err = io.ReadFull(c.read, body)
		return status, body, err
	}
	_, err = c.read.Discard(length)
	return status, nil, err
}

// rate is the result of driving a server.
type rate struct{ perSecond, p50, p99 float64 } // p50 and p99 in milliseconds

// drive sends requests to a server in turn on n connections for the given duration. Each
// connection starts at a different place, so that few send the same request at the same time.
func drive(address string, requests [][]byte, n int, duration time.Duration) (rate, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var group sync.WaitGroup
	begin := time.Now()
	for connection := range n {
		group.Go(func() {
			took, err := sendUntil(address, requests, connection*len(requests)/n, begin.Add(duration))
			mu.Lock()
			all, failed = append(all, took...), errors.Join(failed, err)
			mu.Unlock()
		})
	}
	group.Wait()
	seconds := time.Since(begin).Seconds()
	if failed != nil || len(all) == 0 {
		return rate{}, fmt.Errorf("drive %s: %w", address, failed)
	}
	slices.Sort(all)
	return rate{
		perSecond: float64(len(all)) / seconds,
		p50:       all[len(all)/2].Seconds() * 1e3,
		p99:       all[len(all)*99/100].Seconds() * 1e3,
	}, nil
}

func sendUntil(address string, requests [][]byte, first int, until time.Time) ([]time.Duration, error) {
	c, err := dial(address)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	var took []time.Duration
	for i := first; ; i++ {
		begin := time.Now()
		if begin.After(until) {
			return took, nil
		}
		status, _, err := c.do(requests[i%len(requests)], false)
		if err != nil {
			return took, err
		}
		if status != 200 {
			return took, fmt.Errorf("status %d", status)
		}
		took = append(took, time.Since(begin))
	}
}

// medians returns the median of each figure.
func medians(rates []rate) rate {
	each := func(figure func(rate) float64) float64 {
		var all []float64
		for _, r := range rates {
			all = append(all, figure(r))
		}
		return median(all)
	}
	return rate{
		each(func(r rate) float64 { return r.perSecond }), each(func(r rate) float64 { return r.p50 }),
		each(func(r rate) float64 { return r.p99 }),
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	// slowReaders is how many clients send a request at the same time and read nothing.
	slowReaders = 200
	// slowFor is how long they read nothing: longer than a server lets a request wait for
	// memory.
	slowFor = 8 * time.Second
	// tooMuch is the resident memory in bytes at which a server is stopped.
	tooMuch = 3 << 30
)

// measureMemory measures how much of a server's memory slow readers of the largest responses
// take, and whether other requests are served meanwhile.
func measureMemory(ctx context.Context, s settings) error {
	data := filepath.Join(s.work, "memory")
	school := []string{"sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--data", data}
	filling, err := start(ctx, s.binary, school...)
	if err != nil {
		return err
	}
	paths, err := (&filler{server: filling}).fill(ctx)
	if err = errors.Join(err, filling.stop()); err != nil {
		return fmt.Errorf("fill the school: %w", err)
	}
	fmt.Printf("## Memory\n\n%d clients request the largest response of a list at once and read nothing for %v. "+
		"Meanwhile another client requests sales.\n\n", slowReaders, slowFor)
	fmt.Print("| response | MB | 200 | 503 | none | resident MB before | at most | sales responses | slowest ms |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	for _, target := range paths {
		if err := measureSlow(ctx, s, school, target); err != nil {
			return fmt.Errorf("%s: %w", target.name, err)
		}
	}
	fmt.Println()
	return nil
}

// largest is a response that is as large as a list allows.
type largest struct{ name, path, headers string }

// filler creates the largest data that a program can create with a key.
type filler struct{ server *server }

// send sends a request and returns the status and body of the response.
func (f *filler) send(ctx context.Context, method, path string, body any) (int, []byte, error) {
	var sent bytes.Buffer
	encoder := json.NewEncoder(&sent)
	encoder.SetEscapeHTML(false) // so that more fits into a body
	if err := encoder.Encode(body); err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+f.server.address+path, &sent)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Apikey", f.server.key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

// must sends a request that has to succeed, n times.
func (f *filler) must(ctx context.Context, n int, method, path string, body any) error {
	for range n {
		status, text, err := f.send(ctx, method, path, body)
		if err != nil {
			return err
		}
		if status >= http.StatusMultipleChoices {
			return fmt.Errorf("%s %s: %d %s", method, path, status, text)
		}
	}
	return nil
}

func (f *filler) fill(ctx context.Context) ([]largest, error) {
	user, lecture, err := f.find(ctx)
	if err != nil {
		return nil, err
	}
	marks := strings.Repeat("<", 10_000)
	comments := fmt.Sprintf("/lyceum/v1/lectures/%d/comments", lecture.lecture)
	for _, err := range []error{
		f.tag(ctx, user),
		f.must(ctx, 1, http.MethodPost, "/v1/enroll", map[string]int{"user_id": user, "course_id": lecture.course}),
		f.must(ctx, 100, http.MethodPost, comments, map[string]any{"user_id": user, "body": marks}),
	} {
		if err != nil {
			return nil, err
		}
	}
	const changes = "/lyceum/v1/changes?limit=10000&types=user"
	return []largest{
		{"changes of a user with tags", changes, ""},
		{"the same, compressed", changes, "Accept-Encoding: gzip\r\n"},
		{"comments", comments + "?per_page=100", ""},
		{"events of comments", "/lyceum/v1/events?limit=1000&types=Comment.created", ""},
	}, nil
}

// tag gives a user as many tags as the server accepts, in enough entries for a large response.
func (f *filler) tag(ctx context.Context, user int) error {
	path := fmt.Sprintf("/lyceum/v1/users/%d/tags", user)
	many := make([]string, 6500)
	for i := range many {
		many[i] = fmt.Sprintf("%05d", i)
	}
	if status, _, err := f.send(ctx, http.MethodPut, path, map[string][]string{"tags": many}); err != nil ||
		status == http.StatusOK {
		return err
	}
	for round := range 20 {
		few := make([]string, 100)
		for i := range few {
			few[i] = fmt.Sprintf("%03d-%03d%s", round, i, strings.Repeat("<", 248))
		}
		if err := f.must(ctx, 1, http.MethodPut, path, map[string][]string{"tags": few}); err != nil {
			return err
		}
	}
	return nil
}

// place is a lecture of a course.
type place struct{ course, lecture int }

// find returns a new learner, and a lecture.
func (f *filler) find(ctx context.Context) (user int, lecture place, err error) {
	var created struct {
		ID int `json:"id"`
	}
	_, text, err := f.send(ctx, http.MethodPost, "/v1/users", map[string]string{"email": "slow@example.com"})
	if err = errors.Join(err, json.Unmarshal(text, &created)); err != nil {
		return 0, lecture, err
	}
	var list struct {
		Courses []struct {
			ID int `json:"id"`
		} `json:"courses"`
	}
	_, text, err = f.send(ctx, http.MethodGet, "/v1/courses?is_published=true", nil)
	if err = errors.Join(err, json.Unmarshal(text, &list)); err != nil {
		return 0, lecture, err
	}
	for _, course := range list.Courses {
		var shown struct {
			Course struct {
				Sections []struct {
					Lectures []struct {
						ID int `json:"id"`
					} `json:"lectures"`
				} `json:"lecture_sections"`
			} `json:"course"`
		}
		_, text, err := f.send(ctx, http.MethodGet, fmt.Sprintf("/v1/courses/%d", course.ID), nil)
		if err = errors.Join(err, json.Unmarshal(text, &shown)); err != nil {
			return 0, lecture, err
		}
		for _, section := range shown.Course.Sections {
			for _, l := range section.Lectures {
				return created.ID, place{course.ID, l.ID}, nil
			}
		}
	}
	return 0, lecture, errors.New("the school has no lecture")
}

// measureSlow starts a separate server for a response and prints its row.
func measureSlow(ctx context.Context, s settings, school []string, target largest) error {
	server, err := start(ctx, s.binary, school...)
	if err != nil {
		return err
	}
	req := []byte(
		"GET " + target.path + " HTTP/1.1\r\nHost: " + server.address + "\r\napiKey: " + server.key + "\r\n" +
			target.headers + "\r\n",
	)
	size, err := sizeOf(server.address, req)
	if err != nil {
		return errors.Join(err, server.stop())
	}
	before := memory(server.command.Process.Pid)
	watching, stop := context.WithCancel(ctx)
	var most int64
	var sales probe
	var background sync.WaitGroup
	background.Go(func() { most = server.watch(watching) })
	background.Go(func() { sales = probeSales(watching, server) })
	statuses := slowly(server.address, req)
	stop()
	background.Wait()
	_ = server.stop() // it may have been stopped because of its memory
	above := ""
	if most >= tooMuch {
		above = "above "
	}
	fmt.Printf("| %s | %.1f | %d | %d | %d | %d | %s%d | %d | %.0f |\n",
		target.name, float64(size)/(1<<20), statuses[200], statuses[503], slowReaders-statuses[200]-statuses[503],
		before>>20, above, most>>20, sales.responses, sales.slowest.Seconds()*1e3)
	return nil
}

// sizeOf sends a request and returns the length of the response.
func sizeOf(address string, req []byte) (int, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := conn.Write(req); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	n, err := io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("status %d", response.StatusCode)
	}
	return int(n), err
}

// slowly sends the requests of the slow readers, and counts the statuses of the responses.
func slowly(address string, req []byte) map[int]int {
	var mu sync.Mutex
	statuses := map[int]int{}
	var group sync.WaitGroup
	for range slowReaders {
		group.Go(func() {
			status := readSlowly(address, req)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	group.Wait()
	return statuses
}

// readSlowly returns the status of a response that is not read for a while, or 0 if there is no
// response.
func readSlowly(address string, req []byte) int {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0
	}
	defer conn.Close()
	if tcp, ok := conn.(*net.TCPConn); ok && tcp.SetReadBuffer(4<<10) != nil {
		return 0
	}
	if _, err := conn.Write(req); err != nil {
		return 0
	}
	time.Sleep(slowFor)
	if conn.SetReadDeadline(time.Now().Add(10*time.Second)) != nil {
		return 0
	}
	//nolint:bodyclose // the response is left unread on purpose
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
	if err != nil {
		return 0
	}
	return response.StatusCode
}

// watch samples the resident memory of a server, returns the maximum, and kills the server if
// it takes too much.
func (s *server) watch(ctx context.Context) (most int64) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		most = max(most, memory(s.command.Process.Pid))
		if most >= tooMuch {
			_ = s.command.Process.Kill()
			return most
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return most
		}
	}
}

// probe is the result of requesting sales meanwhile.
type probe struct {
	responses int
	slowest   time.Duration
}

func probeSales(ctx context.Context, s *server) (p probe) {
	c, err := dial(s.address)
	if err != nil {
		return p
	}
	defer c.conn.Close()
	req := request("/v1/transactions", s.key)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		begin := time.Now()
		status, _, err := c.do(req, false)
		if err != nil {
			return p
		}
		if status == http.StatusOK {
			p.responses++
		}
		p.slowest = max(p.slowest, time.Since(begin))
		<-tick.C
	}
	return p
}

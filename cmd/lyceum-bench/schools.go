package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum/internal/inbound/demo"
	"github.com/lyceum-school/lyceum/internal/rules/access"
)

const (
	metricsToken = "bench"
	// indexWait is how long a server may take until it serves from its index.
	indexWait = 5 * time.Minute
)

// school returns the folder of a school with the given number of sales. It is generated if it
// does not exist, and resumed if that was interrupted.
func (s settings) school(ctx context.Context, size int) (string, error) {
	dir := filepath.Join(s.keep, "school-"+strconv.Itoa(size))
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	part := dir + ".part"
	sandbox, err := start(ctx, s.binary, "sandbox", "--json", "--addr", "127.0.0.1:0",
		"--seed", strconv.FormatUint(s.seed, 10), "--transactions", strconv.Itoa(size), "--data", part)
	if err != nil {
		return "", err
	}
	if err := sandbox.stop(); err != nil {
		return "", err
	}
	return dir, os.Rename(part, dir)
}

// book returns the classes of requests for a size, which are computed once.
func (s settings) book(size int) []class {
	if s.books[size] == nil {
		s.books[size] = book(s.seed, size)
		debug.FreeOSMemory()
	}
	return s.books[size]
}

// serve serves a school's folder without a rate limit. The key is the sandbox's, which is
// determined by the seed.
func (s settings) serve(ctx context.Context, dir string) (*server, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	served := &server{command: exec.CommandContext(ctx, s.binary, "serve", "--data", dir, "--addr", "127.0.0.1:0",
		"--rate-limit", "0", "--metrics-token", metricsToken, "--log-format", "json")}
	served.command.Stderr = write
	served.began = time.Now()
	err = served.command.Start()
	write.Close()
	if err != nil {
		return nil, err
	}
	log := bufio.NewScanner(read)
	if served.said.BaseURL = serving(log); served.said.BaseURL == "" {
		return nil, errors.Join(errors.New("lyceum serve tells no address"), served.stop())
	}
	served.took = time.Since(served.began)
	go func() { serving(log); read.Close() }()
	base, err := url.Parse(served.said.BaseURL)
	if err != nil {
		return nil, errors.Join(err, served.stop())
	}
	school := demo.New(s.seed, 0)
	served.address, served.key = base.Host, access.KeyText(school.School.ID, school.Secrets.APIKey)
	return served, nil
}

// serving reads a server's log until it contains the address. Anything but ordinary messages is
// passed on.
func serving(log *bufio.Scanner) (address string) {
	for log.Scan() {
		var line struct{ Level, Msg, Address string }
		if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Level != "INFO" {
			fmt.Fprintln(os.Stderr, log.Text())
		}
		if line.Msg == "serving" {
			return line.Address
		}
	}
	return ""
}

// indexed requests the first page and waits until lists are served from the sales index. It
// returns false if the server has no such index.
func (s *server) indexed(ctx context.Context) (bool, error) {
	if err := s.firstPage(); err != nil {
		return false, err
	}
	begin := time.Now()
	for time.Since(begin) < indexWait {
		gauges, err := s.gauges(ctx)
		if err != nil {
			return false, err
		}
		schools, known := gauges["lyceum_sales_index_schools"]
		if !known {
			return false, nil
		}
		if gauges["lyceum_sales_index_building"] == 0 && schools >= 1 {
			return true, nil
		}
		// Polling takes time from what is measured; a hundredth is negligible.
		time.Sleep(max(5*time.Millisecond, time.Since(begin)/100))
	}
	return false, fmt.Errorf("lists are not answered from the index after %v", indexWait)
}

func (s *server) firstPage() error {
	c, err := dial(s.address)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	status, _, err := c.do(request("/v1/transactions", s.key), false)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the first page is a %d (a kept school must be of the same -seed)", status)
	}
	return err
}

// gauges returns the metrics without labels.
func (s *server) gauges(ctx context.Context) (map[string]float64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.said.BaseURL+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+metricsToken)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the metrics are a %d", response.StatusCode)
	}
	all := map[string]float64{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			all[name] = value
		}
	}
	return all, lines.Err()
}

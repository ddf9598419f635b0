package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// build compiles the lyceum that is measured, the way a release is built.
func build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "lyceum")
	command := exec.CommandContext(
		ctx, "go", "build", "-trimpath", "-o", binary, "github.com/lyceum-school/lyceum/cmd/lyceum",
	)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	return binary, command.Run()
}

// server is a process that serves an address.
type server struct {
	command *exec.Cmd
	address string // host:port
	key     string
	said    credentials
	began   time.Time
	took    time.Duration // from its start to its first line
}

// credentials are what a sandbox prints in its first line.
type credentials struct {
	BaseURL   string `json:"base_url"`
	APIKey    string `json:"api_key"`
	Sink      string `json:"sink"` // only of the plain program: the address that receives files
	Owner     struct{ Email, Password string }
	Learner   struct{ Email, Password string }
	OAuthApps struct {
		V1 struct {
			ClientID     string `json:"client_id"`
			ClientSecret string `json:"client_secret"`
			RedirectURL  string `json:"redirect_url"`
		}
	} `json:"oauth_apps"`
}

// start runs a command and waits until it has printed its address in a line of JSON.
func start(ctx context.Context, path string, args ...string) (*server, error) {
	s := &server{command: exec.CommandContext(ctx, path, args...)}
	s.command.Stderr = os.Stderr
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.began = time.Now()
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s said nothing: %w", path, err), s.stop())
	}
	s.took = time.Since(s.began)
	var said credentials
	if err := json.Unmarshal(line, &said); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	base, err := url.Parse(said.BaseURL)
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.address, s.key, s.said = base.Host, said.APIKey, said
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s, nil
}

func (s *server) stop() error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.command.Wait()
}

// peak returns the maximum resident memory of a finished process, in bytes.
func peak(state *os.ProcessState) int64 {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss * 1024
	}
	return 0
}

// memory returns the resident memory of a running process in bytes, or 0 if the system does not
// report it.
func memory(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	_, _ = fmt.Sscan(string(text), &size, &resident)
	return resident * int64(os.Getpagesize())
}

// processor returns the processor time of a running process, or 0 if the system does not report it.
func processor(pid int) time.Duration {
	threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
	var all time.Duration
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil { // it has ended
			continue
		}
		var took int64
		_, _ = fmt.Sscan(string(text), &took)
		all += time.Duration(took)
	}
	return all
}

func measureStart(ctx context.Context, s settings) error {
	var took []float64
	for range s.rounds {
		sandbox, err := start(ctx, s.binary, "sandbox", "--json", "--addr", "127.0.0.1:0")
		if err != nil {
			return err
		}
		took = append(took, sandbox.took.Seconds())
		if err := sandbox.stop(); err != nil {
			return err
		}
	}
	fmt.Printf("## Start\n\nA sandbox of 2,000 sales prints its address %.2f s after it was started (median of %d).\n\n",
		median(took), s.rounds)
	return nil
}

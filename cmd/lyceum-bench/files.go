package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// filesAtOnce is the number of concurrent transfers.
	filesAtOnce = 100
	// bytesAtOnce is the size of each of them.
	bytesAtOnce = 32 << 20
	// sparedDisk is the disk space that must stay free.
	sparedDisk = 2 << 30
)

// measureFiles measures how fast a large file is uploaded to and downloaded from a server, and
// how much memory many concurrent transfers take.
func measureFiles(ctx context.Context, s settings) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(s.work, &disk); err != nil {
		return err
	}
	wanted := s.fileSize*int64(min(s.rounds, 2)) + filesAtOnce*bytesAtOnce + sparedDisk
	if free := int64(disk.Bavail) * disk.Bsize; free < wanted {
		return fmt.Errorf("%s has only %d MB of free space; set TMPDIR to another folder, or use a smaller -file-size",
			s.work, free>>20)
	}
	t, err := s.newTransfers(ctx)
	if err != nil {
		return err
	}
	defer os.RemoveAll(t.dir)
	defer func() { _ = errors.Join(t.ours.stop(), t.plain.stop()) }()
	fmt.Printf("## Files\n\nA file of %d MiB on one connection, by turns to and from Lyceum and a plain program: one "+
		"that copies a TCP connection to a file and syncs it, and `http.FileServer`. MB/s and the ratio of each round are "+
		"medians.\n\n", s.fileSize>>20)
	fmt.Print("| what | MB/s | plain MB/s | ratio |\n|---|---|---|---|\n")
	if err := t.row(s.rounds, "up", t.up, t.upPlain); err != nil {
		return err
	}
	kept, err := t.keptFile()
	if err != nil {
		return err
	}
	if err := t.check(); err != nil {
		return err
	}
	err = t.row(s.rounds, "down", func() error { return t.down(t.ours.address, t.link, t.size) },
		func() error { return t.down(t.plain.address, "/"+kept, t.size) })
	if err != nil {
		return err
	}
	fmt.Printf("\n%d transfers at once, of %d MiB each:\n\n", filesAtOnce, bytesAtOnce>>20)
	fmt.Print("| what | seconds | resident MB before | at most | more |\n|---|---|---|---|---|\n")
	if err := errors.Join(t.crowded("down", t.downTogether), t.crowded("up", t.upTogether)); err != nil {
		return err
	}
	fmt.Println()
	return nil
}

// transfers are uploads to and downloads from a server.
type transfers struct {
	ours, plain *server
	dir         string // data folder of ours
	size        int64
	block       []byte // the block that files consist of, repeated
	sum         string // SHA-256 of a file
	filler      filler
	lecture     place
	link        string // path of the file that was uploaded last
}

func (s settings) newTransfers(ctx context.Context) (t *transfers, err error) {
	t = &transfers{dir: filepath.Join(s.work, "files"), size: s.fileSize, block: make([]byte, 1<<20)}
	chance := rand.NewChaCha8([32]byte{})
	_, _ = chance.Read(t.block) // never fails
	hash := sha256.New()
	if err := t.write(hash, t.size); err != nil {
		return nil, err
	}
	t.sum = hex.EncodeToString(hash.Sum(nil))
	t.ours, err = start(ctx, s.binary, "sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--data", t.dir)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err == nil {
		t.plain, err = start(ctx, self, "plain", filepath.Join(t.dir, "files"), filepath.Join(s.work, "plain"))
	}
	if err != nil {
		return nil, errors.Join(err, t.ours.stop())
	}
	t.filler.server = t.ours
	if _, t.lecture, err = t.filler.find(ctx); err != nil {
		return nil, errors.Join(err, t.ours.stop(), t.plain.stop())
	}
	return t, nil
}

// servePlain receives files over TCP and serves those in a folder over HTTP.
func servePlain(folder, sink string) error {
	files, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	uploads, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("{\"base_url\":\"http://%s\",\"sink\":%q}\n", files.Addr(), uploads.Addr())
	go func() {
		for {
			conn, err := uploads.Accept()
			if err != nil {
				return
			}
			if err := receivePlain(conn, sink); err != nil {
				fmt.Fprintln(os.Stderr, "lyceum-bench:", err)
			}
		}
	}()
	server := http.Server{Handler: http.FileServer(http.Dir(folder)), ReadHeaderTimeout: time.Minute}
	return server.Serve(files)
}

// receivePlain copies a connection to a file, and responds with one byte once it is on disk.
func receivePlain(conn net.Conn, path string) error {
	defer conn.Close()
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, conn)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		_, err = conn.Write([]byte{1})
	}
	return errors.Join(err, os.Remove(path))
}

// row prints how fast a transfer is, in comparison with a plain one.
func (t *transfers) row(rounds int, what string, ours, plain func() error) error {
	var rates, plainRates, ratios []float64
	for round := range rounds {
		both := [...]func() error{plain, ours} // alternating, so that a round has one file at a time
		if (rounds-round)%2 == 0 {
			both[0], both[1] = ours, plain
		}
		one, err := t.rate(both[0])
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		two, err := t.rate(both[1])
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if (rounds-round)%2 == 1 {
			one, two = two, one
		}
		rates, plainRates, ratios = append(rates, one), append(plainRates, two), append(ratios, one/two)
	}
	fmt.Printf("| %s | %.0f | %.0f | %.2f |\n", what, median(rates), median(plainRates), median(ratios))
	return nil
}

// rate returns how many MB per second a transfer sends. It starts once the disk is idle.
func (t *transfers) rate(send func() error) (float64, error) {
	syscall.Sync()
	begin := time.Now()
	err := send()
	return float64(t.size) / 1e6 / time.Since(begin).Seconds(), err
}

// write writes the first bytes of a file.
func (t *transfers) write(to io.Writer, size int64) error {
	for size > 0 {
		n, err := to.Write(t.block[:min(size, int64(len(t.block)))])
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}

// slot requests an upload address.
func (t *transfers) slot() (to, permanent string, err error) {
	upload := map[string]any{"type": "lecture", "id": t.lecture.lecture, "purpose": "attachment", "extension": "bin"}
	var made struct {
		Data struct {
			To  string `json:"upload_url"`
			URL string `json:"url"`
		} `json:"data"`
	}
	if err := t.post("/v2/uploads", upload, &made); err != nil {
		return "", "", err
	}
	u, err := url.Parse(made.Data.To)
	if err != nil {
		return "", "", err
	}
	return u.RequestURI(), made.Data.URL, nil
}

func (t *transfers) post(path string, body, into any) error {
	status, text, err := t.filler.send(context.Background(), http.MethodPost, path, body)
	if err != nil {
		return err
	}
	if status != http.StatusCreated {
		return fmt.Errorf("POST %s: %d %s", path, status, text)
	}
	return json.Unmarshal(text, into)
}

// up uploads a file to our server, which then has no other file.
func (t *transfers) up() error {
	if err := os.RemoveAll(filepath.Join(t.dir, "files")); err != nil {
		return err
	}
	to, permanent, err := t.slot()
	if err != nil {
		return err
	}
	send, err := t.begin(to, t.size)
	if err == nil {
		err = send(t.sum)
	}
	if err != nil {
		return err
	}
	var made struct {
		Data struct {
			URL string `json:"url"`
		} `json:"data"`
	}
	path := fmt.Sprintf("/v2/products/courses/%d/lectures/%d/attachments", t.lecture.course, t.lecture.lecture)
	file := map[string]any{"url": permanent, "filename": "bench.bin", "mimetype": "application/octet-stream"}
	if err := t.post(path, map[string]any{"kind": "file", "file": file}, &made); err != nil {
		return err
	}
	u, err := url.Parse(made.Data.URL)
	if err == nil {
		t.link = u.RequestURI()
	}
	return err
}

// begin starts an upload, and returns a function that sends the rest. That fails unless the
// server's response has the given SHA-256; with "" it is not checked.
func (t *transfers) begin(to string, size int64) (rest func(sum string) error, err error) {
	conn, err := net.Dial("tcp", t.ours.address)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", to, t.ours.address, size)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return func(sum string) error {
		defer conn.Close()
		if err := t.write(conn, size); err != nil {
			return err
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if tag := response.Header.Get("ETag"); response.StatusCode != http.StatusOK || sum != "" && tag != `"`+sum+`"` {
			return fmt.Errorf("the file was answered with %d and %s", response.StatusCode, tag)
		}
		return nil
	}, nil
}

func (t *transfers) upPlain() error {
	conn, err := net.Dial("tcp", t.plain.said.Sink)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := t.write(conn, t.size); err != nil {
		return err
	}
	if tcp, is := conn.(*net.TCPConn); is {
		err = tcp.CloseWrite()
	}
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, 1))
	}
	return err
}

// keptFile returns the name of the file that our server has in its folder.
func (t *transfers) keptFile() (name string, err error) {
	root := os.DirFS(filepath.Join(t.dir, "files"))
	err = fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			name = path
		}
		return err
	})
	return name, err
}

// check compares what our server sends with what was uploaded.
func (t *transfers) check() error {
	response, err := t.download(t.ours.address, t.link, t.size)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, response.Body); err != nil {
		return err
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != t.sum {
		return fmt.Errorf("the server sends a file of the SHA-256 %s, not %s", sum, t.sum)
	}
	return nil
}

// download starts a download of the first bytes of a file.
func (t *transfers) download(address, path string, size int64) (*http.Response, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nRange: bytes=0-%d\r\n\r\n", path, address, size-1)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	response.Body = &closing{response.Body, conn}
	if response.StatusCode != http.StatusPartialContent || response.ContentLength != size {
		return nil, errors.Join(fmt.Errorf("GET %s: %d with %d bytes", path, response.StatusCode, response.ContentLength),
			response.Body.Close())
	}
	return response, nil
}

// closing is a body that closes its connection.
type closing struct {
	io.Reader

	conn net.Conn
}

func (c *closing) Close() error { return c.conn.Close() }

// down downloads the first bytes of a file.
func (t *transfers) down(address, path string, size int64) error {
	response, err := t.download(address, path, size)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return drain(response.Body)
}

// drain reads to the end.
func drain(from io.Reader) error {
	buffer := make([]byte, 256<<10)
	for {
		if _, err := from.Read(buffer); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// crowded prints how much of the server's memory many concurrent transfers take.
func (t *transfers) crowded(what string, run func() error) error {
	before := memory(t.ours.command.Process.Pid)
	watching, stop := context.WithCancel(context.Background())
	var most int64
	var background sync.WaitGroup
	background.Go(func() { most = t.ours.watch(watching) })
	begin := time.Now()
	err := run()
	took := time.Since(begin)
	stop()
	background.Wait()
	if err != nil {
		return fmt.Errorf("%d %s: %w", filesAtOnce, what, err)
	}
	const mb = 1e6
	fmt.Printf("| %s | %.1f | %.0f | %.0f | %.0f |\n", what, took.Seconds(), float64(before)/mb, float64(most)/mb,
		float64(most-before)/mb)
	return nil
}

// together starts all transfers before it finishes any.
func (t *transfers) together(begin func() (end func() error, err error)) error {
	var ends []func() error
	for range filesAtOnce {
		end, err := begin()
		if err != nil {
			return err
		}
		ends = append(ends, end)
	}
	failures := make([]error, len(ends))
	var group sync.WaitGroup
	for i, end := range ends {
		group.Go(func() { failures[i] = end() })
	}
	group.Wait()
	return errors.Join(failures...)
}

func (t *transfers) downTogether() error {
	return t.together(func() (func() error, error) {
		//nolint:bodyclose // the returned reader closes it
		response, err := t.download(t.ours.address, t.link, min(t.size, bytesAtOnce))
		if err != nil {
			return nil, err
		}
		return func() error { return errors.Join(drain(response.Body), response.Body.Close()) }, nil
	})
}

func (t *transfers) upTogether() error {
	return t.together(func() (func() error, error) {
		to, _, err := t.slot()
		if err != nil {
			return nil, err
		}
		rest, err := t.begin(to, bytesAtOnce)
		if err != nil {
			return nil, err
		}
		return func() error { return rest("") }, nil
	})
}

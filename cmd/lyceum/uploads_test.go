package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// sending is a file that is being uploaded to a shop, as a picture of the course.
type sending struct {
	*shop
	content []byte
	to, url string
}

func (s *shop) sending(t *testing.T, size int) *sending {
	t.Helper()
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	copy(content, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde")
	var made struct {
		Data struct {
			To  string `json:"upload_url"`
			URL string `json:"url"`
		} `json:"data"`
	}
	upload := map[string]any{"type": "course", "id": 1, "purpose": "thumbnail", "extension": "png"}
	if status, err := s.send(http.MethodPost, "/v2/uploads", "", upload, &made); err != nil || status != http.StatusCreated {
		t.Fatal(status, err)
	}
	return &sending{s, content, made.Data.To, made.Data.URL}
}

// put sends the bytes up to a position, and returns the status and how many have arrived.
func (s *sending) put(from, to int, body io.Reader) (status, size int, err error) {
	r, err := http.NewRequest(http.MethodPut, s.to, body)
	if err != nil {
		return 0, 0, err
	}
	r.ContentLength = int64(to - from)
	r.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(s.content)))
	if from == to { // everything has arrived, and is to be stored
		r.Header.Set("Content-Range", fmt.Sprintf("bytes */%d", len(s.content)))
	}
	return roundTrip(r)
}

func roundTrip(r *http.Request) (status, size int, err error) {
	connection := &http.Transport{} // kept open: a server reads the body of what it rejects, unless it is to close the connection afterwards
	defer connection.CloseIdleConnections()
	client := http.Client{Timeout: patience, Transport: connection}
	response, err := client.Do(r)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	size, _ = strconv.Atoi(response.Header.Get("Upload-Offset"))
	return response.StatusCode, size, nil
}

// come requests how many bytes have arrived.
func (s *sending) come(t *testing.T) (size int) {
	t.Helper()
	var status int
	if !await(func() bool { // a request whose client is gone may still occupy the address
		r, err := http.NewRequest(http.MethodHead, s.to, nil)
		if err == nil {
			status, size, err = roundTrip(r)
		}
		return err == nil && status != http.StatusConflict
	}) || status != http.StatusOK {
		t.Fatalf("asked how much has come: %d", status)
	}
	return size
}

// finish sends the rest, and checks that the stored file equals the one that was sent.
func (s *sending) finish(t *testing.T) {
	t.Helper()
	from := s.come(t)
	if from < len(s.content) {
		status, size, err := s.put(from, len(s.content), bytes.NewReader(s.content[from:]))
		if err != nil || status != http.StatusOK || size != len(s.content) {
			t.Fatalf("the rest from %d: %d with %d bytes, %v", from, status, size, err)
		}
	}
	if status, body := get(t, s.url); status != http.StatusOK || body != string(s.content) {
		t.Errorf("what is kept: %d with %d bytes", status, len(body))
	}
	if status, err := s.server.signal(15); err != nil || status != 0 {
		t.Error(status, err)
	}
	if status, said := ran(t, "check", "--deep", "--data", s.place); status != 0 {
		t.Errorf("check: %d %s", status, said)
	}
}

// TestR30_UploadsOnAFullDisk checks that the file is rejected, what was acknowledged is kept,
// and the rest is accepted once there is space again.
func TestR30_UploadsOnAFullDisk(t *testing.T) {
	t.Parallel()
	s := openShop(t, t.TempDir())
	s.serve(t)
	f := s.sending(t, 1<<18) // few enough bytes that the server reads those that it rejects
	if status, size, err := f.put(0, 100_000, bytes.NewReader(f.content[:100_000])); err != nil || status != http.StatusPermanentRedirect || size != 100_000 {
		t.Fatalf("a part: %d with %d bytes, %v", status, size, err)
	}
	for _, room := range []string{"150000", "1000"} { // not enough for all of it, and not even for the state
		s.limit(t, room)
		if status, size, err := f.put(100_000, len(f.content), bytes.NewReader(f.content[100_000:])); err != nil || status != http.StatusServiceUnavailable || size != 100_000 {
			t.Errorf("on a full disk: %d with %d bytes, %v", status, size, err)
		}
	}
	s.limit(t, "unlimited")
	if come := f.come(t); come != 100_000 {
		t.Errorf("%d bytes have come", come)
	}
	if !await(func() bool { status, _ := get(t, "http://"+s.addr+"/readyz"); return status == http.StatusOK }) {
		t.Fatal("the server does not become ready again")
	}
	f.finish(t)
}

// TestFilesMoveWithTheServer checks that the address of a picture leads to the server after a
// restart at another address.
func TestFilesMoveWithTheServer(t *testing.T) {
	t.Parallel()
	s := openShop(t, t.TempDir())
	s.serve(t)
	f := s.sending(t, 1<<16)
	if status, _, err := f.put(0, len(f.content), bytes.NewReader(f.content)); err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	s.must(t, http.MethodPatch, "/v2/products/courses/1", "", map[string]any{"image_url": f.url}, nil)
	s.server.kill(t)
	before := "http://" + s.addr + "/"
	s.addr = freeAddress(t)
	s.serve(t)
	var course struct {
		Data struct {
			Image string `json:"image_url"`
		}
	}
	if !await(func() bool {
		s.must(t, http.MethodGet, "/v2/products/courses/1", "", nil, &course)
		return !strings.HasPrefix(course.Data.Image, before)
	}) {
		t.Fatalf("the picture is still at %s", course.Data.Image)
	}
	if status, body := get(t, course.Data.Image); status != http.StatusOK || body != string(f.content) {
		t.Errorf("%s: %d with %d bytes", course.Data.Image, status, len(body))
	}
}

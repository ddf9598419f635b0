package mirror

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Files says which files are downloaded, and where they will be available.
type Files struct {
	Base string // URL of the server that will serve them
	// Origins are those that files are downloaded from besides the other server's, such as
	// https://cdn.example.com.
	Origins []string
	Read    func(bytes int64) // called with the number of bytes received since the last call
}

// stalled is how long a download may receive nothing.
const stalled = time.Minute

// downloads fetches files without the API key, and only from certain origins.
type downloads struct {
	Files
	from string
	http *http.Client
}

func newDownloads(f *Files, from string) (*downloads, error) {
	if f == nil {
		return nil, nil //nolint:nilnil // no downloads
	}
	d := &downloads{Files: *f, from: from, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: stalled, IdleConnTimeout: stalled,
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for _, origin := range append([]string{from}, f.Origins...) {
		if _, ok := originOf(origin); !ok {
			return nil, lyceum.Invalidf("%q is not an origin such as https://cdn.example.com", origin)
		}
	}
	return d, nil
}

// originOf returns the scheme and host of an http or https URL.
func originOf(address string) (origin string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return "", false
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), true
}

// may reports whether files at an address are downloaded.
func (d *downloads) may(address string) bool {
	origin, ok := originOf(address)
	return ok && slices.ContainsFunc(append([]string{d.from}, d.Origins...), func(allowed string) bool {
		named, _ := originOf(allowed)
		return named == origin
	})
}

// placed is what a file belongs to.
type placed struct {
	target    lyceum.UploadTarget
	id        int32 // the target's id
	purpose   lyceum.UploadPurpose
	extension string // empty: from the address or the response
	what      string // for messages, such as "attachment 7"
}

// file downloads a file, unless that was done before or is not allowed, and returns its
// new address. A file that cannot be downloaded is reported, and keeps its address.
func (m *mirror) file(ctx context.Context, of placed, address string) (string, error) {
	if m.downloads == nil || !m.downloads.may(address) {
		return address, nil
	}
	pause := time.Second
	for attempt := 1; ; attempt++ {
		at, retry, err := m.download(ctx, of, address)
		if !retry || attempt == attempts {
			return at, err
		}
		if err := m.Sleep(ctx, pause); err != nil {
			return address, err
		}
		pause *= 2
	}
}

func (m *mirror) download(ctx context.Context, of placed, address string) (at string, retry bool, err error) {
	f := &remoteFile{downloads: m.downloads, ctx: ctx, address: address}
	defer func() { _ = f.Close() }() // never fails
	if err := f.get(); err != nil {
		return m.notDownloaded(of, address, f, err)
	}
	row := lyceum.UploadRow{File: address, Upload: lyceum.Upload{
		UUID: f.uuid(of), TargetType: of.target, TargetID: of.id, Purpose: of.purpose, Extension: f.extension(of),
		SizeInBytes: lyceum.Some(f.size),
	}}
	if !lyceum.IsExtension(row.Extension) {
		return m.notDownloaded(of, address, f, lyceum.Invalidf("its type is unknown"))
	}
	uploads := m.Learning.ImportUploads(m.by(), func(string) (io.ReadSeekCloser, error) { return f, nil })
	_, problems, err := uploads.Save(ctx, []lyceum.UploadRow{row})
	if len(problems) > 0 {
		err = lyceum.Invalidf("%s", problems[0].String())
	}
	if err != nil {
		return m.notDownloaded(of, address, f, err)
	}
	at, err = m.keptAt(ctx, &row)
	return at, false, err
}

// keptAt returns the permanent address of a downloaded file in this school. That of an
// image is derived from its content.
func (m *mirror) keptAt(ctx context.Context, row *lyceum.UploadRow) (string, error) {
	name := row.UUID
	if row.Purpose == lyceum.ThumbnailUpload {
		v := m.Store.In(ctx, m.School)
		u, _, err := v.Uploads.First(v, lyceum.UploadFilter{UUID: lyceum.Some(row.UUID)})
		if err != nil {
			return "", err
		}
		name = u.Checksum.Else(name)
	}
	return m.downloads.Base + lyceum.UploadPath(m.School, name, row.Extension), nil
}

// notDownloaded reports a failed download and lets the copy continue, unless the reason is
// temporary or on this side.
func (m *mirror) notDownloaded(of placed, address string, f *remoteFile, err error) (string, bool, error) {
	if lyceum.KindOf(err) != lyceum.Invalid {
		return address, f.passing && f.ctx.Err() == nil, err
	}
	m.problem(fmt.Sprintf("%s: its file was not copied: %s", of.what, lyceum.Public(err).Detail))
	return address, false, nil
}

// remoteFile is a file of another server. It is requested from the offset at which reading
// begins.
type remoteFile struct {
	*downloads

	ctx      context.Context //nolint:containedctx // of the caller
	address  string
	response *http.Response
	stop     context.CancelFunc
	passing  bool // the failure was temporary

	size int64
	tag  string      // the ETag, or a substitute
	said http.Header // of the first response
	at   int64       // offset in the file
	here int64       // offset of the body; less than at if the server ignores ranges
	all  bool        // the server ignores ranges and always sends the whole file
}

// get requests the file from the current offset.
func (f *remoteFile) get() error {
	ctx, stop := context.WithCancel(f.ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.address, nil)
	if err != nil {
		stop()
		return lyceum.Invalidf("its address cannot be requested")
	}
	request.Header.Set("Accept-Encoding", "identity")
	if f.at > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", f.at))
		if strings.HasPrefix(f.tag, `"`) {
			request.Header.Set("If-Range", f.tag)
		}
	}
	response, err := f.http.Do(request) //nolint:bodyclose // Close closes it
	if err != nil {
		stop()
		return f.broken(err)
	}
	f.response, f.stop, f.here, f.all = response, stop, f.at, false
	if err := f.accept(response); err != nil {
		_ = f.Close() // never fails
		return err
	}
	return nil
}

func (f *remoteFile) broken(err error) error {
	if f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	f.passing = true
	origin, _ := originOf(f.address)
	return &lyceum.Error{
		Kind: lyceum.Unavailable, Detail: "a file from " + origin + " cannot be downloaded; repeat the command to resume",
		Err: withoutAddress(err),
	}
}

// withoutAddress removes the URL from an error: it may be a credential.
func withoutAddress(err error) error {
	if failed, is := errors.AsType[*url.Error](err); is {
		return failed.Err
	}
	return err
}

// accept rejects a response that is not the file, or does not start at the requested
// offset.
func (f *remoteFile) accept(response *http.Response) error {
	coding := response.Header.Get("Content-Encoding")
	switch code := response.StatusCode; {
	case code < 300 && coding != "" && !strings.EqualFold(coding, "identity"):
		return lyceum.Invalidf("it is sent with the Content-Encoding %s", coding)
	case code == http.StatusOK && f.at == 0:
		if f.size = response.ContentLength; f.size < 0 {
			return lyceum.Invalidf("its size is unknown")
		}
		f.tag, f.said = tagOf(response), response.Header
		return nil
	case code == http.StatusPartialContent && f.at > 0:
		want := fmt.Sprintf("bytes %d-%d/%d", f.at, f.size-1, f.size)
		if response.Header.Get("Content-Range") != want {
			return lyceum.Invalidf("the other server sends a different part of it than requested")
		}
		if f.differs(response, "ETag") || f.differs(response, "Last-Modified") {
			return errFileChanged
		}
		return nil
	case code == http.StatusOK: // no support for ranges, or the file has changed
		if response.ContentLength != f.size || tagOf(response) != f.tag {
			return errFileChanged
		}
		f.here, f.all = 0, true
		return nil
	case code == http.StatusTooManyRequests || code >= 500:
		return f.broken(fmt.Errorf("the answer is %s", response.Status))
	case code >= 300 && code < 400:
		return lyceum.Invalidf("its address leads to another one, which is not followed")
	default:
		return lyceum.Invalidf("the other server answers with %d", code)
	}
}

var errFileChanged = lyceum.Invalidf("it changed while it was being copied; repeat the command")

// differs reports whether a header of a response says that the file is not the one that the first
// response began to send.
func (f *remoteFile) differs(response *http.Response, name string) bool {
	was, is := f.said.Get(name), response.Header.Get(name)
	return was != "" && is != "" && was != is
}

func tagOf(response *http.Response) string {
	return cmp.Or(response.Header.Get("ETag"), response.Header.Get("Last-Modified"))
}

// uuid derives a UUID from the address, ETag and size of the file and from what it is for, so that
// the same content is downloaded once.
func (f *remoteFile) uuid(of placed) string {
	address := f.address
	if u, err := url.Parse(address); err == nil && lyceum.IsFileLink(address) {
		u.RawQuery = "" // it contains a time
		address = u.String()
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{
		f.from, address, f.tag, strconv.FormatInt(f.size, 10),
		string(of.target), strconv.Itoa(int(of.id)), string(of.purpose),
	}, "\x00")))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func (f *remoteFile) extension(of placed) string {
	if of.extension != "" {
		return strings.ToLower(strings.TrimPrefix(of.extension, "."))
	}
	name := ""
	if u, err := url.Parse(f.address); err == nil {
		name = u.Path
	}
	if path.Ext(name) == "" {
		_, parameters, _ := mime.ParseMediaType(f.response.Header.Get("Content-Disposition"))
		name = parameters["filename"]
	}
	return strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
}

// Seek sends no request.
func (f *remoteFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the start of the file")
	}
	f.at = offset
	return offset, nil
}

// Read fails if the server sends nothing for too long.
func (f *remoteFile) Read(b []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	if f.response != nil && (f.here > f.at || f.here < f.at && !f.all) {
		_ = f.Close() // never fails
	}
	if f.response == nil {
		if err := f.get(); err != nil {
			return 0, err
		}
	}
	late := time.AfterFunc(stalled, f.stop)
	defer late.Stop()
	for f.here < f.at {
		n, err := io.CopyN(io.Discard, f.response.Body, min(f.at-f.here, maxResponse))
		if f.here += n; err != nil {
			return 0, f.broken(err)
		}
		late.Reset(stalled)
	}
	n, err := f.response.Body.Read(b)
	f.at, f.here = f.at+int64(n), f.here+int64(n)
	f.Files.Read(int64(n))
	switch {
	case f.at >= f.size:
		return n, nil
	case errors.Is(err, io.EOF):
		return n, f.broken(io.ErrUnexpectedEOF)
	case err != nil:
		return n, f.broken(err)
	}
	return n, nil
}

// Close ends a pending request.
func (f *remoteFile) Close() error {
	if f.response != nil {
		f.stop()
		_ = f.response.Body.Close() // the rest of the body is not needed
		f.response = nil
	}
	return nil
}

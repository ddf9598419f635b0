package files

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// S3 stores files in a bucket of an S3-compatible store. Several processes may share one.
type S3 struct {
	core     *minio.Core
	bucket   string
	prefix   string        // ends with a slash, or is empty
	patience time.Duration // time limit of a request
	partSize int64         // bytes of a file that are sent in one request
}

var _ lyceum.FileStore = (*S3)(nil)

const (
	s3Patience = 2 * time.Minute
	s3Retries  = 2 // of a failed request
	s3PartSize = 16 << 20
)

// NewS3 returns the store at a URL such as
// https://KEY:SECRET@s3.example.com/bucket/prefix?region=eu-central-1. It fails with Invalid if
// the URL has another form. It does not connect to the store.
func NewS3(address string) (*S3, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errS3Address // err would show the URL
	}
	secret, has := u.User.Password()
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	query := u.Query()
	region := query.Get("region")
	query.Del("region")
	web := u.Scheme == "https" || u.Scheme == "http"
	if !web || u.Host == "" || !has || bucket == "" || len(query) > 0 || u.Fragment != "" {
		return nil, errS3Address
	}
	if region == "" {
		region = "us-east-1"
	}
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds: credentials.NewStaticV4(u.User.Username(), secret, ""), Secure: u.Scheme == "https", Region: region,
		MaxRetries: s3Retries,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
			MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, DisableCompression: true,
		},
	})
	if err != nil {
		return nil, errS3Address
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return &S3{core, bucket, prefix, s3Patience, s3PartSize}, nil
}

var errS3Address = lyceum.InvalidFields(lyceum.FieldError{
	Field: "--files-url",
	Message: "must be a URL such as https://KEY:SECRET@s3.example.com/bucket/prefix, with ?region=… unless the region " +
		"is us-east-1, and with / as %2F and + as %2B in the secret",
})

// Ping fails with Unavailable if the bucket cannot be reached.
func (s *S3) Ping(ctx context.Context) error {
	ctx, done := s.wait(ctx)
	defer done()
	there, err := s.core.BucketExists(ctx, s.bucket)
	if err == nil && !there {
		err = &lyceum.Error{Kind: lyceum.Unavailable, Detail: "there is no bucket " + s.bucket}
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// Place returns the location of the store, without its secret: two stores with the same place
// have the same contents.
func (s *S3) Place() string { return s.core.EndpointURL().JoinPath(s.bucket, s.prefix).String() }

func (s *S3) wait(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.patience)
}

func (s *S3) at(name string) string { return s.prefix + name }

func missing(err error) bool { return minio.ToErrorResponse(err).Code == minio.NoSuchKey }

// Open implements lyceum.FileStore.
func (s *S3) Open(ctx context.Context, name lyceum.FileName) (io.ReadSeekCloser, error) {
	if err := check(name); err != nil {
		return nil, err
	}
	info, err := s.stat(ctx, string(name))
	if missing(err) {
		return nil, lyceum.Errorf(lyceum.NotFound, "this file is missing")
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return &object{store: s, ctx: ctx, key: s.at(string(name)), size: info.Size, tag: info.ETag}, nil
}

// stat returns the size and the tag of an object. A response to HEAD has no body to say what is
// missing, the object or its bucket, so a GET must confirm that it is the object.
func (s *S3) stat(ctx context.Context, name string) (minio.ObjectInfo, error) {
	ctx, done := s.wait(ctx)
	defer done()
	info, err := s.core.StatObject(ctx, s.bucket, s.at(name), minio.StatObjectOptions{})
	if !missing(err) {
		return info, err
	}
	body, info, _, err := s.core.GetObject(ctx, s.bucket, s.at(name), minio.GetObjectOptions{})
	if err == nil {
		_ = body.Close() // it is not read
	}
	return info, err
}

// Remove implements lyceum.FileStore.
func (s *S3) Remove(ctx context.Context, name lyceum.FileName) error {
	if err := check(name); err != nil {
		return err
	}
	p := s.part(ctx, name)
	if err := p.loadState(ctx); err != nil {
		return err
	}
	if err := p.abort(ctx); err != nil {
		return err
	}
	// A failure of the store or a killed server may have left more than the state lists.
	err := s.list(ctx, p.at, func(name string, _ *minio.ObjectInfo) error { return s.remove(ctx, name) })
	if err != nil {
		return err
	}
	return s.remove(ctx, string(name))
}

// list calls visit with every object whose name begins with prefix, until visit fails. It fails
// with Unavailable if the store sends nothing for too long, or the same objects again and again.
func (s *S3) list(ctx context.Context, prefix string, visit func(name string, object *minio.ObjectInfo) error) error {
	listing, stop := context.WithCancel(ctx)
	defer stop()
	late := time.AfterFunc(s.patience, stop)
	defer late.Stop()
	options := minio.ListObjectsOptions{Prefix: s.at(prefix), Recursive: true}
	mark, seen, next := "", 0, 1 // the mark is moved ever further apart, so any cycle will contain it
	for object := range s.core.ListObjectsIter(listing, s.bucket, options) {
		late.Stop()
		switch {
		case object.Err != nil:
			return unavailable(object.Err)
		case object.Key == mark:
			return unavailable(fmt.Errorf("%w: a listing repeats itself", errNonsense))
		}
		if seen++; seen == next {
			mark, next = object.Key, 2*next
		}
		if strings.HasPrefix(object.Key, s.at(prefix)) { // or the store ignores the prefix
			if err := visit(strings.TrimPrefix(object.Key, s.prefix), &object); err != nil {
				return err
			}
		}
		late.Reset(s.patience)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := listing.Err(); err != nil {
		return unavailable(err)
	}
	return nil
}

func (s *S3) remove(ctx context.Context, name string) error {
	ctx, done := s.wait(ctx)
	defer done()
	err := s.core.RemoveObject(ctx, s.bucket, s.at(name), minio.RemoveObjectOptions{})
	if err != nil && !missing(err) {
		return unavailable(err)
	}
	return nil
}

// Each implements lyceum.FileStore.
func (s *S3) Each(ctx context.Context, prefix lyceum.FileName, visit func(lyceum.StoredFile) error) error {
	return s.list(ctx, string(prefix), func(at string, object *minio.ObjectInfo) error {
		name := lyceum.FileName(at)
		if check(name) != nil {
			return nil //nolint:nilerr // a foreign or incomplete file
		}
		return visit(lyceum.StoredFile{Name: name, Size: object.Size, At: object.LastModified})
	})
}

// put stores a small or moderately large object in one request.
func (s *S3) put(ctx context.Context, name string, body io.ReaderAt, size int64) error {
	ctx, done := s.wait(ctx)
	defer done()
	content := io.NewSectionReader(body, 0, size)
	info, err := s.core.Client.PutObject(ctx, s.bucket, s.at(name), content, size, minio.PutObjectOptions{
		ContentType: "application/octet-stream", DisableMultipart: true,
	})
	if err == nil && info.ETag == "" {
		err = errNonsense
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// get reads an object that is not large. found is false if it does not exist.
func (s *S3) get(ctx context.Context, name string, to io.Writer, most int64) (size int64, found bool, err error) {
	ctx, done := s.wait(ctx)
	defer done()
	body, _, _, err := s.core.GetObject(ctx, s.bucket, s.at(name), minio.GetObjectOptions{})
	if missing(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, unavailable(err)
	}
	defer body.Close()
	if size, err = io.Copy(to, io.LimitReader(body, most)); err != nil {
		return size, false, unavailable(err)
	}
	return size, true, nil
}

func (s *S3) part(ctx context.Context, name lyceum.FileName) *objectPart {
	return &objectPart{
		tally: newTally(), store: s, name: string(name), at: partOf(name), ctx: context.WithoutCancel(ctx),
	}
}

// Part implements lyceum.FileStore.
func (s *S3) Part(ctx context.Context, name lyceum.FileName) (lyceum.FilePart, error) {
	if err := check(name); err != nil {
		return nil, err
	}
	p := s.part(ctx, name)
	if err := p.load(ctx); err != nil {
		p.closeSpool()
		return nil, err
	}
	return p, nil
}

// contentKey returns the key of a file that was sent in one request, which includes its hash.
func contentKey(name string, sum *lyceum.FileSum) string {
	return name + "-" + hex.EncodeToString(sum.SHA256[:16])
}

// spool creates a temporary file that no one else can see.
func spool() (*os.File, error) {
	file, err := os.CreateTemp("", "lyceum-upload-*")
	if err != nil {
		return nil, unavailable(err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close() // nothing was written to it
		return nil, unavailable(err)
	}
	return file, nil
}

// place stores a file of any size under exactly its name. It fails with Unavailable if the store
// accepts no data for too long. threads is how many parts of a large file are sent at once; 0 means
// several.
func (s *S3) place(ctx context.Context, want *lyceum.FileSum, body io.ReaderAt, threads uint) error {
	if err := check(want.Name); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	late := time.AfterFunc(s.patience, stop)
	defer late.Stop()
	content := io.NewSectionReader(readerAt(func(b []byte, at int64) (int, error) {
		late.Reset(s.patience)
		return body.ReadAt(b, at)
	}), 0, want.Size)
	_, err := s.core.Client.PutObject(ctx, s.bucket, s.at(string(want.Name)), content, want.Size, minio.PutObjectOptions{
		ContentType: "application/octet-stream", NumThreads: threads,
	})
	if err != nil {
		return unavailable(err)
	}
	return s.placed(ctx, want)
}

// placed returns an error unless the store has an object of the expected size.
func (s *S3) placed(ctx context.Context, sum *lyceum.FileSum) error {
	info, err := s.stat(ctx, string(sum.Name))
	if err == nil && info.Size != sum.Size {
		err = fmt.Errorf("%w: it has %d bytes of %d", errNonsense, info.Size, sum.Size)
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

type readerAt func(b []byte, at int64) (int, error)

func (r readerAt) ReadAt(b []byte, at int64) (int, error) { return r(b, at) }

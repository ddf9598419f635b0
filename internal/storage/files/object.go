package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// object reads a file from an S3-compatible store, from any offset.
type object struct {
	store *S3
	ctx   context.Context //nolint:containedctx // of the call that opened it
	key   string
	size  int64
	tag   string

	at   int64
	came int64         // bytes of body that were read
	body io.ReadCloser // begins at offset at; nil if nothing was requested
	stop context.CancelFunc
}

// resumable is how many bytes a response must have to be continued after it breaks off.
const resumable = 256 << 10

// Read fails with Unavailable if the store sends nothing for too long, or too little before it
// breaks off.
func (o *object) Read(b []byte) (int, error) {
	if o.at >= o.size {
		return 0, io.EOF
	}
	if o.body == nil {
		if err := o.request(); err != nil {
			return 0, err
		}
	}
	late := time.AfterFunc(o.store.patience, o.stop)
	n, err := o.body.Read(b[:min(int64(len(b)), o.size-o.at)])
	late.Stop()
	o.at, o.came = o.at+int64(n), o.came+int64(n)
	switch {
	case err == nil, o.at == o.size:
		return n, nil
	case o.ctx.Err() != nil:
		return n, err
	case o.came >= resumable:
		_ = o.Close() // never fails
		if n > 0 {
			return n, nil // the next call requests the rest
		}
		return o.Read(b)
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return n, unavailable(err)
}

func (o *object) request() error {
	ctx, stop := context.WithCancel(o.ctx)
	var options minio.GetObjectOptions
	err := options.SetMatchETag(o.tag)
	if err == nil && o.at > 0 {
		err = options.SetRange(o.at, 0)
	}
	if err == nil {
		late := time.AfterFunc(o.store.patience, stop)
		defer late.Stop()
		var info minio.ObjectInfo
		var header http.Header
		o.body, info, header, err = o.store.core.GetObject(ctx, o.store.bucket, o.key, options)
		if err == nil && !o.asked(&info, header) {
			_ = o.body.Close() // it is something else
			err = errNonsense
		}
	}
	if err != nil {
		o.body = nil
		stop()
		return unavailable(err)
	}
	o.stop, o.came = stop, 0
	return nil
}

// asked reports whether a response is from this object, and begins where the object is read. Some
// stores and proxies ignore Range, and send all of it.
func (o *object) asked(info *minio.ObjectInfo, header http.Header) bool {
	from := fmt.Sprintf("bytes %d-", o.at)
	return info.ETag == o.tag && (o.at == 0 || strings.HasPrefix(header.Get("Content-Range"), from))
}

// Seek sends no request.
func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the start of the file")
	}
	if offset == o.at {
		return offset, nil
	}
	o.at = offset
	return offset, o.Close()
}

// Close ends the request in progress, if any.
func (o *object) Close() error {
	if o.body == nil {
		return nil
	}
	o.stop()
	_ = o.body.Close() // the rest of the body is not needed
	o.body = nil
	return nil
}

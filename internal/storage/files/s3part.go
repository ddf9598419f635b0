package files

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/lyceum-school/lyceum"
	"github.com/minio/minio-go/v7"
)

// objectState is the state of an incomplete file, as saved in the store: S3 parts of equal size,
// and the rest as a separate object.
type objectState struct {
	state

	Key    string   `json:"key"`    // of the complete file
	Upload string   `json:"upload"` // id of the multipart upload; empty if it has not begun
	Parts  []string `json:"parts"`  // ETags
	Tail   string   `json:"tail"`   // suffix of the key of the object with the rest; empty: the suffix is the size
}

// tail returns how many bytes follow the parts; it is negative if the last part is a short one,
// which nothing can follow.
func (p *objectPart) tail(s *objectState) int64 { return s.Size - int64(len(s.Parts))*p.store.partSize }

const mostState = 1 << 20 // bytes

// objectPart is a file that is being received into an S3-compatible store. What was not yet sent
// there, at most one part, is in a local file.
type objectPart struct {
	tally

	store   *S3
	ctx     context.Context //nolint:containedctx // for saves that outlive the request
	name    string          // beginning of the file's key
	at      string          // beginning of the keys of the state and the rest
	saved   objectState     // as last saved in the store
	now     objectState     // current state, except for what tally has
	spool   *os.File
	spooled int64
	settled bool // there is nothing to save
}

var _ lyceum.FilePart = (*objectPart)(nil)

var errNonsense = errors.New("the store's answer is not one of S3")

// loadState reads the state from the store.
func (p *objectPart) loadState(ctx context.Context) error {
	var text bytes.Buffer
	_, found, err := p.store.get(ctx, p.at+stateOf, &text, mostState)
	if err != nil || !found {
		return err
	}
	var kept objectState
	if err := json.Unmarshal(text.Bytes(), &kept); err != nil {
		return unavailable(errors.Join(errNonsense, err))
	}
	p.saved, p.now = kept, kept
	p.now.Parts = append([]string(nil), kept.Parts...)
	return nil
}

// load resumes from what has been received. Another process may meanwhile save a newer state and
// then remove the rest of the older one, or complete the file and remove both, so load tries again
// if the rest is missing.
func (p *objectPart) load(ctx context.Context) error {
	if err := p.loadState(ctx); err != nil {
		return err
	}
	for p.saved.Size > 0 {
		taken, err := p.take(ctx)
		if taken || err != nil {
			return err
		}
		before := p.tailName(&p.saved)
		p.empty()
		if err := p.loadState(ctx); err != nil {
			return err
		}
		if p.saved.Size > 0 && p.tailName(&p.saved) == before {
			return p.Restart(ctx)
		}
	}
	return nil
}

// take resumes from a state, and reports whether the state is valid and its rest exists.
func (p *objectPart) take(ctx context.Context) (bool, error) {
	tail := p.tail(&p.saved)
	if tail <= -p.store.partSize || tail > p.store.partSize || !p.restore(p.saved.state) {
		return false, nil
	}
	if tail <= 0 {
		return true, nil
	}
	if err := p.begin(); err != nil {
		return false, err
	}
	size, found, err := p.store.get(ctx, p.tailName(&p.saved), p.spool, p.store.partSize)
	p.spooled = size
	return found && size == tail, err
}

// tailName returns the name of the object with the rest of a state. Each rest has a different
// name, so that two processes that receive the same file do not use each other's.
func (p *objectPart) tailName(s *objectState) string {
	if s.Tail == "" {
		return p.at + "." + strconv.FormatInt(s.Size, 10)
	}
	return p.at + "." + s.Tail
}

func (p *objectPart) begin() (err error) {
	if p.spool == nil {
		p.spool, err = spool()
	}
	return err
}

func (p *objectPart) closeSpool() {
	if p.spool != nil {
		_ = p.spool.Close() // it is not read any more
		p.spool, p.spooled = nil, 0
	}
}

// Size implements lyceum.FilePart.
func (p *objectPart) Size() int64 { return p.size }

// Head implements lyceum.FilePart.
func (p *objectPart) Head() []byte { return p.head }

// Append implements lyceum.FilePart.
func (p *objectPart) Append(ctx context.Context, body io.Reader, most int64) error {
	if err := p.begin(); err != nil {
		return err
	}
	buffer := make([]byte, bufferSize)
	for {
		n, readErr := body.Read(buffer[:min(bufferSize, p.store.partSize-p.spooled)])
		if most -= int64(n); most < 0 {
			return errTooLong
		}
		if _, err := p.spool.WriteAt(buffer[:n], p.spooled); err != nil {
			return p.goBack(unavailable(err))
		}
		p.spooled += int64(n)
		p.add(buffer[:n])
		if readErr == nil {
			readErr = ctx.Err()
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return readErr
		}
		if p.spooled == p.store.partSize {
			if err := p.flush(ctx); err != nil {
				return p.goBack(err)
			}
		}
	}
}

// goBack drops what the store does not have.
func (p *objectPart) goBack(err error) error {
	p.settled = true
	if p.tally = newTally(); p.saved.Size > 0 && !p.restore(p.saved.state) {
		return errors.Join(err, errNonsense)
	}
	return err
}

// flush sends the spooled bytes as the next part.
func (p *objectPart) flush(ctx context.Context) error {
	ctx, done := p.store.wait(ctx)
	defer done()
	if p.now.Upload == "" {
		p.now.Key = p.name + "-" + rand.Text()
		upload, err := p.store.core.NewMultipartUpload(ctx, p.store.bucket, p.store.at(p.now.Key), minio.PutObjectOptions{
			ContentType: "application/octet-stream",
		})
		if err == nil && upload == "" {
			err = errNonsense
		}
		if err != nil {
			return unavailable(err)
		}
		p.now.Upload = upload
	}
	content, hash := io.NewSectionReader(p.spool, 0, p.spooled), sha256.New()
	if _, err := io.Copy(hash, content); err != nil {
		return unavailable(err)
	}
	part, err := p.store.core.PutObjectPart(ctx, p.store.bucket, p.store.at(p.now.Key), p.now.Upload, len(p.now.Parts)+1,
		io.NewSectionReader(p.spool, 0, p.spooled), p.spooled,
		minio.PutObjectPartOptions{
			Sha256Hex: hex.EncodeToString(hash.Sum(nil)), DisableContentSha256: true, // otherwise it signs in chunks
		})
	if err == nil && part.ETag == "" {
		err = errNonsense
	}
	if err != nil && p.saved.Upload == "" {
		_ = p.abort(ctx) // no state names it; if this fails, the bucket's rule for old uploads removes it
	}
	if err != nil {
		return unavailable(err)
	}
	p.now.Parts = append(p.now.Parts, part.ETag)
	p.spooled = 0
	return p.save(ctx)
}

// save saves the state, and then removes the rest of the previous one, which is not needed any
// more.
func (p *objectPart) save(ctx context.Context) (err error) {
	before := p.saved
	if p.now.state, err = p.state(); err != nil {
		return err
	}
	text, err := json.Marshal(p.now)
	if err != nil {
		return err
	}
	if err := p.store.put(ctx, p.at+stateOf, bytes.NewReader(text), int64(len(text))); err != nil {
		return err
	}
	p.saved = p.now
	p.saved.Parts = append([]string(nil), p.now.Parts...)
	if name := p.tailName(&before); p.tail(&before) > 0 && name != p.tailName(&p.saved) {
		return p.store.remove(ctx, name)
	}
	return nil
}

// Restart implements lyceum.FilePart.
func (p *objectPart) Restart(ctx context.Context) error {
	if err := p.drop(ctx); err != nil {
		return err
	}
	p.empty()
	p.settled = false
	return nil
}

// empty discards what is known of the file, but nothing that is in the store.
func (p *objectPart) empty() {
	p.closeSpool()
	p.tally, p.saved, p.now = newTally(), objectState{}, objectState{}
}

// drop removes all that the store has of the incomplete file.
func (p *objectPart) drop(ctx context.Context) error {
	if err := p.abort(ctx); err != nil || p.saved.Size == 0 {
		return err
	}
	return p.forget(ctx)
}

// abort removes the multipart upload.
func (p *objectPart) abort(ctx context.Context) error {
	if p.now.Upload == "" {
		return nil
	}
	ctx, done := p.store.wait(ctx)
	defer done()
	err := p.store.core.AbortMultipartUpload(ctx, p.store.bucket, p.store.at(p.now.Key), p.now.Upload)
	if err != nil && minio.ToErrorResponse(err).Code != minio.NoSuchUpload {
		return unavailable(err)
	}
	return nil
}

// forget removes the rest and the state of the incomplete file.
func (p *objectPart) forget(ctx context.Context) error {
	if p.tail(&p.saved) > 0 {
		if err := p.store.remove(ctx, p.tailName(&p.saved)); err != nil {
			return err
		}
	}
	return p.store.remove(ctx, p.at+stateOf)
}

// Keep implements lyceum.FilePart.
func (p *objectPart) Keep(ctx context.Context, accept func(lyceum.FileSum) error) (lyceum.FileSum, error) {
	sum := p.sum()
	if err := accept(sum); err != nil {
		return sum, err
	}
	err := p.place(ctx, &sum)
	if err == nil {
		err = p.store.placed(ctx, &sum)
	}
	return sum, err
}

// Forget implements lyceum.FilePart.
func (p *objectPart) Forget(ctx context.Context) error {
	p.settled = true
	if p.saved.Size == 0 {
		return nil
	}
	return p.forget(ctx)
}

// place turns what was received into an object.
func (p *objectPart) place(ctx context.Context, sum *lyceum.FileSum) error {
	if p.now.Upload == "" {
		sum.Name = lyceum.FileName(contentKey(p.name, sum))
		if err := p.begin(); err != nil {
			return err
		}
		return p.store.put(ctx, string(sum.Name), p.spool, p.spooled)
	}
	sum.Name = lyceum.FileName(p.now.Key)
	err := p.join(ctx)
	failed, _ := errors.AsType[minio.ErrorResponse](err)
	if failed.Code == minio.NoSuchUpload && p.complete(ctx, sum) {
		return nil
	}
	if err != nil {
		return p.goBack(err)
	}
	return nil
}

// join combines all parts into one object.
func (p *objectPart) join(ctx context.Context) error {
	if p.spooled > 0 {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	parts := make([]minio.CompletePart, len(p.now.Parts))
	for i, tag := range p.now.Parts {
		parts[i] = minio.CompletePart{PartNumber: i + 1, ETag: tag}
	}
	ctx, done := p.store.wait(ctx)
	defer done()
	_, err := p.store.core.CompleteMultipartUpload(ctx, p.store.bucket, p.store.at(p.now.Key), p.now.Upload, parts,
		minio.PutObjectOptions{})
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// complete reports whether the store already has the complete object. It reads all of it, which
// is only necessary if a process was stopped just after completing it.
func (p *objectPart) complete(ctx context.Context, sum *lyceum.FileSum) bool {
	content, err := p.store.Open(ctx, sum.Name)
	if err != nil {
		return false
	}
	defer content.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, content)
	return err == nil && [sha256.Size]byte(hash.Sum(nil)) == sum.SHA256
}

// Close implements lyceum.FilePart.
func (p *objectPart) Close() error {
	defer p.closeSpool()
	if p.settled || p.size == p.saved.Size {
		return nil
	}
	if p.spooled > 0 {
		p.now.Tail = rand.Text()
		if err := p.store.put(p.ctx, p.at+"."+p.now.Tail, p.spool, p.spooled); err != nil {
			return err
		}
	}
	return p.save(p.ctx)
}

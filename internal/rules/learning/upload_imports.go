package learning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lyceum-school/lyceum"
)

// UploadRows imports uploads. One that exists already, by UUID, stays as it is.
type UploadRows struct {
	service *Service
	by      lyceum.By
	open    func(file string) (io.ReadSeekCloser, error)
}

// ImportUploads begins an import of uploads. open opens the files that the rows name, and must
// fail with Invalid for a name without a file. The files count as received now.
func (s *Service) ImportUploads(by lyceum.By, open func(file string) (io.ReadSeekCloser, error)) *UploadRows {
	return &UploadRows{s, by, open}
}

// Check returns the problems of the rows of a batch that can be found without reading their
// files, and saves nothing.
func (r *UploadRows) Check(ctx context.Context, batch []lyceum.UploadRow) (problems []lyceum.RowProblem, err error) {
	for i := range batch {
		sent, wrong, err := r.look(ctx, &batch[i])
		if err != nil {
			return nil, err
		}
		if wrong != nil {
			problems = append(problems, lyceum.RowProblem{Index: i, FieldError: *wrong})
		} else if sent.content != nil {
			_ = sent.content.Close() // nothing was read
		}
	}
	return problems, nil
}

// Save saves the rows of a batch that have no problem, each in a separate write, and returns the
// problems of the others. It resumes files whose import was interrupted.
func (r *UploadRows) Save(
	ctx context.Context, batch []lyceum.UploadRow,
) (saved lyceum.Saved, problems []lyceum.RowProblem, err error) {
	for i := range batch {
		sent, wrong, err := r.look(ctx, &batch[i])
		if err == nil && wrong == nil && sent.content == nil {
			saved.Unchanged++
			continue
		}
		if err == nil && wrong == nil {
			wrong, err = r.receive(ctx, &sent)
		}
		if err != nil {
			return saved, nil, fmt.Errorf("import uploads: %w", err)
		}
		if wrong != nil {
			problems = append(problems, lyceum.RowProblem{Index: i, FieldError: *wrong})
		} else {
			saved.Created++
		}
	}
	return saved, problems, nil
}

// importedFile is a row with its file.
type importedFile struct {
	lyceum.Upload

	content io.ReadSeekCloser // nil: the school has it already
	size    int64
	sum     lyceum.Opt[[32]byte] // the expected checksum
}

// look opens the file of a row, and returns what is wrong with them.
func (r *UploadRows) look(
	ctx context.Context, row *lyceum.UploadRow,
) (f importedFile, wrong *lyceum.FieldError, err error) {
	f.Upload = row.Upload
	f.sum.Value, f.sum.Present = lyceum.ParseChecksum(row.Checksum.Value)
	f.SizeInBytes, f.Checksum = lyceum.None[int64](), lyceum.None[string]()
	refuse := func(field, format string, args ...any) (importedFile, *lyceum.FieldError, error) {
		return f, &lyceum.FieldError{Field: field, Message: fmt.Sprintf(format, args...)}, nil
	}
	if purposes := row.TargetType.Purposes(); !slices.Contains(purposes, row.Purpose) {
		return refuse("purpose", "must be %s for the type %s", purposes[0], row.TargetType)
	}
	if row.Purpose == lyceum.ThumbnailUpload && !lyceum.IsPicture(row.Extension) {
		return refuse("extension", "must be jpg, jpeg, png, gif or webp for a thumbnail")
	}
	v := r.service.store.In(ctx, r.by.School)
	there, found, err := v.Uploads.First(v, lyceum.UploadFilter{UUID: lyceum.Some(row.UUID)})
	switch {
	case err != nil:
		return f, nil, err
	case found && (there.Extension != row.Extension ||
		there.ReceivedAt.Present && row.Checksum.Else(there.Checksum.Value) != there.Checksum.Value):
		return refuse("uuid", "is that of another file of this school")
	case found && there.ReceivedAt.Present:
		return f, nil, nil
	}
	if f.content, err = r.open(row.File); err != nil {
		if kind := lyceum.KindOf(err); kind == lyceum.Invalid {
			return refuse("file", "%s", lyceum.Public(err).Detail)
		}
		return f, nil, err
	}
	f.size, err = f.content.Seek(0, io.SeekEnd)
	if err == nil {
		wrong = oddSize(f.size, row.SizeInBytes)
	}
	if wrong != nil || err != nil {
		err = errors.Join(err, f.content.Close())
	}
	return f, wrong, err
}

func oddSize(size int64, said lyceum.Opt[int64]) *lyceum.FieldError {
	var message string
	switch {
	case size == 0:
		message = "is empty"
	case size > lyceum.MaxUpload:
		message = fmt.Sprintf("has more than %d bytes", int64(lyceum.MaxUpload))
	case said.Else(size) != size:
		message = fmt.Sprintf("has %d bytes, and size_in_bytes says %d", size, said.Value)
	default:
		return nil
	}
	return &lyceum.FieldError{Field: "file", Message: message}
}

// receive stores a file as if it had been sent.
func (r *UploadRows) receive(ctx context.Context, f *importedFile) (wrong *lyceum.FieldError, err error) {
	defer f.content.Close()
	if err := r.expect(ctx, f); err != nil {
		return nil, err
	}
	s := r.service
	part, err := s.files.Part(ctx, f.ContentName(r.by.School))
	if err != nil {
		return nil, err
	}
	begun := part.Size() > 0
	err = r.send(ctx, part, f)
	if lyceum.KindOf(err) == lyceum.Invalid && begun && part.Size() == 0 { // the bytes from before were at fault
		err = r.send(ctx, part, f)
	}
	err = errors.Join(err, part.Close())
	if kind := lyceum.KindOf(err); err != nil && (kind == lyceum.Invalid || kind == lyceum.TooLarge) {
		return &lyceum.FieldError{Field: "file", Message: "cannot be imported: " + lyceum.Public(err).Detail}, nil
	}
	return nil, err
}

// expect creates the upload, unless an interrupted import already has.
func (r *UploadRows) expect(ctx context.Context, f *importedFile) error {
	now := lyceum.Second(r.service.clock())
	return r.service.store.Write(ctx, r.by.Stamp(now), func(tx lyceum.Tx) error {
		there, found, err := tx.Uploads.First(tx, lyceum.UploadFilter{UUID: lyceum.Some(f.UUID)})
		if err != nil {
			return err
		}
		if found {
			f.Upload = there
			return nil
		}
		id, err := tx.Uploads.NextID(tx)
		if err != nil {
			return err
		}
		f.ID, f.ExpiresAt = id, now.Add(lyceum.UploadLifetime)
		if f.CreatedAt.IsZero() {
			f.CreatedAt = now
		}
		return tx.Uploads.Insert(tx, f.Upload)
	})
}

// send sends the part of a file that has not been received.
func (r *UploadRows) send(ctx context.Context, part lyceum.FilePart, f *importedFile) error {
	sent := SentFile{First: part.Size(), Length: f.size - part.Size(), Total: lyceum.Some(f.size), Sum: f.sum}
	if sent.Length < 0 {
		if err := part.Restart(ctx); err != nil {
			return err
		}
		sent.First, sent.Length = 0, f.size
	}
	if _, err := f.content.Seek(sent.First, io.SeekStart); err != nil {
		return err
	}
	received := ReceivedFile{Upload: f.Upload}
	return r.service.takePart(ctx, r.by.School, &received, part, &sent, withContext{f.content, ctx})
}

// EachUpload calls visit with the uploads of a school that have a file, by ascending id. It
// holds no snapshot, so visit may be slow.
func (s *Service) EachUpload(ctx context.Context, by lyceum.By, visit func(*lyceum.UploadRow) error) error {
	return s.eachKept(ctx, by.School, func(_ lyceum.SchoolID, u *lyceum.Upload) error {
		return visit(&lyceum.UploadRow{Upload: *u, File: u.UUID[:2] + "/" + u.UUID})
	})
}

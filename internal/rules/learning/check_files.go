package learning

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// CheckedFiles is the result of CheckFiles.
type CheckedFiles struct {
	Files int64            // uploads that have a file
	Wrong []lyceum.Finding // missing or changed files, at most 1,000

	Orphans     int64 // files older than lyceum.UnusedUpload that belong to no upload
	OrphanBytes int64
	Orphan      lyceum.FileName // one of them
}

const mostFindings = 1000

// CheckFiles compares the uploads of all schools with the stored files: their size and, if deep,
// their content. It calls done with the number of files compared so far. Without a file store
// there is nothing to compare.
func (s *Service) CheckFiles(ctx context.Context, deep bool, done func(files int64)) (found CheckedFiles, err error) {
	if s.files == nil {
		return found, nil
	}
	err = s.EachKept(ctx, func(school lyceum.SchoolID, u *lyceum.Upload) error {
		wrong, err := s.wrongWith(ctx, school, u, deep)
		if err != nil {
			return err
		}
		if wrong != "" && len(found.Wrong) < mostFindings {
			found.Wrong = append(found.Wrong, lyceum.Finding{School: school, What: wrong})
		}
		found.Files++
		done(found.Files)
		return nil
	})
	if err != nil {
		return found, err
	}
	old := s.clock().Add(-lyceum.UnusedUpload)
	err = s.files.Each(ctx, "", func(f lyceum.StoredFile) error {
		if f.At.After(old) {
			return nil
		}
		of, err := s.uploadOf(ctx, f.Name)
		if err != nil || of.StoredAs == lyceum.Some(f.Name) || of.ReceivedAt.Present && f.Name.IsThumbnail() {
			return err
		}
		found.Orphans, found.OrphanBytes, found.Orphan = found.Orphans+1, found.OrphanBytes+f.Size, f.Name
		return nil
	})
	return found, err
}

// EachKept calls visit with each upload that has a file, in all schools, until visit fails.
func (s *Service) EachKept(ctx context.Context, visit func(lyceum.SchoolID, *lyceum.Upload) error) error {
	schools, err := s.store.FindSchools(ctx)
	if err != nil {
		return err
	}
	for i := range schools {
		if err := s.eachKept(ctx, schools[i].ID, visit); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) eachKept(
	ctx context.Context, school lyceum.SchoolID, visit func(lyceum.SchoolID, *lyceum.Upload) error,
) error {
	for after := lyceum.UploadID(0); ; {
		v := s.store.In(ctx, school)
		part, err := firstOf(v.Uploads, v, lyceum.UploadFilter{After: lyceum.Some(after)}, checkedAtOnce)
		if err != nil || len(part) == 0 {
			return err
		}
		after = part[len(part)-1].ID
		for i := range part {
			if !part[i].ReceivedAt.Present {
				continue
			}
			if err := visit(school, &part[i]); err != nil {
				return err
			}
		}
	}
}

const checkedAtOnce = 1000 // uploads that are read before their files are checked

// firstOf returns the first rows that pass, at most most.
func firstOf[ID lyceum.Key, T, F any](
	rows lyceum.Table[ID, T, F], from lyceum.Source, f F, most int,
) (first []T, err error) {
	err = rows.Each(from, f, func(row *T) error {
		if len(first) == most {
			return errEnough
		}
		first = append(first, *row)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return first, err
}

var errEnough = errors.New("these rows are enough")

// wrongWith describes what is wrong with the file of an upload. It returns nothing if the file
// was removed meanwhile.
func (s *Service) wrongWith(
	ctx context.Context, school lyceum.SchoolID, u *lyceum.Upload, deep bool,
) (wrong string, err error) {
	wrong, err = s.compared(ctx, u, deep)
	if wrong == "" || err != nil {
		return "", err
	}
	v := s.store.In(ctx, school)
	now, err := v.Uploads.Find(v, u.ID)
	if err != nil || now[u.ID].StoredAs != u.StoredAs {
		return "", err
	}
	return fmt.Sprintf("the file of upload %d, %s for %s %d, %s", u.ID, u.Purpose.Name(), u.TargetType.Name(),
		u.TargetID, wrong), nil
}

func (s *Service) compared(ctx context.Context, u *lyceum.Upload, deep bool) (wrong string, err error) {
	content, err := s.files.Open(ctx, u.StoredAs.Value)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return fmt.Sprintf("is missing: %s", u.StoredAs.Value), nil
	}
	if err != nil {
		return "", err
	}
	defer content.Close()
	size, err := content.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	if size != u.SizeInBytes.Value {
		return fmt.Sprintf("has %d bytes and should have %d: %s", size, u.SizeInBytes.Value, u.StoredAs.Value), nil
	}
	if !deep {
		return "", nil
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, withContext{content, ctx}); err != nil {
		return "", err
	}
	if hex.EncodeToString(hash.Sum(nil)) != u.Checksum.Value {
		return fmt.Sprintf("was changed: %s", u.StoredAs.Value), nil
	}
	return "", nil
}

// withContext is a reader that stops when its context is done.
type withContext struct {
	io.Reader

	ctx context.Context //nolint:containedctx // of the call
}

func (r withContext) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// uploadOf returns the upload that a file was sent for, or a zero upload if there is none.
func (s *Service) uploadOf(ctx context.Context, name lyceum.FileName) (u lyceum.Upload, err error) {
	school, rest, _ := strings.Cut(string(name), "/")
	_, rest, _ = strings.Cut(rest, "/")
	id, _ := strconv.ParseInt(school, 10, 32) // 0, the id of no school, if it is not a number
	lyceum.EachUUID(rest, func(uuid string) {
		v := s.store.In(ctx, lyceum.SchoolID(id))
		u, _, err = v.Uploads.First(v, lyceum.UploadFilter{UUID: lyceum.Some(uuid)})
	})
	return u, err
}

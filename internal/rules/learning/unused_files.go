package learning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Limits for one step of SweepFiles.
const (
	sweptAtOnce   = 10_000 // uploads that are searched for in one pass over a school
	droppedAtOnce = 50     // uploads in one change
	droppedUnseen = 500    // uploads that are removed before the school is searched again
)

// inHand are the uploads whose file this process is receiving or removing.
type inHand struct {
	mu    sync.Mutex
	uuids map[string]bool
}

// take claims an upload, and reports whether it was free. The caller must release it.
func (h *inHand) take(uuid string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.uuids[uuid] {
		return false
	}
	if h.uuids == nil {
		h.uuids = map[string]bool{}
	}
	h.uuids[uuid] = true
	return true
}

func (h *inHand) release(uuid string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.uuids, uuid)
}

// SweepFiles removes the files of a school that are at least a day old and that nothing refers
// to, and the remains of uploads that were not finished.
func (s *Service) SweepFiles(ctx context.Context, school lyceum.SchoolID) error {
	if s.files == nil {
		return nil
	}
	for after := lyceum.UploadID(0); ; {
		v := s.store.In(ctx, school)
		next, err := firstOf(v.Uploads, v, lyceum.UploadFilter{After: lyceum.Some(after)}, sweptAtOnce)
		if err != nil || len(next) == 0 {
			return err
		}
		after = next[len(next)-1].ID
		until := s.clock().Add(-lyceum.UnusedUpload)
		old := slices.DeleteFunc(next, func(u lyceum.Upload) bool { return u.ReceivedAt.Else(u.ExpiresAt).After(until) })
		unused, err := s.unused(ctx, school, old)
		for len(unused) > 0 && err == nil {
			n := min(len(unused), droppedUnseen)
			for part := range slices.Chunk(unused[:n], droppedAtOnce) {
				if err := s.drop(ctx, school, part); err != nil {
					return err
				}
			}
			// removing takes long, so others may be in use by now
			unused, err = s.unused(ctx, school, unused[n:])
		}
		if err != nil {
			return err
		}
	}
}

// unused returns those of some uploads that nothing in the school mentions.
func (s *Service) unused(
	ctx context.Context, school lyceum.SchoolID, old []lyceum.Upload,
) (unused []lyceum.Upload, err error) {
	missed := mentions{}
	for i := range old {
		if old[i].ReceivedAt.Present {
			missed[old[i].UUID], missed[old[i].Checksum.Value] = false, false
		}
	}
	if len(missed) > 0 {
		if err := s.store.AtOnce(ctx, school, func(v lyceum.View) error { return missed.inSchool(v) }); err != nil {
			return nil, err
		}
	}
	for i := range old {
		if !missed.either(&old[i]) {
			unused = append(unused, old[i])
		}
	}
	return unused, nil
}

// mentions records whether the UUIDs and checksums of uploads were mentioned.
type mentions map[string]bool

// either reports whether an upload was mentioned.
func (m mentions) either(u *lyceum.Upload) bool { return m[u.UUID] || m[u.Checksum.Value] }

func (m mentions) note(name string) {
	if _, wanted := m[name]; wanted {
		m[name] = true
	}
}

func (m mentions) inSchool(v lyceum.View) error {
	for _, rows := range referring(v.Tables) {
		if err := rows.each(v, m.in); err != nil {
			return err
		}
	}
	return nil
}

// mentionedIn records what rows mention.
func mentionedIn[ID lyceum.Key, T, F any](
	m mentions, from lyceum.Source, rows lyceum.Table[ID, T, F], filter F,
) error {
	return rows.Each(from, filter, func(row *T) error {
		return m.in(row)
	})
}

// in records what a row mentions, in any field.
func (m mentions) in(row any) error {
	text, err := json.Marshal(row)
	lyceum.EachUUID(string(text), m.note)
	lyceum.EachChecksum(string(text), m.note)
	return err
}

// drop removes the files of uploads, unless they are in use by now, and then the uploads. The
// uploads are deleted last, so that an interrupted drop is repeated.
func (s *Service) drop(ctx context.Context, school lyceum.SchoolID, part []lyceum.Upload) error {
	var taken []lyceum.Upload
	for _, u := range part {
		if s.hand.take(u.UUID) {
			defer s.hand.release(u.UUID)
			taken = append(taken, u)
		}
	}
	err := s.eachStill(ctx, school, taken, func(tx lyceum.Tx, u lyceum.Upload) error {
		used := mentions{u.UUID: false, u.Checksum.Value: false}
		if err := used.byTarget(tx, &u); err != nil || used.either(&u) || !u.ReceivedAt.Present {
			return err
		}
		u.ReceivedAt, u.StoredAs = lyceum.None[time.Time](), lyceum.None[lyceum.FileName]()
		u.SizeInBytes, u.Checksum, u.Duration = lyceum.None[int64](), lyceum.None[string](), lyceum.None[int32]()
		return tx.Uploads.Update(tx, u)
	})
	if err != nil {
		return err
	}
	var gone []lyceum.Upload
	for _, u := range taken {
		if there, err := s.dropContents(ctx, school, &u); err != nil {
			return err
		} else if !there {
			gone = append(gone, u)
		}
	}
	return s.eachStill(ctx, school, gone, func(tx lyceum.Tx, u lyceum.Upload) error {
		if u.ReceivedAt.Present {
			return nil
		}
		return tx.Uploads.Delete(tx, u.ID)
	})
}

// eachStill changes those of some uploads that still exist.
func (s *Service) eachStill(
	ctx context.Context, school lyceum.SchoolID, uploads []lyceum.Upload, change func(lyceum.Tx, lyceum.Upload) error,
) error {
	if len(uploads) == 0 {
		return nil
	}
	by := lyceum.Stamp{School: school, At: lyceum.Second(s.clock()), Actor: "clock"}
	return s.store.Write(ctx, by, func(tx lyceum.Tx) error {
		for i := range uploads {
			u, err := tx.Uploads.Get(tx, uploads[i].ID)
			if lyceum.KindOf(err) == lyceum.NotFound {
				continue
			}
			if err == nil {
				err = change(tx, u)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// byTarget records whether the target of an upload mentions it.
func (m mentions) byTarget(tx lyceum.Tx, u *lyceum.Upload) error {
	switch u.TargetType {
	case lyceum.CourseUpload:
		return mentionedAt(m, tx, tx.Courses, lyceum.CourseID(u.TargetID))
	case lyceum.CollectionUpload:
		return mentionedAt(m, tx, tx.ProductCollections, lyceum.ProductCollectionID(u.TargetID))
	case lyceum.DownloadUpload:
		return errors.Join(
			mentionedAt(m, tx, tx.DigitalDownloads, lyceum.DigitalDownloadID(u.TargetID)),
			mentionedIn(m, tx, tx.DownloadAttachments, attachmentsOfDownload(lyceum.DigitalDownloadID(u.TargetID))),
		)
	case lyceum.LectureUpload:
		return mentionedIn(m, tx, tx.Attachments, lyceum.AttachmentFilter{Lecture: lyceum.Some(lyceum.LectureID(u.TargetID))})
	case lyceum.MembershipUpload:
		return mentionedAt(m, tx, tx.Memberships, lyceum.MembershipID(u.TargetID))
	case lyceum.CoachingUpload:
		return mentionedAt(m, tx, tx.Coaching, lyceum.CoachingID(u.TargetID))
	}
	return fmt.Errorf("upload %d is for a %q", u.ID, u.TargetType)
}

func mentionedAt[ID lyceum.Key, T, F any](
	m mentions, tx lyceum.Tx, rows lyceum.Table[ID, T, F], id ID,
) error {
	found, err := rows.Find(tx, id)
	if row, there := found[id]; there {
		err = errors.Join(err, m.in(row))
	}
	return err
}

// dropContents removes what was sent for an upload, unless the upload has a file.
func (s *Service) dropContents(ctx context.Context, school lyceum.SchoolID, u *lyceum.Upload) (has bool, err error) {
	v := s.store.In(ctx, school)
	now, err := v.Uploads.Find(v, u.ID)
	if err != nil || now[u.ID].ReceivedAt.Present {
		return true, err
	}
	err = s.files.Each(ctx, u.ContentName(school), func(f lyceum.StoredFile) error {
		return s.files.Remove(ctx, f.Name)
	})
	return false, errors.Join(err, s.files.Remove(ctx, u.ContentName(school)))
}

// Package learning has the rules for a school's courses and other products, and for what they
// are sold by: pricing plans, coupons, affiliates and authors. It decides who sees them, what
// enrolling, completing and expiring mean, and which rows may be imported.
//
// It must not know HTTP, SQL or a file format.
package learning

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Service has the rules for products, pricing plans and what learners do.
type Service struct {
	store lyceum.Store
	clock func() time.Time
	ring  *lyceum.Keyring  // signs links to files
	base  string           // URL of the server, with which links begin
	files lyceum.FileStore // nil: no uploads
	hand  inHand
	busy  receiving

	thumbnails thumbnails
}

// New returns a service that uses a store.
func New(store lyceum.Store, clock func() time.Time) *Service {
	return &Service{store: store, clock: clock, thumbnails: thumbnails{turn: make(chan struct{}, 1)}}
}

// SignLinks sets the keyring that signs links to files, and the URL of the server, with which
// they begin. Without any key, links are valid only in this process, until the server stops.
func (s *Service) SignLinks(ring *lyceum.Keyring, base string) *Service {
	s.ring, s.base = ring, base
	if len(ring.Keys()) == 0 {
		var key lyceum.SecretKey
		_, _ = rand.Read(key[:]) // crypto/rand.Read never fails
		s.ring = lyceum.NewKeyring(key)
	}
	return s
}

// EachCourse visits the courses of a school by ascending id, all from one snapshot.
func (s *Service) EachCourse(ctx context.Context, by lyceum.By, visit func(*lyceum.Course) error) error {
	v := s.store.In(ctx, by.School)
	if _, err := v.GetSchool(); err != nil {
		return err
	}
	return v.Courses.Each(v, lyceum.CourseFilter{}, visit)
}

// ImportCourses begins an import of courses. What a row leaves out (heading, description, image,
// author, certificate, times, whether the course is listed, archived or has ordered lectures)
// stays unchanged for a known course. A new one is created now, listed and unordered.
func (s *Service) ImportCourses(by lyceum.By) *Rows[lyceum.CourseRow] {
	type row = lyceum.CourseRow
	return &Rows[row]{s, by, shape[row]{
		what: "courses",
		names: []reference[row]{
			{"author_bio_id", "author", lyceum.AuthorSequence, func(c *row) int32 { return int32(c.AuthorID.Value) }},
		},
		look: takenAddresses,
		save: func(tx lyceum.Tx, rows []row, now time.Time) (lyceum.Saved, error) {
			ids := make([]lyceum.CourseID, len(rows))
			for n := range rows {
				ids[n] = rows[n].ID
			}
			kept, err := tx.Courses.Find(tx, ids...)
			if err != nil {
				return lyceum.Saved{}, err
			}
			courses := make([]lyceum.Course, len(rows))
			for n := range rows {
				old, there := kept[rows[n].ID]
				if !there {
					old = lyceum.Course{IsListed: true}
				}
				courses[n] = completeCourse(&rows[n], &old, now)
			}
			return tx.Courses.Save(tx, courses...)
		},
	}}
}

// completeCourse fills in what a row leaves out.
func completeCourse(row *lyceum.CourseRow, old *lyceum.Course, now time.Time) lyceum.Course {
	c := row.Course
	c.CreatedAt = firstTime(c.CreatedAt, old.CreatedAt, lyceum.Second(now))
	c.UpdatedAt = firstTime(c.UpdatedAt, old.UpdatedAt, c.CreatedAt)
	keep(&c.Heading, old.Heading)
	keep(&c.Description, old.Description)
	keep(&c.ImageURL, old.ImageURL)
	keep(&c.AuthorID, old.AuthorID)
	keep(&c.Certificate, old.Certificate)
	keep(&c.Compliance.Videos, old.Compliance.Videos)
	keep(&c.Compliance.Quizzes, old.Compliance.Quizzes)
	keep(&c.Compliance.Score, old.Compliance.Score)
	keep(&c.Compliance.Retakes, old.Compliance.Retakes)
	keep(&c.Compliance.Issues, old.Compliance.Issues)
	keep(&c.ArchivedAt, old.ArchivedAt)
	keep(&c.FriendlyURL, old.FriendlyURL)
	c.IsListed, c.LectureOrder = old.IsListed, old.LectureOrder
	if row.Listed.Present {
		c.IsListed = row.Listed.Value
	}
	if row.Ordered.Present {
		c.LectureOrder = row.Ordered.Value
	}
	return c
}

// keep restores the old value if a row leaves it out.
func keep[T comparable](to *lyceum.Opt[T], old lyceum.Opt[T]) {
	if !to.Present {
		*to = old
	}
}

// firstTime returns the first time that is set.
func firstTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

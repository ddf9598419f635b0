package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv1"
	v2 "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// firstUnknownAuthor is the first id for authors whose own ids are unknown: beyond all ids
// that are assigned.
const firstUnknownAuthor lyceum.AuthorID = 2_000_000_000

// more is what only version 2 returns about a course.
type more struct {
	author               lyceum.Opt[lyceum.AuthorID]
	listed               bool
	createdAt, updatedAt time.Time
}

// courses copies the courses with all their contents.
func (m *mirror) courses(ctx context.Context) error {
	extra, err := m.moreOfCourses(ctx)
	if err != nil {
		return err
	}
	ids, err := m.courseIDs(ctx)
	if err != nil {
		return err
	}
	unknown := map[lyceum.AuthorProfile]lyceum.AuthorID{}
	for _, id := range ids {
		var one gen.OneCourse
		found, err := m.listed(ctx, fmt.Sprintf("course %d", id), fmt.Sprintf("/v1/courses/%d", id), &one)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		known, hasMore := extra[id]
		author := authorOf(&one.Course.AuthorBio, known, hasMore, unknown)
		if int64(id) <= m.State.Cursor { // copied already; only the numbering of authors is repeated
			continue
		}
		if err := m.course(ctx, &one.Course, author, known, hasMore); err != nil {
			return err
		}
		if err := m.reached(ctx, int64(id)); err != nil {
			return err
		}
	}
	return nil
}

func (m *mirror) courseIDs(ctx context.Context) ([]int32, error) {
	return idsOf(ctx, m.client, "/v1/courses", func(list *gen.CourseList) (meta *gen.PaginationMeta, ids []int32) {
		for _, c := range list.Courses {
			ids = append(ids, c.ID)
		}
		return &list.Meta, ids
	})
}

// moreOfCourses requests the courses from version 2, if the key has access to it. Like idsOf, it
// misses none.
func (m *mirror) moreOfCourses(ctx context.Context) (map[int32]more, error) {
	all := map[int32]more{}
	for again := true; again; {
		before := len(all)
		if known, err := m.addMore(ctx, all); err != nil || !known {
			return nil, err
		}
		again = len(all) > max(before, per)
	}
	return all, nil
}

// addMore adds the courses of version 2, and reports whether the key has access to them.
func (m *mirror) addMore(ctx context.Context, all map[int32]more) (known bool, err error) {
	for page := 1; ; page++ {
		var list v2.CourseList
		query := url.Values{"page": {strconv.Itoa(page)}, "per_page": {strconv.Itoa(per)}}
		err := m.client.get(ctx, "/v2/products/courses", query, &list)
		if kind := lyceum.KindOf(err); err != nil &&
			(errors.Is(err, errNotThere) || kind == lyceum.Forbidden || kind == lyceum.Invalid) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		for _, c := range list.Data {
			all[c.ID] = more{wire.OptNumber[lyceum.AuthorID](c.AuthorBioID), c.IsListed, c.CreatedAt, c.UpdatedAt}
		}
		if page >= int(list.Meta.TotalPages) || len(list.Data) == 0 {
			return true, nil
		}
	}
}

// authorOf returns the author of a course. If the id is unknown, equal biographies count
// as one author.
func authorOf(
	bio *gen.AuthorBio, known more, hasMore bool, unknown map[lyceum.AuthorProfile]lyceum.AuthorID,
) lyceum.Opt[lyceum.AuthorProfile] {
	author := lyceum.AuthorProfile{
		Name: lyceum.Some(bio.Name), Bio: wire.Opt(bio.Bio), ProfileImageURL: wire.Opt(bio.ProfileImageURL),
		UserID: wire.OptNumber[lyceum.UserID](bio.UserID),
	}
	switch {
	case hasMore && !known.author.Present:
		return lyceum.None[lyceum.AuthorProfile]()
	case hasMore:
		author.ID = known.author.Value
	default:
		id, there := unknown[author]
		if !there {
			id = firstUnknownAuthor + lyceum.AuthorID(len(unknown))
			unknown[author] = id
		}
		author.ID = id
	}
	return lyceum.Some(author)
}

// course saves a course with its author, sections, lectures and attachments.
func (m *mirror) course(
	ctx context.Context,
	c *gen.CourseDetail,
	author lyceum.Opt[lyceum.AuthorProfile],
	known more,
	hasMore bool,
) error {
	row := lyceum.CourseRow{Course: lyceum.Course{
		ID: lyceum.CourseID(c.ID), Name: c.Name, Heading: wire.Opt(c.Heading), Description: wire.Opt(c.Description),
		IsPublished: c.IsPublished, ImageURL: wire.Opt(c.ImageURL),
		CreatedAt: known.createdAt, UpdatedAt: known.updatedAt,
	}}
	if hasMore {
		row.Listed = lyceum.Some(known.listed)
	}
	var err error
	if row.ImageURL.Present {
		of := placed{lyceum.CourseUpload, c.ID, lyceum.ThumbnailUpload, "", fmt.Sprintf("course %d", c.ID)}
		if row.ImageURL.Value, err = m.file(ctx, of, row.ImageURL.Value); err != nil {
			return err
		}
	}
	if author.Present {
		row.AuthorID = lyceum.Some(author.Value.ID)
		if err := m.author(ctx, author.Value); err != nil {
			return err
		}
	}
	err = keep(
		ctx, m, m.Learning.ImportCourses(m.by()), "course",
		func(c *lyceum.CourseRow) string { return strconv.Itoa(int(c.ID)) }, row,
	)
	if err != nil {
		return err
	}
	var sections []lyceum.LectureSection
	var places []gen.LectureSummary
	var lectures []lyceum.Lecture
	for _, s := range c.LectureSections {
		sections = append(sections, lyceum.LectureSection{
			ID: lyceum.LectureSectionID(s.ID), Course: row.ID, Name: s.Name, IsPublished: s.IsPublished, Position: s.Position,
		})
		for _, l := range s.Lectures {
			places = append(places, l)
			lectures = append(lectures, lyceum.Lecture{
				ID: lyceum.LectureID(l.ID), Course: row.ID, Section: lyceum.LectureSectionID(s.ID), IsPublished: l.IsPublished,
				Position: l.Position,
			})
		}
	}
	attachments := make([][]lyceum.Attachment, len(lectures))
	err = together(ctx, len(places), m.Parallel, func(ctx context.Context, i int) (err error) {
		attachments[i], err = m.lecture(ctx, &lectures[i])
		return err
	})
	if err != nil {
		return err
	}
	lectures = slices.DeleteFunc(lectures, func(l lyceum.Lecture) bool { return l.ID == 0 })
	for i := range attachments {
		if err := m.filesOf(ctx, attachments[i]); err != nil {
			return err
		}
	}
	return m.contents(ctx, sections, lectures, attachments)
}

// filesOf downloads the files of attachments, one at a time.
func (m *mirror) filesOf(ctx context.Context, attachments []lyceum.Attachment) (err error) {
	for i := range attachments {
		a := &attachments[i]
		of := placed{
			lyceum.LectureUpload, int32(a.Lecture), lyceum.AttachmentUpload, a.FileExtension.Value,
			fmt.Sprintf("attachment %d", a.ID),
		}
		for _, address := range []*string{&a.URL.Value, &a.Video.Value.URL} {
			if *address == "" {
				continue
			}
			if *address, err = m.file(ctx, of, *address); err != nil {
				return err
			}
		}
	}
	return nil
}

// author saves an author, without the user if they don't exist here: the other server
// still names erased ones.
func (m *mirror) author(ctx context.Context, row lyceum.AuthorProfile) error {
	v := m.Store.In(ctx, m.School)
	if row.UserID.Present {
		known, err := v.UserSummaries.Find(v, row.UserID.Value)
		if err != nil {
			return err
		}
		if len(known) == 0 {
			row.UserID = lyceum.None[lyceum.UserID]()
		}
	}
	return keep(
		ctx, m, m.Learning.ImportAuthors(m.by()), "author",
		func(a *lyceum.AuthorProfile) string { return strconv.Itoa(int(a.ID)) }, row,
	)
}

func (m *mirror) contents(
	ctx context.Context,
	sections []lyceum.LectureSection,
	lectures []lyceum.Lecture,
	attachments [][]lyceum.Attachment,
) error {
	err := keep(
		ctx, m, m.Learning.ImportLectureSections(m.by()), "lecture section",
		func(s *lyceum.LectureSection) string { return strconv.Itoa(int(s.ID)) }, sections...,
	)
	if err != nil {
		return err
	}
	err = keep(
		ctx, m, m.Learning.ImportLectures(m.by()), "lecture",
		func(l *lyceum.Lecture) string { return strconv.Itoa(int(l.ID)) }, lectures...,
	)
	if err != nil {
		return err
	}
	var all []lyceum.Attachment
	for _, some := range attachments {
		all = append(all, some...)
	}
	return keep(
		ctx, m, m.Learning.ImportAttachments(m.by()), "attachment",
		func(a *lyceum.Attachment) string { return strconv.Itoa(int(a.ID)) }, all...,
	)
}

// lecture requests the name and the attachments of a lecture. A lecture that no longer
// exists gets no id.
func (m *mirror) lecture(ctx context.Context, l *lyceum.Lecture) ([]lyceum.Attachment, error) {
	path := fmt.Sprintf("/v1/courses/%d/lectures/%d", l.Course, l.ID)
	var one gen.OneLecture
	found, err := m.listed(ctx, fmt.Sprintf("lecture %d", l.ID), path, &one)
	if !found {
		l.ID = 0
		return nil, err
	}
	l.Name = lyceum.Opt[string]{Value: one.Lecture.Name, Present: one.Lecture.Name != ""}
	all := make([]lyceum.Attachment, len(one.Lecture.Attachments))
	for i, a := range one.Lecture.Attachments {
		all[i] = lyceum.Attachment{
			ID: lyceum.AttachmentID(a.ID), Lecture: l.ID, Name: wire.Opt(a.Name), Kind: lyceum.AttachmentKind(a.Kind),
			URL: wire.Opt(a.URL), Text: wire.Opt(a.Text), Position: wire.Opt(a.Position),
			FileSize: wire.Opt(a.FileSize), FileExtension: wire.Opt(a.FileExtension),
		}
		switch {
		case a.Quiz != nil && all[i].Kind == lyceum.QuizAttachment:
			all[i].Quiz = &lyceum.Quiz{ID: lyceum.QuizID(a.Quiz.ID), Questions: questions(a.Quiz.Questions)}
		case all[i].Kind == lyceum.VideoAttachment:
			if all[i].Video, err = m.video(ctx, path, a.ID); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func questions(plain []gen.QuizQuestion) lyceum.Questions {
	all := make([]lyceum.PlainQuestion, len(plain))
	for i, q := range plain {
		all[i] = lyceum.PlainQuestion(q)
	}
	return lyceum.PlainQuestions(all...)
}

// video requests a video, which may still be processing.
func (m *mirror) video(ctx context.Context, lecture string, id int32) (lyceum.Opt[lyceum.Video], error) {
	var one gen.OneVideo
	err := m.client.get(ctx, fmt.Sprintf("%s/videos/%d", lecture, id), nil, &one)
	v := one.Video
	if errors.Is(err, errNotThere) || err == nil && v.VideoAsset.URL == "" {
		return lyceum.None[lyceum.Video](), nil
	}
	return lyceum.Some(lyceum.Video{
		URL: v.VideoAsset.URL, ContentType: v.VideoAsset.ContentType, Status: lyceum.VideoStatus(v.Status),
		Thumbnail: wire.Opt(v.URLThumbnail), Duration: wire.Opt(v.MediaDuration),
	}), err
}

package learning

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// Lifetimes of links to files.
const (
	learnerLinkLifetime = 10 * time.Minute
	keyLinkLifetime     = 24 * time.Hour
)

// FileOf is the kind of thing that a file belongs to.
type FileOf string

// Kinds of things that files belong to.
const (
	DownloadFiles FileOf = "digital-downloads" // an attachment of a digital download
	LectureFiles  FileOf = "lectures"          // an attachment of a lecture
	VideoFiles    FileOf = "videos"            // what is played of such an attachment, if that is another file
)

// FileLink is a link to the file of an attachment, for one learner or for the programs with one
// API key. It works until it expires, and only while the learner or the key has access.
type FileLink struct {
	KeyHolder // empty: the link is for a learner

	School    lyceum.SchoolID
	Of        FileOf
	ID        int32         // of the attachment
	User      lyceum.UserID // 0: the link is for an API key
	Until     time.Time     // a whole second
	Signature string
}

// Address returns the path and query of a link, relative to the URL of the server.
func (l *FileLink) Address() string {
	holder := l.query()
	if l.User != 0 {
		holder = fmt.Sprintf("user=%d&", l.User)
	}
	return fmt.Sprintf("/files/%d/links/%s/%d?%suntil=%d&signature=%s",
		l.School, l.Of, l.ID, holder, l.Until.Unix(), l.Signature)
}

const fileLinkPurpose = "file link"

// text returns the string that is signed.
func (l *FileLink) text() string {
	text := fmt.Sprintf("%d %s %d %d %d %d", l.School, l.Of, l.ID, l.User, l.Key, l.Until.Unix())
	if l.Role != "" {
		text += " " + string(l.Role)
	}
	return text
}

// linkTo makes a link for the caller, who must have access.
func (s *Service) linkTo(by lyceum.By, of FileOf, id int32) FileLink {
	l := FileLink{School: by.School, Of: of, ID: id, User: by.Learner.Value, KeyHolder: holderOf(by)}
	lifetime := keyLinkLifetime
	if by.Learner.Present {
		l.KeyHolder, lifetime = KeyHolder{}, learnerLinkLifetime
	}
	l.Until = lyceum.Second(s.clock().Add(lifetime))
	l.Signature, _ = s.ring.Sign(fileLinkPurpose, l.text())
	return l
}

// LinkedFile is the file that a link leads to.
type LinkedFile struct {
	URL      string // its permanent address
	Filename lyceum.Opt[string]
	Shown    bool                      // inline in the browser, if its type allows that
	Kept     lyceum.Opt[lyceum.Upload] // present if the file is stored here
}

var errBadLink = lyceum.Errorf(lyceum.Forbidden, "this link is not valid; ask for a new one")

// OpenLink returns the file of a link. It fails with Forbidden if the signature is not valid,
// the link has expired, or its learner or API key no longer has access, and with NotFound if the
// attachment was deleted.
func (s *Service) OpenLink(ctx context.Context, l FileLink) (file LinkedFile, err error) {
	switch now := s.clock(); {
	case !s.ring.Verify(fileLinkPurpose, l.text(), l.Signature):
		return file, errBadLink
	case !now.Before(l.Until):
		return file, lyceum.Errorf(lyceum.Forbidden, "this link has expired; ask for a new one")
	}
	err = s.store.AtOnce(ctx, l.School, func(v lyceum.View) error {
		if err := s.linkHolder(v, &l); err != nil {
			return err
		}
		switch l.Of {
		case DownloadFiles:
			file, err = s.linkedDownload(v, &l)
		case LectureFiles, VideoFiles:
			file, err = s.linkedAttachment(v, &l)
		default:
			err = errBadLink
		}
		if err != nil {
			return err
		}
		file.Kept, err = keptAt(v, file.URL)
		return err
	})
	return file, err
}

// OpenKept opens the stored file of a link.
func (s *Service) OpenKept(ctx context.Context, file LinkedFile) (KeptFile, error) {
	return s.open(ctx, file.Kept.Value)
}

// keptAt returns the upload at an address, if it is one of this school.
func keptAt(v lyceum.View, address string) (kept lyceum.Opt[lyceum.Upload], err error) {
	a, is := lyceum.ParseUploadAddress(address)
	if !is || a.School != v.School() {
		return kept, nil
	}
	u, found, err := findUpload(v.Tables, v, a)
	return lyceum.Opt[lyceum.Upload]{Value: u, Present: found && u.ReceivedAt.Present}, err
}

// linkHolder rejects a link of a learner who is disabled, erased or unknown, or of an API key
// that is no longer valid or has another role.
func (s *Service) linkHolder(v lyceum.View, l *FileLink) error {
	if l.User != 0 {
		user, err := v.Users.Get(v, l.User)
		if lyceum.KindOf(err) == lyceum.NotFound || err == nil && (user.DisabledAt.Present || user.Erased()) {
			return errBadLink
		}
		return err
	}
	works, err := l.works(v)
	if err == nil && !works {
		err = errBadLink
	}
	return err
}

// linkedDownload returns the file of a digital download's attachment, if the link's holder has
// access to it.
func (s *Service) linkedDownload(v lyceum.View, l *FileLink) (LinkedFile, error) {
	a, err := v.DownloadAttachments.Get(v, lyceum.DownloadAttachmentID(l.ID))
	if err != nil {
		return LinkedFile{}, err
	}
	if l.User != 0 {
		by := lyceum.By{School: l.School, Learner: lyceum.Some(l.User)}
		_, err = s.oneHeld(v, by, lyceum.Product{Kind: lyceum.DownloadKind, ID: int32(a.DigitalDownloadID)})
		err = accessEnded(err)
	}
	return LinkedFile{URL: a.URL, Filename: a.Filename}, err
}

// accessEnded turns NotFound into the error that access has ended, for something that a learner
// once had access to.
func accessEnded(err error) error {
	if lyceum.KindOf(err) == lyceum.NotFound {
		return lyceum.Errorf(lyceum.Forbidden, "access to this file has ended")
	}
	return err
}

// linkedAttachment returns the file of a lecture's attachment, if the link's holder can see it.
func (s *Service) linkedAttachment(v lyceum.View, l *FileLink) (LinkedFile, error) {
	a, err := v.Attachments.Get(v, lyceum.AttachmentID(l.ID))
	if err == nil && a.ArchivedAt.Present {
		err = lyceum.Errorf(lyceum.NotFound, "there is no attachment %d", a.ID)
	}
	if err != nil {
		return LinkedFile{}, err
	}
	lecture, err := liveLecture(v.Tables, v, a.Lecture)
	if err != nil {
		return LinkedFile{}, err
	}
	if l.User != 0 {
		by := lyceum.By{School: l.School, Learner: lyceum.Some(l.User)}
		_, err = bareLecture(v, by, lecture.Course, lecture.ID, s.clock())
		if err = accessEnded(err); err == nil && !a.IsPublished.Else(true) {
			err = accessEnded(noAttachment(InLecture{ID: a.ID}))
		}
	}
	address := a.URL.Value
	if l.Of == VideoFiles {
		address = a.Video.Value.URL
	}
	return LinkedFile{
		URL: address, Filename: a.Name, Shown: a.Kind != lyceum.FileAttachment || a.Embeddable.Value,
	}, err
}

// linkFiles replaces the addresses of files that are stored here with links for the caller.
func (s *Service) linkFiles(by lyceum.By, attachments ...lyceum.Attachment) {
	for i := range attachments {
		s.linkFile(by, &attachments[i])
	}
}

func (s *Service) linkFile(by lyceum.By, a *lyceum.Attachment) {
	played := LectureFiles
	if a.Video.Value.URL != a.URL.Value {
		played = VideoFiles
	}
	link := func(address *string, of FileOf) {
		if s.ours(by.School, *address) {
			l := s.linkTo(by, of, int32(a.ID))
			*address = s.base + l.Address()
		}
	}
	link(&a.URL.Value, LectureFiles)
	link(&a.Video.Value.URL, played)
}

// ours reports whether an address is that of a file of the given school on this server.
func (s *Service) ours(school lyceum.SchoolID, address string) bool {
	if s.base == "" || !strings.HasPrefix(address, s.base+"/files/") {
		return false
	}
	a, is := lyceum.ParseUploadAddress(address)
	return is && a.School == school
}

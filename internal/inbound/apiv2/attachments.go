package apiv2

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) attachments() []wire.Operation {
	const all, each = lecturePath + "/attachments", lecturePath + "/attachments/{attachment_id}"
	l := f.learning
	return []wire.Operation{
		many("listAttachments", all, 25, byLecture, l.Attachments, lectureAttachment),
		long(one("createAttachment", wire.Create, all, bindNewAttachment, l.CreateAttachment, lectureAttachment)),
		whole("reorderAttachments", wire.Put, all, bindAttachmentOrder, l.ReorderAttachments, lectureAttachment),
		one("showAttachment", wire.Get, each, byAttachment, l.OneAttachment, lectureAttachment),
		long(one("updateAttachment", wire.Patch, each, bindAttachmentChange, l.UpdateAttachment, lectureAttachment)),
		wire.None("deleteAttachment", wire.Delete, each, byAttachment, l.DeleteAttachment),
		one("showVideo", wire.Get, lecturePath+"/videos/{video_id}", bindVideo, f.showVideo, video),
	}
}

// maxLong is the maximum size of a body with a long string, in bytes: a character takes up
// to six.
const maxLong = 6*maxText + 64<<10

// long raises an operation's body limit to maxLong.
func long(op wire.Operation) wire.Operation {
	op.MaxBody = maxLong
	return op
}

func byAttachment(in *wire.Input) learning.InLecture {
	return learning.InLecture{Lecture: byLecture(in), ID: wire.PathID[lyceum.AttachmentID](in, "attachment_id")}
}

// The maximum lengths of strings, in characters (contract/v2/attachments.yaml).
const (
	maxText     = 100_000
	maxSyntax   = 50
	maxQuestion = 10_000
	maxAlt      = 2000
)

var newKinds = []lyceum.AttachmentKind{
	lyceum.TextAttachment, lyceum.EmbedAttachment, lyceum.CodeEmbedAttachment, lyceum.CodeDisplayAttachment,
	lyceum.OpenQuestionAttachment, lyceum.ImageAttachment, lyceum.VideoAttachment, lyceum.AudioAttachment,
	lyceum.PDFAttachment, lyceum.FileAttachment,
}

// bindNewAttachment binds an attachment and requires what its kind needs.
func bindNewAttachment(in *wire.Input) learning.NewAttachment {
	of := byLecture(in)
	a := lyceum.Attachment{
		Lecture:      of.ID,
		Kind:         wire.OneOf(in.Body("kind").Required(), newKinds...).Value,
		Embeddable:   in.Body("embeddable").Bool(),
		Downloadable: in.Body("downloadable").Bool(),
		CodeSyntax:   in.Body("code_syntax").Text(0, maxSyntax),
	}
	body := func(name string, kinds ...lyceum.AttachmentKind) wire.Field {
		if f := in.Body(name); !slices.Contains(kinds, a.Kind) {
			return f
		}
		return in.Body(name).Required()
	}
	a.Text = body("text", lyceum.TextAttachment, lyceum.CodeEmbedAttachment, lyceum.CodeDisplayAttachment).
		Text(0, maxText)
	a.URL = body("url", lyceum.EmbedAttachment).URL(maxURL)
	question := openQuestion{
		body("question", lyceum.OpenQuestionAttachment).Text(1, maxQuestion),
		in.Body("required").Bool(), in.Body("upload_enabled").Bool(), in.Body("img_url").URL(maxURL),
		in.Body("img_name").Text(0, maxTitle), in.Body("img_alt_text").Text(0, maxTitle),
	}
	question.apply(&a)
	bindFile(body("file", lyceum.ImageAttachment, lyceum.VideoAttachment, lyceum.AudioAttachment,
		lyceum.PDFAttachment, lyceum.FileAttachment), &a)
	return learning.NewAttachment{
		AttachmentDetail: learning.AttachmentDetail{Course: of.Course, Attachment: a}, QuestionFields: question.given(),
	}
}

// bindFile binds a file by its address, which is stored as a link. A video is played from
// there. A size that does not fit the contract's int32 is unknown.
func bindFile(f wire.Field, a *lyceum.Attachment) {
	member, given := f.Object()
	if !given {
		return
	}
	link, kind := member("url").Required().URL(maxURL), member("mimetype").Required().Text(1, maxTitle)
	a.URL, a.ContentType, a.Name = link, kind, member("filename").Text(0, maxTitle)
	if size := wire.Int[int64](member("size"), 0, lyceum.MaxFileBytes); size.Value <= math.MaxInt32 {
		a.FileSize = lyceum.Opt[int32]{Value: int32(size.Value), Present: size.Present}
	}
	if a.Name.Value == "" {
		a.Name = lastPart(link.Value)
	}
	if extension := strings.TrimPrefix(path.Ext(a.Name.Value), "."); extension != "" {
		a.FileExtension = lyceum.Some(extension)
	}
	if a.Kind == lyceum.VideoAttachment {
		a.Video = lyceum.Some(lyceum.Video{URL: link.Value, ContentType: kind.Value, Status: lyceum.VideoReady})
	}
}

// lastPart returns the last segment of a URL's path as the name of the file. If that is not text
// when it is decoded, it stays as it is written.
func lastPart(link string) lyceum.Opt[string] {
	u, err := url.Parse(link)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return lyceum.None[string]()
	}
	if name := path.Base(u.Path); lyceum.IsText(name) {
		return lyceum.Some(name)
	}
	return lyceum.Some(path.Base(u.EscapedPath()))
}

// openQuestion holds the members of a request about an open question.
type openQuestion struct {
	text             lyceum.Opt[string]
	required, upload lyceum.Opt[bool]
	url, name, alt   lyceum.Opt[string]
}

func (q *openQuestion) apply(a *lyceum.Attachment) {
	if *q == (openQuestion{}) {
		return
	}
	to := &a.Question.Value
	a.Question.Present = true
	to.Text, to.Required, to.Upload = q.text.Else(to.Text), q.required.Else(to.Required), q.upload.Else(to.Upload)
	change(&to.ImageURL, q.url)
	change(&to.ImageName, q.name)
	change(&to.ImageAlt, q.alt)
}

// given returns the names of the members that the request has.
func (q *openQuestion) given() (names []string) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"question", q.text.Present},
		{"required", q.required.Present},
		{"upload_enabled", q.upload.Present},
		{"img_url", q.url.Present},
		{"img_name", q.name.Present},
		{"img_alt_text", q.alt.Present},
	} {
		if f.given {
			names = append(names, f.name)
		}
	}
	return names
}

// change sets a field if the request has a value for it.
func change[T comparable](to *lyceum.Opt[T], requested lyceum.Opt[T]) {
	if requested.Present {
		*to = requested
	}
}

func bindAttachmentChange(in *wire.Input) learning.Edit[learning.InLecture, lyceum.Attachment] {
	id, embeddable, downloadable := byAttachment(in), in.Body("embeddable").Bool(), in.Body("downloadable").Bool()
	published, thumbnail := in.Body("is_published").Bool(), in.Body("thumbnail_url").URL(maxURL)
	alt, decorative := in.Body("alt_text").Text(0, maxAlt), in.Body("flagged_as_decorative").Bool()
	text, syntax := in.Body("text").Text(0, maxText), in.Body("code_syntax").Text(0, maxSyntax)
	var question openQuestion
	if member, given := in.Body("open_response_question").Object(); given {
		question = openQuestion{
			member("question").Text(1, maxQuestion), member("required").Bool(), member("upload_enabled").Bool(),
			member("img_url").URL(maxURL), member("img_name").Text(0, maxTitle), member("img_alt_text").Text(0, maxTitle),
		}
	}
	return learning.Edit[learning.InLecture, lyceum.Attachment]{ID: id, Apply: func(a *lyceum.Attachment) {
		set(&a.Embeddable, embeddable, false)
		set(&a.Downloadable, downloadable, false)
		set(&a.IsPublished, published, true)
		change(&a.Video.Value.Thumbnail, thumbnail)
		change(&a.AltText, alt)
		change(&a.Decorative, decorative)
		change(&a.Text, text)
		change(&a.CodeSyntax, syntax)
		question.apply(a)
	}}
}

func bindAttachmentOrder(
	in *wire.Input,
) learning.Reorder[learning.InCourse[lyceum.LectureID], lyceum.AttachmentID] {
	return learning.Reorder[learning.InCourse[lyceum.LectureID], lyceum.AttachmentID]{
		Of: byLecture(in), Places: bindPlaces[lyceum.AttachmentID](in),
	}
}

// lectureAttachment renders an attachment of a lecture.
func lectureAttachment(a learning.AttachmentDetail) gen.LectureAttachment {
	href := fmt.Sprintf("%s/attachments/%d", lectureHref(a.Course, a.Lecture), a.ID)
	shown := gen.LectureAttachment{
		ID: int32(a.ID), Name: wire.Optional(a.Name), Kind: string(a.Kind), Position: wire.Optional(a.Position),
		IsPublished: a.IsPublished.Else(true), Embeddable: a.Embeddable.Value, Downloadable: a.Downloadable.Value,
		CreatedAt: wire.Moment(a.CreatedAt), UpdatedAt: wire.Moment(a.UpdatedAt), URL: wire.Optional(a.URL),
		ThumbnailURL: wire.Optional(a.Video.Value.Thumbnail), FileExtension: wire.Optional(a.FileExtension),
		FileSize: wire.Optional(a.FileSize), ContentType: wire.Optional(a.ContentType),
		Duration: wire.Optional(a.Duration), AltText: wire.Optional(a.AltText),
		FlaggedAsDecorative: wire.Optional(a.Decorative), Text: wire.Optional(a.Text),
		CodeSyntax: wire.Optional(a.CodeSyntax), Href: &href,
	}
	if a.Video.Present {
		shown.Duration = wire.Optional(a.Video.Value.Duration)
		if !a.ContentType.Present {
			shown.ContentType = &a.Video.Value.ContentType
		}
	}
	if q := a.Question.Value; a.Question.Present {
		shown.OpenResponseQuestion = &gen.OpenQuestion{
			Question: q.Text, Required: q.Required, UploadEnabled: q.Upload, ImgURL: wire.Optional(q.ImageURL),
			ImgName: wire.Optional(q.ImageName), ImgAltText: wire.Optional(q.ImageAlt),
		}
	}
	return shown
}

// bindVideo validates user_id and ignores it: the response is the same for every user.
func bindVideo(in *wire.Input) learning.InLecture {
	wire.AnyInt[lyceum.UserID](in.Query("user_id"))
	return learning.InLecture{Lecture: byLecture(in), ID: wire.PathID[lyceum.AttachmentID](in, "video_id")}
}

func (f *Face) showVideo(ctx context.Context, by lyceum.By, q learning.InLecture) (lyceum.Attachment, error) {
	_, a, err := f.learning.Attachment(ctx, by, q.Lecture.Course, q.Lecture.ID, q.ID, lyceum.VideoAttachment)
	return a, err
}

func video(a lyceum.Attachment) gen.Video {
	status, media := string(lyceum.VideoProcessing), "VIDEO"
	shown := gen.Video{ID: int32(a.ID), Status: status, MediaType: media}
	if v := a.Video.Value; a.Video.Present {
		shown.Status = string(v.Status)
		shown.VideoAsset = &gen.VideoAsset{URL: v.URL, ContentType: v.ContentType}
		shown.URLThumbnail, shown.MediaDuration = wire.Optional(v.Thumbnail), wire.Optional(v.Duration)
	}
	return shown
}

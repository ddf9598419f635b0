package lyceum

import "time"

// AttachmentKind is what an attachment is: one of the contract's kinds, or
// another word that an import brought.
type AttachmentKind string

// The kinds of the contract. The last three are those of version 2 alone.
const (
	TextAttachment           AttachmentKind = "text"
	NativeCommentsAttachment AttachmentKind = "native_comments"
	VideoAttachment          AttachmentKind = "video"
	AudioAttachment          AttachmentKind = "audio"
	ImageAttachment          AttachmentKind = "image"
	PDFAttachment            AttachmentKind = "pdf_embed"
	QuizAttachment           AttachmentKind = "quiz"
	CodeDisplayAttachment    AttachmentKind = "code_display"
	CodeEmbedAttachment      AttachmentKind = "code_embed"
	UpsellAttachment         AttachmentKind = "upsell"
	OpenQuestionAttachment   AttachmentKind = "open_response_question"
	EmbedAttachment          AttachmentKind = "embed"
	FileAttachment           AttachmentKind = "file"
)

// AttachmentKinds lists the kinds of version 1.
func AttachmentKinds() []AttachmentKind {
	return []AttachmentKind{
		TextAttachment, NativeCommentsAttachment, VideoAttachment, AudioAttachment, ImageAttachment,
		PDFAttachment, QuizAttachment, CodeDisplayAttachment, CodeEmbedAttachment, UpsellAttachment,
	}
}

// IsWord tells whether a text can be the kind of an attachment or the type of a
// question: 1 to 64 letters of ASCII, digits, _ and -.
func IsWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return 0 < len(s) && len(s) <= 64
}

// Attachment is a part of a lecture.
type Attachment struct {
	ID            AttachmentID
	Lecture       LectureID
	Name          Opt[string] // of the file
	Kind          AttachmentKind
	URL           Opt[string]
	Text          Opt[string] // HTML
	Position      Opt[int32]
	FileSize      Opt[int32] // bytes
	FileExtension Opt[string]
	Quiz          *Quiz      // with the kind quiz alone
	Video         Opt[Video] // with the kind video alone

	IsPublished  Opt[bool]         // whether learners see it; absent: they do
	Embeddable   Opt[bool]         // whether it is shown in the page; absent: it is not
	Downloadable Opt[bool]         // whether learners may keep the file; absent: they may not
	ContentType  Opt[string]       // of the file; that of a video is in Video
	Duration     Opt[int32]        // seconds that the file plays; that of a video is in Video
	AltText      Opt[string]       // of a picture
	Decorative   Opt[bool]         // a picture that says nothing
	CodeSyntax   Opt[string]       // language of code
	Question     Opt[OpenQuestion] // with the kind open_response_question alone
	CreatedAt    time.Time
	UpdatedAt    time.Time
	ArchivedAt   Opt[time.Time] // since when it is deleted; answers to a quiz are kept
}

// OpenQuestion is a question that learners answer in their own words.
type OpenQuestion struct {
	Text      string
	Required  bool
	Upload    bool // a file may be the answer
	ImageURL  Opt[string]
	ImageName Opt[string]
	ImageAlt  Opt[string] // for who cannot see the picture
}

// AttachmentFilter narrows attachments; an absent part holds always. Those of
// one lecture come by position, then id; those without a position come last.
type AttachmentFilter struct {
	Lecture    Opt[LectureID]
	Quiz       Opt[QuizID] // the one that this quiz is
	Quizzes    []QuizID    // those that these quizzes are; nil: all
	Kind       Opt[AttachmentKind]
	IsArchived Opt[bool]
	Published  bool             // only those that learners see
	Order      Opt[CourseOrder] // instead of by position
}

// VideoStatus is how far a video has been made ready.
type VideoStatus string

// The states of the contract.
const (
	VideoReady          VideoStatus = "READY"
	VideoProcessing     VideoStatus = "PROCESSING"
	VideoPartiallyReady VideoStatus = "PARTIALLY_READY"
	VideoQueued         VideoStatus = "QUEUED"
	VideoThumbnailReady VideoStatus = "THUMBNAIL_READY"
	VideoFailed         VideoStatus = "FAILED"
)

// Video is what a player wants to know.
type Video struct {
	URL         string
	ContentType string
	Status      VideoStatus
	Thumbnail   Opt[string] // address
	Duration    Opt[int32]  // seconds
}

package lyceum

import "time"

// AttachmentKind is what an attachment is: one of the contract's kinds, or another word from an
// import.
type AttachmentKind string

// The contract's kinds. Only version 2 has the last three.
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

// IsWord reports whether s is a valid attachment kind or question type: 1 to 64 ASCII letters,
// digits, underscores and hyphens.
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
	Name          Opt[string] // file name
	Kind          AttachmentKind
	URL           Opt[string]
	Text          Opt[string] // HTML
	Position      Opt[int32]
	FileSize      Opt[int32] // bytes
	FileExtension Opt[string]
	Quiz          *Quiz      // only if Kind is quiz
	Video         Opt[Video] // only if Kind is video

	IsPublished  Opt[bool]         // whether learners see it; absent: they do
	Embeddable   Opt[bool]         // whether it is shown in the page; absent: it is not
	Downloadable Opt[bool]         // whether learners may download the file; absent: they may not
	ContentType  Opt[string]       // of the file; a video's is in Video
	Duration     Opt[int32]        // playing time of the file in seconds; a video's is in Video
	AltText      Opt[string]       // of a picture
	Decorative   Opt[bool]         // the picture carries no information
	CodeSyntax   Opt[string]       // language of the code
	Question     Opt[OpenQuestion] // only if Kind is open_response_question
	CreatedAt    time.Time
	UpdatedAt    time.Time
	ArchivedAt   Opt[time.Time] // when it was deleted; responses to its quiz are kept
}

// OpenQuestion is a question that learners answer in their own words.
type OpenQuestion struct {
	Text      string
	Required  bool
	Upload    bool // a file can be the answer
	ImageURL  Opt[string]
	ImageName Opt[string]
	ImageAlt  Opt[string] // for people who cannot see the picture
}

// AttachmentFilter narrows attachments; absent fields match everything. Those of one lecture
// are listed by position, then id, those without a position last.
type AttachmentFilter struct {
	Lecture    Opt[LectureID]
	Quiz       Opt[QuizID] // only the attachment with this quiz
	Quizzes    []QuizID    // only attachments with one of these quizzes; nil: all
	Kind       Opt[AttachmentKind]
	IsArchived Opt[bool]
	Published  bool             // only those that learners see
	Order      Opt[CourseOrder] // overrides the order by position
}

// VideoStatus is the processing status of a video.
type VideoStatus string

// The contract's statuses.
const (
	VideoReady          VideoStatus = "READY"
	VideoProcessing     VideoStatus = "PROCESSING"
	VideoPartiallyReady VideoStatus = "PARTIALLY_READY"
	VideoQueued         VideoStatus = "QUEUED"
	VideoThumbnailReady VideoStatus = "THUMBNAIL_READY"
	VideoFailed         VideoStatus = "FAILED"
)

// Video is what a player needs to play a video.
type Video struct {
	URL         string
	ContentType string
	Status      VideoStatus
	Thumbnail   Opt[string] // URL
	Duration    Opt[int32]  // seconds
}

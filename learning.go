package lyceum

import "time"

// LectureSection is a part of a course that holds lectures.
type LectureSection struct {
	ID          LectureSectionID
	Course      CourseID
	Name        string
	IsPublished bool
	Position    int32 // from 1
}

// Lecture is what a learner works through and completes.
type Lecture struct {
	ID          LectureID
	Course      CourseID
	Section     LectureSectionID
	Name        Opt[string]
	IsPublished bool
	Position    int32 // in its section, from 1
}

// Contents are the sections and the lectures of a course, each in the order in
// which a learner meets them.
type Contents struct {
	Sections []LectureSection
	Lectures []Lecture
}

// AttachmentKind is what an attachment is: one of the contract's kinds, or
// another word that an import brought.
type AttachmentKind string

// The kinds of the contract.
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
)

// AttachmentKinds lists the kinds of the contract.
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
}

// Quiz is a set of questions.
type Quiz struct {
	ID        QuizID
	Questions []Question
}

// Question is one question of a quiz. Its JSON is the contract's.
type Question struct {
	Question       string   `json:"question"`
	QuestionType   string   `json:"question_type"` // single, multiple, fill_blank, matching, or another word
	Answers        []string `json:"answers"`
	CorrectAnswers []string `json:"correct_answers"`
	Graded         bool     `json:"graded"`
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

// Enrollment is one stay of a learner in a course. There is at most one at a
// time; those before it are its history.
type Enrollment struct {
	ID         EnrollmentID
	User       UserID
	Course     CourseID
	EnrolledAt time.Time
	ExpiresAt  Opt[time.Time] // access ends at that moment
	EndedAt    Opt[time.Time] // somebody ended it, or it had expired
	Sale       Opt[SaleID]    // that it came with
}

// ActiveAt tells whether the learner had access at a moment.
func (e *Enrollment) ActiveAt(now time.Time) bool {
	return !e.EndedAt.Present && (!e.ExpiresAt.Present || now.Before(e.ExpiresAt.Value))
}

// Enrolled is an enrollment with what the learner has done of the course.
type Enrolled struct {
	Enrollment

	CourseName      string
	PercentComplete int32 // 0 to 100
	CompletedAt     Opt[time.Time]
}

// EnrollmentFilter narrows the active enrollments of a course.
type EnrollmentFilter struct {
	Course   CourseID
	ActiveAt time.Time
	Enrolled Period
}

// EnrollmentListing is a page of enrollments by the time they began, then by
// id, and the exact total.
type EnrollmentListing struct {
	Page        Page
	Total       int64
	Enrollments []Enrolled
}

// Progress is what a learner has done of a course. It outlives enrollments.
type Progress struct {
	ID              ProgressID
	User            UserID
	Course          CourseID
	PercentComplete int32 // 0 to 100; all published lectures are 100
	CompletedAt     Opt[time.Time]
	Certificate     Opt[Certificate]
}

// Certificate is given for a completed course.
type Certificate struct {
	IssuedAt     time.Time
	PageID       int32
	SerialNumber string
}

// LectureProgress is that a learner completed a lecture.
type LectureProgress struct {
	ID          LectureProgressID
	User        UserID
	Course      CourseID
	Lecture     LectureID
	CompletedAt time.Time
}

// QuizResponse is one answer of a learner to a quiz.
type QuizResponse struct {
	ID             QuizResponseID
	Quiz           QuizID
	User           UserID
	SubmittedAt    Opt[time.Time]
	PercentCorrect Opt[float64] // 0 to 1; absent where no grade is recorded
}

// AttachedResponse is a response with the attachment that its quiz is, by which
// the quiz is known outside version 1 and webhooks.
type AttachedResponse struct {
	QuizResponse

	Attachment Opt[AttachmentID] // absent when an import took the quiz away
}

// AnsweredQuiz is a response with who gave it.
type AnsweredQuiz struct {
	QuizResponse

	UserName  Opt[string]
	UserEmail string
}

// Comment is what a user wrote under a lecture.
type Comment struct {
	ID        CommentID
	Lecture   LectureID
	User      UserID
	Body      string
	CreatedAt time.Time
}

// CommentFilter narrows comments to those under a lecture; an absent part holds
// always.
type CommentFilter struct {
	Lecture LectureID
	After   Opt[CommentID] // ids above this one
}

package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// chapters and steps are the names of the sections and lectures of a course.
var (
	chapters = [...]string{"Getting started", "First practice", "The full technique", "Finishing", "Where to go from here"}
	steps    = [...]string{
		"What you need", "A look at the whole", "Watch it once", "Do it slowly", "Common mistakes", "Do it again",
		"Close up", "A small project", "Questions of others", "Try yourself",
	}
)

// certificatePages are the pages of certificates, by the course that awards them.
var certificatePages = map[lyceum.CourseID]int32{1: 9001, 3: 9002, 6: 9003, 13: 9004}

const (
	orderedCourse  lyceum.CourseID = 6  // enforces the order of its lectures
	unlistedCourse lyceum.CourseID = 9  // hidden from the school's own list
	emptyCourse    lyceum.CourseID = 17 // a draft without contents
)

// lessons are the contents of all courses.
type lessons struct {
	sections    []lyceum.LectureSection
	lectures    []lyceum.Lecture
	attachments []lyceum.Attachment
	// seen are the published lectures of each course, in order, and quizzes those of each
	// lecture.
	seen    map[lyceum.CourseID][]lyceum.LectureID
	quizzes map[lyceum.LectureID]lyceum.Quiz
}

// contents is the seed of the contents of the courses. They are the same in every school,
// because the samples of the reference use their ids.
const contents seed = 1

// makeLessons generates the contents of the courses.
func (s *School) makeLessons() *lessons {
	l := &lessons{seen: map[lyceum.CourseID][]lyceum.LectureID{}, quizzes: map[lyceum.LectureID]lyceum.Quiz{}}
	rng := contents.stream("lessons")
	for i := range s.Courses {
		if course := &s.Courses[i]; course.ID != emptyCourse {
			l.fill(rng, course)
		}
	}
	return l
}

// fill generates the sections of a course. The last section of every third course and the
// last lecture of every other section are drafts.
func (l *lessons) fill(rng *rand.Rand, course *lyceum.Course) {
	last := 2 + rng.IntN(len(chapters)-2)
	for n := range last + 1 {
		section := lyceum.LectureSection{
			ID: lyceum.LectureSectionID(len(l.sections) + 1), Course: course.ID, Name: chapters[n], Position: int32(n + 1),
			IsPublished: n < last || course.ID%3 != 0, CreatedAt: course.CreatedAt, UpdatedAt: course.CreatedAt,
		}
		l.sections = append(l.sections, section)
		count := 2 + rng.IntN(4)
		for k := range count {
			lecture := lyceum.Lecture{
				ID: lyceum.LectureID(len(l.lectures) + 1), Course: course.ID, Section: section.ID, Position: int32(k + 1),
				IsPublished: k < count-1 || section.ID%2 == 0, CreatedAt: course.CreatedAt, UpdatedAt: course.CreatedAt,
			}
			if rng.IntN(20) > 0 {
				lecture.Name = lyceum.Some(steps[(n*3+k)%len(steps)])
			}
			l.lectures = append(l.lectures, lecture)
			if lecture.IsPublished && section.IsPublished {
				l.seen[course.ID] = append(l.seen[course.ID], lecture.ID)
			}
			l.attach(rng, course, &lecture, k == count-1)
		}
	}
}

// attach adds attachments to a lecture: one of every kind to the first of the school, a
// text and a video to others, and a quiz to the last of a section.
func (l *lessons) attach(rng *rand.Rand, course *lyceum.Course, lecture *lyceum.Lecture, last bool) {
	kinds := []lyceum.AttachmentKind{lyceum.TextAttachment, lyceum.VideoAttachment}
	switch {
	case lecture.ID == 1:
		kinds = lyceum.AttachmentKinds()
	case last:
		kinds = append(kinds, lyceum.QuizAttachment)
	case rng.IntN(3) == 0:
		kinds = append(kinds, lyceum.PDFAttachment, lyceum.NativeCommentsAttachment)
	}
	for position, kind := range kinds {
		a := lyceum.Attachment{
			ID: lyceum.AttachmentID(len(l.attachments) + 1), Lecture: lecture.ID, Kind: kind,
			Position: lyceum.Some(int32(position + 1)), CreatedAt: course.CreatedAt, UpdatedAt: course.CreatedAt,
		}
		l.furnish(rng, course, lecture, &a)
		l.attachments = append(l.attachments, a)
	}
}

func (l *lessons) furnish(rng *rand.Rand, course *lyceum.Course, lecture *lyceum.Lecture, a *lyceum.Attachment) {
	file := func(name, extension string, size int32) {
		a.Name, a.FileExtension, a.FileSize = lyceum.Some(name), lyceum.Some(extension), lyceum.Some(size)
		a.URL = lyceum.Some(fmt.Sprintf("https://files.example.com/attachments/%d.%s", a.ID, extension))
	}
	switch a.Kind {
	case lyceum.TextAttachment:
		a.Text = lyceum.Some(
			"<p>" + strings.ReplaceAll(course.Name, "&", "&amp;") + ": read this before you begin, and keep it at hand.</p>",
		)
	case lyceum.CodeDisplayAttachment:
		a.Text = lyceum.Some("<pre><code>cut(4, \"cm\")\nfold()\n</code></pre>")
	case lyceum.CodeEmbedAttachment:
		a.Text = lyceum.Some(`<iframe src="https://embed.example.com/pattern" title="The pattern to print"></iframe>`)
	case lyceum.VideoAttachment:
		file("lesson.mp4", "mp4", 0)
		a.Video = lyceum.Some(video(rng, a.ID))
	case lyceum.AudioAttachment:
		file("listen.mp3", "mp3", int32(2_000_000+rng.IntN(9_000_000)))
	case lyceum.ImageAttachment:
		file("close-up.jpg", "jpg", int32(200_000+rng.IntN(900_000)))
	case lyceum.PDFAttachment:
		file("list.pdf", "pdf", int32(50_000+rng.IntN(400_000)))
	case lyceum.QuizAttachment:
		quiz := lyceum.QuizID(len(l.quizzes) + 1)
		a.Quiz = &lyceum.Quiz{ID: quiz, Questions: questions(rng, lecture.ID)}
		if lecture.ID == 1 {
			a.Quiz.InstantFeedback = lyceum.Some(true)
		}
		l.quizzes[lecture.ID] = *a.Quiz
	case lyceum.NativeCommentsAttachment, lyceum.UpsellAttachment:
	}
}

// video returns a video, which is ready except for one in thirty.
func video(rng *rand.Rand, id lyceum.AttachmentID) lyceum.Video {
	v := lyceum.Video{
		URL: fmt.Sprintf("https://video.example.com/%d/playlist.m3u8", id), ContentType: "application/x-mpegURL",
		Status: lyceum.VideoReady,
	}
	if rng.IntN(30) == 0 {
		v.Status = lyceum.VideoProcessing
		return v
	}
	v.Thumbnail = lyceum.Some(fmt.Sprintf("https://video.example.com/%d/still.jpg", id))
	v.Duration = lyceum.Some(int32(90 + rng.IntN(1500)))
	return v
}

func questions(rng *rand.Rand, lecture lyceum.LectureID) lyceum.Questions {
	plain := []lyceum.PlainQuestion{{
		Question: "What comes first?", QuestionType: "single", Answers: []string{"The tools", "The material", "The finish"},
		CorrectAnswers: []string{"The material"}, Graded: rng.IntN(4) > 0,
	}}
	if rng.IntN(2) == 0 {
		plain = append(plain, lyceum.PlainQuestion{
			Question: "Which of these do you need?", QuestionType: "multiple",
			Answers: []string{"Water", "Patience", "A licence"}, CorrectAnswers: []string{"Water", "Patience"},
			Graded: plain[0].Graded,
		})
	}
	if lecture != 1 {
		return lyceum.PlainQuestions(plain...)
	}
	all := lyceum.PlainQuestions(append(plain, lyceum.PlainQuestion{
		Question: "The line along which paper is bent is called a …", QuestionType: lyceum.FillBlankQuestion,
		Answers: []string{"fold", "crease"}, CorrectAnswers: []string{"fold", "crease"}, Graded: plain[0].Graded,
	}, lyceum.PlainQuestion{
		Question: "What is each tool for?", QuestionType: lyceum.MatchingQuestion,
		Answers:        []string{"Ruler = measuring", "Knife = cutting", "Bone folder = creasing", "gluing"},
		CorrectAnswers: []string{"Ruler = measuring", "Knife = cutting", "Bone folder = creasing"}, Graded: plain[0].Graded,
	})...)
	matching := &all[len(all)-1]
	matching.PromptHeading, matching.MatchHeading = "Tool", "Use"
	all[0].Feedback = &lyceum.QuizFeedback{Correct: "Right.", Incorrect: "Without material there is nothing to work on."}
	return all
}

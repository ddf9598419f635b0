package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// walkContents is what the walk created under a lecture.
type walkContents struct {
	course      int
	attachments []*walkAttachment // in order, including the quizzes
	comments    map[int]*walkComment
}

// walkAttachment is a text, a file or a quiz.
type walkAttachment struct {
	id         int
	kind, name string
	text, url  any

	// Only for quizzes: the key of the only question, the right answer, and the last score of
	// each user who responded.
	key, right string
	percents   map[int]float64
}

type walkComment struct {
	user, parent int
	body, status string
}

type walkDownload struct {
	name     string
	files    map[int]string // names by id
	enrolled map[int]bool   // users
}

// under returns a lecture with its contents, or nil if there is none.
func (w *facesWalk) under() (lecture int, of *walkContents) {
	courses := map[int]int{}
	for id, c := range w.courses {
		for _, s := range c.sections {
			for _, l := range s.lectures {
				courses[l.id] = id
			}
		}
	}
	if len(courses) == 0 {
		return 0, nil
	}
	lecture = pick(w.random, courses)
	if w.contents[lecture] == nil {
		w.contents[lecture] = &walkContents{course: courses[lecture], comments: map[int]*walkComment{}}
	}
	return lecture, w.contents[lecture]
}

func (of *walkContents) first(lecture int) string {
	return fmt.Sprintf("/v1/courses/%d/lectures/%d", of.course, lecture)
}

func (of *walkContents) second(lecture int) string {
	return fmt.Sprintf("/v2/products/courses/%d/lectures/%d", of.course, lecture)
}

func (w *facesWalk) addAttachment(t *testing.T) {
	t.Helper()
	lecture, of := w.under()
	if of == nil || len(of.attachments) >= 8 {
		return
	}
	a := &walkAttachment{name: w.word()}
	body := map[string]any{"kind": "text"}
	w.either(
		func() { a.kind, a.text, a.name = "text", w.word(), ""; body["text"] = a.text },
		func() {
			a.kind, a.url = "image", "https://files.example.com/"+fmt.Sprint(w.random.IntN(1000))+".jpg"
			body["kind"] = a.kind
			body["file"] = map[string]any{"url": a.url, "filename": a.name + ".jpg", "mimetype": "image/jpeg", "size": 1000}
			a.name += ".jpg"
		},
	)
	a.id = number(w.object(t, "POST", of.second(lecture)+"/attachments", "data", body), "id")
	of.attachments = append(of.attachments, a)
	w.compareContents(t, lecture)
}

// question returns the questions of a quiz of the walk.
func (w *facesWalk) question(a *walkAttachment) []any {
	word := w.word()
	return []any{map[string]any{
		"question": word, "question_type": "single", "answers": []string{"yes", "no", "perhaps"}, "correct_answers": []string{a.right},
	}}
}

func keyOf(quiz map[string]any) string {
	key, _ := quiz["questions"].([]any)[0].(map[string]any)["question_key"].(string)
	return key
}

func (w *facesWalk) addQuiz(t *testing.T) {
	t.Helper()
	lecture, of := w.under()
	if of == nil || len(of.attachments) >= 8 {
		return
	}
	a := &walkAttachment{kind: "quiz", name: w.word(), right: "yes", percents: map[int]float64{}}
	quiz := w.object(t, "POST", fmt.Sprintf("/lyceum/v1/lectures/%d/quizzes", lecture), "quiz",
		map[string]any{"name": a.name, "questions": w.question(a)})
	a.id, a.key = number(quiz, "id"), keyOf(quiz)
	of.attachments = append(of.attachments, a)
	w.compareContents(t, lecture)
}

// attachment picks an attachment that passes a test, with its lecture, or returns nil.
func (w *facesWalk) attachment(passes func(*walkAttachment) bool) (lecture int, of *walkContents, a *walkAttachment) {
	for _, lecture := range slices.Sorted(maps.Keys(w.contents)) {
		of := w.contents[lecture]
		for _, a := range of.attachments {
			if passes(a) && w.random.IntN(3) == 0 {
				return lecture, of, a
			}
		}
	}
	return 0, nil, nil
}

func isQuiz(a *walkAttachment) bool { return a.kind == "quiz" }

// changeQuiz changes the question and the right answer of a quiz.
func (w *facesWalk) changeQuiz(t *testing.T) {
	t.Helper()
	lecture, _, a := w.attachment(isQuiz)
	if a == nil {
		return
	}
	a.right = []string{"yes", "no", "perhaps"}[w.random.IntN(3)]
	a.key = keyOf(w.object(t, "PATCH", fmt.Sprintf("/lyceum/v1/quizzes/%d", a.id), "quiz", map[string]any{"questions": w.question(a)}))
	w.compareContents(t, lecture)
}

func (w *facesWalk) deleteAttachment(t *testing.T) {
	t.Helper()
	lecture, of, a := w.attachment(func(*walkAttachment) bool { return true })
	if a == nil {
		return
	}
	path := fmt.Sprintf("%s/attachments/%d", of.second(lecture), a.id)
	if isQuiz(a) && w.random.IntN(2) == 0 {
		path = fmt.Sprintf("%s/quizzes/%d", of.second(lecture), a.id)
	}
	w.s.call(t, "DELETE", path, "", nil)
	of.attachments = slices.DeleteFunc(of.attachments, func(x *walkAttachment) bool { return x == a })
	w.compareContents(t, lecture)
}

// submitQuiz submits a quiz response for an enrolled user, or as the learner of an app, who is
// enrolled first.
func (w *facesWalk) submitQuiz(t *testing.T) {
	t.Helper()
	lecture, of, a := w.attachment(isQuiz)
	if a == nil {
		return
	}
	ids := []string{"yes", "no", "perhaps"}
	chosen := w.random.IntN(len(ids))
	user := w.learner
	if course := w.courses[of.course]; course.published && w.random.IntN(2) == 0 {
		w.learns(t, of.course)
		w.asLearner(t, "PUT", fmt.Sprintf("/v2/current_user/courses/%d/lectures/%d/quizzes/%d/response", of.course, lecture, a.id),
			map[string]any{"answers": map[string]any{a.key: []string{fmt.Sprint(chosen + 1)}}})
	} else {
		var some bool
		if user, some = w.enrolledIn(of.course); !some {
			return
		}
		w.s.call(t, "POST", fmt.Sprintf("/lyceum/v1/quizzes/%d/responses", a.id),
			text(t, map[string]any{"user_id": user, "answers": [][]string{{ids[chosen]}}}), nil)
	}
	a.percents[user] = 0
	if ids[chosen] == a.right {
		a.percents[user] = 1
	}
	w.compareContents(t, lecture)
}

// enrolledIn picks a user who is enrolled in a course, if there is one.
func (w *facesWalk) enrolledIn(course int) (user int, some bool) {
	users := map[int]bool{}
	for m, of := range w.members {
		if m.course == course && of.enrolled() {
			users[m.user] = true
		}
	}
	if len(users) == 0 {
		return 0, false
	}
	return pick(w.random, users), true
}

// learns enrolls the learner of the app in a course.
func (w *facesWalk) learns(t *testing.T, course int) {
	t.Helper()
	m := walkMember{w.learner, course}
	if w.member(m).enrolled() {
		return
	}
	w.s.call(t, "PUT", secondEnrollment(m), "", nil)
	w.member(m).byHand = true
}

func (w *facesWalk) comment(t *testing.T) {
	t.Helper()
	lecture, of := w.under()
	if of == nil || len(of.comments) >= 15 {
		return
	}
	c := &walkComment{user: 1, body: w.word(), status: "approved"}
	body := map[string]any{"body": c.body}
	for _, id := range slices.Sorted(maps.Keys(of.comments)) {
		if of.comments[id].status == "approved" && of.depth(id) < 5 && w.random.IntN(3) == 0 {
			c.parent = id
			body["parent_id"] = id
			break
		}
	}
	var id int
	w.either(
		func() { id = number(w.object(t, "POST", of.second(lecture)+"/comments", "data", body), "id") },
		func() {
			var some bool
			if c.user, some = w.enrolledIn(of.course); !some {
				return
			}
			body["user_id"] = c.user
			id = number(w.object(t, "POST", fmt.Sprintf("/lyceum/v1/lectures/%d/comments", lecture), "comment", body), "id")
		},
		func() {
			if !w.courses[of.course].published {
				return
			}
			w.learns(t, of.course)
			c.user = w.learner
			path := fmt.Sprintf("/v2/current_user/courses/%d/lectures/%d/comments", of.course, lecture)
			data, _ := w.asLearner(t, "POST", path, body)["data"].(map[string]any)
			id = number(data, "id")
		},
	)
	if id == 0 {
		return
	}
	of.comments[id] = c
	w.compareComments(t, lecture)
}

func (of *walkContents) depth(id int) (depth int) {
	for ; of.comments[id].parent != 0; id = of.comments[id].parent {
		depth++
	}
	return depth
}

// moderate removes an approved comment.
func (w *facesWalk) moderate(t *testing.T) {
	t.Helper()
	lecture, of := w.commented()
	if of == nil {
		return
	}
	id := pick(w.random, of.comments)
	c := of.comments[id]
	if c.status != "approved" {
		return
	}
	c.status = "removed"
	w.object(t, "PATCH", fmt.Sprintf("%s/comments/%d", of.second(lecture), id), "data", map[string]any{"status": c.status})
	w.compareComments(t, lecture)
}

// commented picks a lecture that has comments, or returns nil.
func (w *facesWalk) commented() (lecture int, of *walkContents) {
	with := map[int]*walkContents{}
	for lecture, of := range w.contents {
		if len(of.comments) > 0 {
			with[lecture] = of
		}
	}
	if len(with) == 0 {
		return 0, nil
	}
	lecture = pick(w.random, with)
	return lecture, with[lecture]
}

func (w *facesWalk) deleteComment(t *testing.T) {
	t.Helper()
	lecture, of := w.commented()
	if of == nil {
		return
	}
	id := pick(w.random, of.comments)
	w.either(
		func() { w.s.call(t, "DELETE", fmt.Sprintf("%s/comments/%d", of.second(lecture), id), "", nil) },
		func() { w.s.call(t, "DELETE", fmt.Sprintf("/lyceum/v1/comments/%d", id), "", nil) },
	)
	gone := map[int]bool{id: true}
	for _, other := range slices.Sorted(maps.Keys(of.comments)) { // a reply comes after the comment it replies to
		if gone[other] || gone[of.comments[other].parent] {
			gone[other] = true
			delete(of.comments, other)
		}
	}
	w.compareComments(t, lecture)
}

// compareContents compares the attachments and quizzes of a lecture with the model.
func (w *facesWalk) compareContents(t *testing.T, lecture int) {
	t.Helper()
	of := w.contents[lecture]
	first, second := of.first(lecture), of.second(lecture)
	var want []string
	var quizzes []int
	for _, a := range of.attachments {
		want = append(want, fmt.Sprint(a.id, a.kind, a.text, a.url))
		if isQuiz(a) {
			quizzes = append(quizzes, a.id)
		}
	}
	shown := func(rows []any) (got []string) {
		for _, row := range rows {
			a := row.(map[string]any)
			got = append(got, fmt.Sprint(number(a, "id"), a["kind"], a["text"], a["url"]))
		}
		return got
	}
	rows, _ := w.object(t, "GET", first, "lecture", nil)["attachments"].([]any)
	w.same(t, first, want, shown(rows))
	listed := w.object(t, "GET", second+"/attachments", "", nil)
	rows, _ = listed["data"].([]any)
	w.same(t, second+"/attachments", want, shown(rows))
	got := slices.Sorted(slices.Values(ids(w.rows(t, second+"/quizzes", "data"), "id")))
	slices.Sort(quizzes)
	w.same(t, second+"/quizzes", quizzes, got)
	for _, a := range of.attachments {
		if isQuiz(a) {
			w.compareQuiz(t, lecture, a)
		}
	}
}

func (w *facesWalk) compareQuiz(t *testing.T, lecture int, a *walkAttachment) {
	t.Helper()
	of := w.contents[lecture]
	second := fmt.Sprintf("%s/quizzes/%d", of.second(lecture), a.id)
	w.same(t, second, a.key, keyOf(w.object(t, "GET", second, "data", nil)))
	first := fmt.Sprintf("%s/quizzes/%d", of.first(lecture), a.id)
	questions := w.object(t, "GET", first, "quiz", nil)["quiz"].(map[string]any)["questions"].([]any)
	w.same(t, first, []any{a.right}, questions[0].(map[string]any)["correct_answers"])
	for path, of := range map[string]struct {
		member string
		user   func(map[string]any) int
	}{
		first + "/responses":  {"quiz_responses", func(r map[string]any) int { return number(r, "student_id") }},
		second + "/responses": {"data", func(r map[string]any) int { return number(r["user"].(map[string]any), "id") }},
	} {
		got := map[int]float64{}
		rows, _ := w.object(t, "GET", path, of.member, nil)["responses"].([]any)
		for _, row := range rows {
			got[of.user(row.(map[string]any))], _ = row.(map[string]any)["percent_correct"].(float64)
		}
		w.same(t, path, a.percents, got)
	}
}

func (w *facesWalk) compareComments(t *testing.T, lecture int) {
	t.Helper()
	of := w.contents[lecture]
	second, own := of.second(lecture)+"/comments", fmt.Sprintf("/lyceum/v1/lectures/%d/comments", lecture)
	want, inSecond, inOwn := map[int]walkComment{}, map[int]walkComment{}, map[int]walkComment{}
	for id, c := range of.comments {
		want[id] = *c
	}
	for _, row := range w.rows(t, second, "data") {
		parent := number(row, "parent_id")
		c := walkComment{number(row["user"].(map[string]any), "id"), parent, row["body"].(string), row["status"].(string)}
		inSecond[number(row, "id")] = c
	}
	for _, row := range w.rows(t, own, "comments") {
		c := walkComment{number(row, "user_id"), number(row, "parent_id"), row["body"].(string), row["status"].(string)}
		inOwn[number(row, "id")] = c
	}
	w.sameComments(t, second, want, inSecond)
	w.sameComments(t, own, want, inOwn)
}

func (w *facesWalk) sameComments(t *testing.T, path string, want, got map[int]walkComment) {
	t.Helper()
	lines := func(of map[int]walkComment) (all []string) {
		for _, id := range slices.Sorted(maps.Keys(of)) {
			all = append(all, fmt.Sprint(id, of[id]))
		}
		return all
	}
	w.same(t, path, lines(want), lines(got))
}

const secondDownloads = "/v2/products/digital-downloads"

func (w *facesWalk) changeDownload(t *testing.T) {
	t.Helper()
	if len(w.downloads) < 4 {
		d := &walkDownload{name: w.word(), files: map[int]string{}, enrolled: map[int]bool{}}
		id := number(w.object(t, "POST", secondDownloads, "data", map[string]any{"name": d.name, "author_bio_id": 1}), "id")
		w.downloads[id] = d
		w.compareDownload(t, id)
		return
	}
	id := pick(w.random, w.downloads)
	d, path := w.downloads[id], fmt.Sprintf("%s/%d", secondDownloads, id)
	user := pick(w.random, w.users)
	w.either(
		func() {
			d.name = w.word()
			w.object(t, "PATCH", path, "data", map[string]any{"name": d.name})
		},
		func() {
			if len(d.files) >= 10 {
				return
			}
			name := w.word() + ".pdf"
			file := w.object(t, "POST", path+"/attachments", "data", map[string]any{
				"kind": "download", "filename": name, "url": "https://files.example.com/a.pdf", "size_in_bytes": 1 + w.random.IntN(1000),
			})
			d.files[number(file, "id")] = name
		},
		func() {
			if len(d.files) > 0 {
				file := pick(w.random, d.files)
				w.s.call(t, "DELETE", fmt.Sprintf("%s/attachments/%d", path, file), "", nil)
				delete(d.files, file)
			}
		},
		func() {
			w.s.call(t, "PUT", fmt.Sprintf("%s/enrollments/%d", path, user), "", nil)
			d.enrolled[user] = true
		},
		func() {
			if d.enrolled[user] {
				w.s.call(t, "DELETE", fmt.Sprintf("/lyceum/v1/users/%d/access/digital_download/%d", user, id), "", nil)
				delete(d.enrolled, user)
			}
		},
	)
	w.compareDownload(t, id)
}

func (w *facesWalk) compareDownload(t *testing.T, id int) {
	t.Helper()
	d, path := w.downloads[id], fmt.Sprintf("%s/%d", secondDownloads, id)
	w.wantFields(t, path, w.object(t, "GET", path, "data", nil), map[string]any{
		"name": d.name, "total_attachments": float64(len(d.files)), "total_admissions": float64(len(d.enrolled)),
	})
	files := map[int]string{}
	for _, row := range w.rows(t, path+"/attachments", "data") {
		files[number(row, "id")] = row["filename"].(string)
	}
	w.same(t, path+"/attachments", d.files, files)
	enrolled := map[int]bool{}
	for _, row := range w.rows(t, path+"/enrollments?status=active", "data") {
		enrolled[number(row["user"].(map[string]any), "id")] = true
	}
	w.same(t, path+"/enrollments", d.enrolled, enrolled)
	for user := range d.enrolled {
		own := fmt.Sprintf("/lyceum/v1/users/%d/access", user)
		has := false
		for _, a := range w.rows(t, own, "access") {
			if p := a["product"].(map[string]any); p["type"] == "digital_download" && number(p, "id") == id {
				has, _ = a["has_access"].(bool)
			}
		}
		w.same(t, fmt.Sprintf("%s: digital download %d", own, id), true, has)
		break // just one of them
	}
}

// connect authorizes an app to act for the sandbox's learner.
func (w *facesWalk) connect(t *testing.T) {
	t.Helper()
	said, err := json.Marshal(w.s.known)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sandbox.json")
	if err := os.WriteFile(file, said, 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join("..", "..", "docs", "samples", "oauth.sh")
	out, err := exec.Command("sh", script, file, "v2", "courses:read courses:write").Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	lines := strings.Fields(string(out))
	w.token, w.learner = lines[len(lines)-1], int(w.s.known.Learner.ID)
}

// asLearner sends a request with the learner's access token.
func (w *facesWalk) asLearner(t *testing.T, method, path string, body map[string]any) (response map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.s.url+path, strings.NewReader(text(t, body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	said, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode/100 == 2 {
		err = json.Unmarshal(said, &response)
	}
	if err != nil || got.StatusCode/100 != 2 {
		t.Fatalf("%s %s is a %d: %s, %v", method, path, got.StatusCode, said, err)
	}
	return response
}

package main

import (
	"fmt"
	"slices"
	"testing"
)

func (w *facesWalk) addUser(t *testing.T) {
	t.Helper()
	u := &walkUser{email: fmt.Sprintf("walker%d@example.org", len(w.users)), name: w.word()}
	var id int
	w.either(
		func() {
			id = number(w.object(t, "POST", "/v1/users", "", map[string]any{"email": u.email, "name": u.name}), "id")
		},
		func() {
			id = number(w.object(t, "POST", "/v2/users", "data", map[string]any{
				"email": u.email, "name": u.name, "role": "student", "allow_marketing_emails": false,
			}), "id")
		},
	)
	w.users[id] = u
	w.compareUser(t, id)
}

func (w *facesWalk) renameUser(t *testing.T) {
	t.Helper()
	id := pick(w.random, w.users)
	w.users[id].name = w.word()
	body := map[string]any{"name": w.users[id].name}
	w.either(
		func() { w.object(t, "PATCH", fmt.Sprintf("/v1/users/%d", id), "", body) },
		func() { w.object(t, "PATCH", fmt.Sprintf("/v2/users/%d", id), "", body) },
	)
	w.compareUser(t, id)
}

func (w *facesWalk) compareUser(t *testing.T, id int) {
	t.Helper()
	want := map[string]any{"id": float64(id), "email": w.users[id].email, "name": w.users[id].name}
	first, second := fmt.Sprintf("/v1/users/%d", id), fmt.Sprintf("/v2/users/%d", id)
	w.wantFields(t, first, w.object(t, "GET", first, "", nil), want)
	w.wantFields(t, second, w.object(t, "GET", second, "data", nil), want)
}

func (w *facesWalk) addCourse(t *testing.T) {
	t.Helper()
	if len(w.courses) >= 12 {
		return
	}
	c := &walkCourse{name: w.word(), published: w.random.IntN(4) > 0}
	body := map[string]any{"name": c.name, "is_published": c.published}
	var id int
	w.either(
		func() { id = number(w.object(t, "POST", "/lyceum/v1/courses", "course", body), "id") },
		func() {
			body["author_bio_id"] = 1
			id = number(w.object(t, "POST", "/v2/products/courses", "data", body), "id")
		},
	)
	w.courses[id] = c
	w.compareCourse(t, id)
}

func (w *facesWalk) changeCourse(t *testing.T) {
	t.Helper()
	id := pick(w.random, w.courses)
	c := w.courses[id]
	body := map[string]any{}
	if w.random.IntN(2) == 0 {
		c.name = w.word()
		body["name"] = c.name
	}
	if w.random.IntN(2) == 0 {
		c.published = !c.published
		body["is_published"] = c.published
	}
	w.either(
		func() { w.object(t, "PATCH", fmt.Sprintf("/lyceum/v1/courses/%d", id), "course", body) },
		func() { w.object(t, "PATCH", fmt.Sprintf("/v2/products/courses/%d", id), "data", body) },
	)
	w.compareCourse(t, id)
}

func (w *facesWalk) addSection(t *testing.T) {
	t.Helper()
	id := pick(w.random, w.courses)
	if len(w.courses[id].sections) >= 5 {
		return
	}
	s := &walkSection{name: w.word()}
	s.id = number(w.object(t, "POST", fmt.Sprintf("/v2/products/courses/%d/sections", id), "data", map[string]any{"name": s.name}), "id")
	w.courses[id].sections = append(w.courses[id].sections, s)
	w.compareCourse(t, id)
}

// section picks a section with its course, or returns nil.
func (w *facesWalk) section() (int, *walkSection) {
	id := pick(w.random, w.courses)
	if sections := w.courses[id].sections; len(sections) > 0 {
		return id, sections[w.random.IntN(len(sections))]
	}
	return id, nil
}

func (w *facesWalk) renameSection(t *testing.T) {
	t.Helper()
	id, s := w.section()
	if s == nil {
		return
	}
	s.name = w.word()
	method := []string{"PUT", "PATCH"}[w.random.IntN(2)]
	w.object(t, method, fmt.Sprintf("/v2/products/courses/%d/sections/%d", id, s.id), "data", map[string]any{"name": s.name})
	w.compareCourse(t, id)
}

func (w *facesWalk) orderSections(t *testing.T) {
	t.Helper()
	id := pick(w.random, w.courses)
	sections := w.courses[id].sections
	if len(sections) == 0 {
		return
	}
	w.random.Shuffle(len(sections), func(i, j int) { sections[i], sections[j] = sections[j], sections[i] })
	var data []any
	for i, s := range sections {
		data = append(data, map[string]any{"id": s.id, "position": i + 1})
	}
	w.object(t, "PUT", fmt.Sprintf("/v2/products/courses/%d/sections", id), "", map[string]any{"data": data})
	w.compareCourse(t, id)
}

func (w *facesWalk) addLecture(t *testing.T) {
	t.Helper()
	id, s := w.section()
	if s == nil || len(s.lectures) >= 8 {
		return
	}
	l := &walkLecture{name: w.word()}
	l.id = number(w.object(t, "POST", fmt.Sprintf("/v2/products/courses/%d/sections/%d/lectures", id, s.id), "data",
		map[string]any{"name": l.name, "is_published": true}), "id")
	s.lectures = append(s.lectures, l)
	w.compareCourse(t, id)
}

// lecture picks a lecture with its course and section, or returns nil.
func (w *facesWalk) lecture() (int, *walkSection, int) {
	id, s := w.section()
	if s == nil || len(s.lectures) == 0 {
		return id, nil, 0
	}
	return id, s, w.random.IntN(len(s.lectures))
}

func (w *facesWalk) renameLecture(t *testing.T) {
	t.Helper()
	id, s, i := w.lecture()
	if s == nil {
		return
	}
	s.lectures[i].name = w.word()
	w.object(t, "PATCH", fmt.Sprintf("/v2/products/courses/%d/lectures/%d", id, s.lectures[i].id), "data",
		map[string]any{"name": s.lectures[i].name})
	w.compareCourse(t, id)
}

func (w *facesWalk) deleteLecture(t *testing.T) {
	t.Helper()
	id, s, i := w.lecture()
	if s == nil {
		return
	}
	lecture := s.lectures[i].id
	w.s.call(t, "DELETE", fmt.Sprintf("/v2/products/courses/%d/lectures/%d", id, lecture), "", nil)
	s.lectures = slices.Delete(s.lectures, i, i+1)
	delete(w.contents, lecture)
	for m, of := range w.members {
		if m.course == id {
			delete(of.done, lecture)
		}
	}
	w.compareCourse(t, id)
	for m := range w.members {
		if m.course == id {
			w.compareMember(t, m)
			break
		}
	}
}

func (w *facesWalk) compareCourse(t *testing.T, id int) {
	t.Helper()
	c := w.courses[id]
	want := map[string]any{"id": float64(id), "name": c.name, "is_published": c.published}
	own, second, first := fmt.Sprintf("/lyceum/v1/courses/%d", id), fmt.Sprintf("/v2/products/courses/%d", id), fmt.Sprintf("/v1/courses/%d", id)
	w.wantFields(t, own, w.object(t, "GET", own, "course", nil), want)
	w.wantFields(t, second, w.object(t, "GET", second, "data", nil), want)
	shown := w.object(t, "GET", first, "course", nil)
	w.wantFields(t, first, shown, want)
	var wantSections, wantLectures, inFirst, firstLectures, inSecond, secondLectures []string
	for _, s := range c.sections {
		wantSections = append(wantSections, fmt.Sprint(s.id, " ", s.name))
		for _, l := range s.lectures {
			wantLectures = append(wantLectures, fmt.Sprint(s.id, " ", l.id))
		}
	}
	sections, _ := shown["lecture_sections"].([]any)
	for _, each := range sections {
		s := each.(map[string]any)
		inFirst = append(inFirst, fmt.Sprint(number(s, "id"), " ", s["name"]))
		for _, l := range s["lectures"].([]any) {
			firstLectures = append(firstLectures, fmt.Sprint(number(s, "id"), " ", number(l.(map[string]any), "id")))
		}
	}
	for _, s := range w.rows(t, second+"/sections", "data") {
		inSecond = append(inSecond, fmt.Sprint(number(s, "id"), " ", s["name"]))
	}
	names := map[int]string{}
	for _, l := range w.rows(t, second+"/lectures", "data") {
		secondLectures = append(secondLectures, fmt.Sprint(number(l["section"].(map[string]any), "id"), " ", number(l, "id")))
		names[number(l, "id")] = l["name"].(string)
	}
	w.same(t, first+": sections", wantSections, inFirst)
	w.same(t, first+": lectures", wantLectures, firstLectures)
	w.same(t, second+": sections", wantSections, inSecond)
	slices.Sort(wantLectures)
	slices.Sort(secondLectures)
	w.same(t, second+": lectures", wantLectures, secondLectures)
	for _, s := range c.sections {
		for _, l := range s.lectures {
			w.same(t, fmt.Sprint("the name of lecture ", l.id), l.name, names[l.id])
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// crawl holds what a server responded, by path. It stops at the first response other than a
// 200, because two errors would be equal.
type crawl struct {
	client    *client
	key       string
	token     string // of a learner, for requests that need one
	address   string
	responses map[string][]byte
	failed    error
}

// fetch requests a path and returns the JSON of the response.
func (c *crawl) fetch(path string) map[string]any {
	if c.failed != nil {
		return nil
	}
	head := request(path, c.key)
	if strings.HasPrefix(path, mine) {
		head = []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + c.token + "\r\n\r\n")
	}
	status, body, err := c.client.do(head, true)
	if err != nil {
		c.failed = fmt.Errorf("%s: %w", path, err)
		return nil
	}
	body = bytes.ReplaceAll(body, []byte(c.address), []byte("ADDRESS"))
	c.responses[path] = body
	if status != http.StatusOK {
		c.failed = fmt.Errorf("%s is a %d: %.200s", path, status, body)
		return nil
	}
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		c.failed = fmt.Errorf("%s: %w", path, err)
	}
	return value
}

// all is pages for a list that must not be empty.
func (c *crawl) all(path, rows string, each func(row map[string]any)) {
	n := 0
	c.pages(path, rows, func(row map[string]any) { n++; each(row) })
	if n == 0 && c.failed == nil {
		c.failed = fmt.Errorf("%s has no %s to compare", path, rows)
	}
}

// pages fetches all pages of a list, and calls each with every row.
func (c *crawl) pages(path, rows string, each func(row map[string]any)) {
	for page, last := 1, 1; page <= last && c.failed == nil; page++ {
		value := c.rows(fmt.Sprintf("%s%sper=100&page=%d", path, separator(path), page), rows, each)
		last = int(number(value["meta"], "number_of_pages"))
	}
}

// rows fetches one page of a list.
func (c *crawl) rows(path, rows string, each func(row map[string]any)) map[string]any {
	value := c.fetch(path)
	list, _ := value[rows].([]any)
	for _, row := range list {
		if row, ok := row.(map[string]any); ok {
			each(row)
		}
	}
	return value
}

func separator(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

func number(of any, name string) float64 {
	m, _ := of.(map[string]any)
	n, _ := m[name].(float64)
	return n
}

func list(of any, name string) []any {
	m, _ := of.(map[string]any)
	l, _ := m[name].([]any)
	return l
}

func id(row any) int { return int(number(row, "id")) }

// everything fetches every GET operation of version 1: all pages of all lists, and each row
// that has a separate path.
func (c *crawl) everything() error {
	ignore := func(map[string]any) {}
	for _, query := range []string{"", "?is_fully_refunded=true", "?is_fully_refunded=false", "?is_chargeback=true"} {
		c.all("/v1/transactions"+query, "transactions", ignore)
	}
	c.users()
	c.all("/v1/pricing_plans", "pricing_plans", func(row map[string]any) {
		c.fetch(fmt.Sprintf("/v1/pricing_plans/%d", id(row)))
		c.fetch(fmt.Sprintf("/v1/transactions?pricing_plan_id=%d", id(row)))
	})
	c.all("/v1/courses", "courses", func(row map[string]any) { c.course(id(row)) })
	hooks := list(any(c.fetch("/v1/webhooks")), "webhooks")
	for _, hook := range hooks {
		c.pages(fmt.Sprintf("/v1/webhooks/%d/events", id(hook)), "events", ignore)
	}
	courses := c.learner()
	if c.failed == nil && (len(hooks) == 0 || courses == 0) {
		c.failed = fmt.Errorf("%d webhooks and %d courses of the learner are too few to compare", len(hooks), courses)
	}
	return c.failed
}

// users fetches all users. Page numbers only reach the first 10,000.
func (c *crawl) users() {
	last, n := 0, 0
	each := func(row map[string]any) {
		last, n = id(row), n+1
		c.fetch(fmt.Sprintf("/v1/users/%d", last))
	}
	for more := true; more && c.failed == nil; {
		value := c.rows(fmt.Sprintf("/v1/users?per=100&search_after=%d", last), "users", each)
		meta, _ := value["meta"].(map[string]any)
		more, _ = meta["has_more_results"].(bool)
	}
	for page := 1; page <= min((n+99)/100, 100); page++ {
		c.fetch(fmt.Sprintf("/v1/users?per=100&page=%d", page))
	}
	if n == 0 && c.failed == nil {
		c.failed = errors.New("there are no users to compare")
	}
}

// progressOf is for how many learners of a course the progress is fetched.
const progressOf = 100

func (c *crawl) course(course int) {
	path := fmt.Sprintf("/v1/courses/%d", course)
	c.fetch(fmt.Sprintf("/v1/transactions?course_id=%d", course))
	shown, _ := c.fetch(path)["course"].(map[string]any)
	fetched := 0
	c.pages(path+"/enrollments", "enrollments", func(row map[string]any) {
		if fetched++; fetched <= progressOf {
			c.fetch(fmt.Sprintf("%s/progress?user_id=%d", path, int(number(row, "user_id"))))
		}
	})
	c.lectures(path, shown)
}

func (c *crawl) lectures(path string, course map[string]any) {
	for _, section := range list(course, "lecture_sections") {
		for _, lecture := range list(section, "lectures") {
			c.lecture(fmt.Sprintf("%s/lectures/%d", path, id(lecture)))
		}
	}
}

func (c *crawl) lecture(path string) {
	shown, _ := c.fetch(path)["lecture"].(map[string]any)
	for _, attachment := range list(shown, "attachments") {
		if kind, _ := attachment.(map[string]any)["kind"].(string); kind == "video" {
			c.fetch(fmt.Sprintf("%s/videos/%d", path, id(attachment)))
		}
	}
	if strings.HasPrefix(path, mine) {
		return
	}
	for _, quiz := range list(any(c.fetch(path+"/quizzes")), "quiz_ids") {
		c.fetch(fmt.Sprintf("%s/quizzes/%v", path, quiz))
		c.fetch(fmt.Sprintf("%s/quizzes/%v/responses", path, quiz))
	}
}

// mine is the prefix of the paths that are requested with a learner's token.
const mine = "/v1/current_user"

// learner fetches with the learner's token, and returns the number of courses.
func (c *crawl) learner() int {
	c.fetch(mine + "/me")
	courses := list(any(c.fetch(mine+"/courses")), "courses")
	for _, course := range courses {
		path := fmt.Sprintf("%s/courses/%d", mine, id(course))
		c.fetch(path + "/progress")
		shown, _ := c.fetch(path)["course"].(map[string]any)
		c.lectures(path, shown)
	}
	return len(courses)
}

// compared is the difference between two crawls.
type compared struct {
	responses map[string]int    // by operation
	differ    map[string]int    // by operation and field
	example   map[string]string // one of each
	named     int               // differences that docs/divergences.md lists
}

var (
	numbersInPath = regexp.MustCompile(`/[0-9]+`)
	errOther      = errors.New("the answers differ where docs/divergences.md says nothing")
)

// compare compares every response of two crawls in every field.
func compare(before, after map[string][]byte) *compared {
	d := &compared{responses: map[string]int{}, differ: map[string]int{}, example: map[string]string{}}
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		plain, _, _ := strings.Cut(path, "?")
		operation := "GET " + numbersInPath.ReplaceAllString(plain, "/{id}")
		d.responses[operation]++
		old, now := before[path], after[path]
		if bytes.Equal(old, now) {
			continue
		}
		var a, b any
		if json.Unmarshal(old, &a) != nil || json.Unmarshal(now, &b) != nil {
			d.note(operation+" body", path, string(old), string(now))
			continue
		}
		d.walk(operation, path, a, b)
	}
	return d
}

func (d *compared) note(field, path string, a, b any) {
	d.differ[field]++
	if d.example[field] == "" {
		d.example[field] = fmt.Sprintf("%s: %.200s, then %.200s", path, fmt.Sprint(a), fmt.Sprint(b))
	}
}

func (d *compared) walk(field, path string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			d.members(field, path, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				d.walk(field+"[]", path, x[i], y[i])
			}
			return
		}
	default:
		if a == b {
			return
		}
	}
	d.note(field, path, a, b)
}

func (d *compared) members(field, path string, x, y map[string]any) {
	names := maps.Clone(x)
	maps.Copy(names, y)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		_, had := x[name]
		_, has := y[name]
		switch {
		case had != has:
			d.note(field+"."+name, path, x[name], y[name])
		case name == "amount_refunded" && number(x, name) > number(x, "final_price") && y[name] == x["final_price"]:
			d.named++ // "amount_refunded": what exceeded the price was tax
		case field == userOperation && name == "courses":
			d.coursesOfUser(path, x[name], y[name])
		default:
			d.walk(field+"."+name, path, x[name], y[name])
		}
	}
}

const userOperation = "GET /v1/users/{id}"

// coursesOfUser compares a user's courses one by one. According to "A user's shape", each
// course appears with its active enrollment, where it was the latest before, and the newest
// comes first.
func (d *compared) coursesOfUser(path string, a, b any) {
	const field = userOperation + ".courses"
	old, now := byCourse(a), byCourse(b)
	rows, _ := b.([]any)
	begun := func(course any) string { return fmt.Sprint(course.(map[string]any)["enrolled_at"]) }
	if len(old) != len(now) || len(now) != len(rows) || !slices.IsSortedFunc(rows, func(a, b any) int {
		return strings.Compare(begun(b), begun(a))
	}) {
		d.note(field, path, a, b)
		return
	}
	for id, course := range old {
		switch {
		case now[id] == nil:
			d.note(field, path, a, b)
		case course["is_active_enrollment"] == false && now[id]["is_active_enrollment"] == true:
			d.named++
		default:
			d.members(field+"[]", path, course, now[id])
		}
	}
}

func byCourse(list any) map[any]map[string]any {
	courses := map[any]map[string]any{}
	rows, _ := list.([]any)
	for _, row := range rows {
		if course, ok := row.(map[string]any); ok {
			courses[course["course_id"]] = course
		}
	}
	return courses
}

func (d *compared) print() error {
	total := 0
	fmt.Print("| operation | responses compared |\n|---|---|\n")
	for _, operation := range slices.Sorted(maps.Keys(d.responses)) {
		fmt.Printf("| `%s` | %d |\n", operation, d.responses[operation])
		total += d.responses[operation]
	}
	fmt.Printf("\n%d responses are equal in every field but %d, which docs/divergences.md names.\n\n", total, d.named)
	for _, field := range slices.Sorted(maps.Keys(d.differ)) {
		fmt.Printf("DIFFERS %d times: %s; %s\n", d.differ[field], field, d.example[field])
	}
	if len(d.differ) > 0 {
		return errOther
	}
	return nil
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// crowdUsers is how many of the users have bought something and are in each of crowdCourses
	// courses: crowdCourse, a draft that nobody is in before (internal/inbound/demo), and
	// courses that the benchmark creates. All other users are only in crowdCourse.
	crowdUsers   = 100_000
	crowdCourse  = 17
	crowdCourses = 10
	// longCourse is the name of one of the created courses.
	longCourse = "Crowd1"
	// longSections is how many sections it has, and longLectures how many lectures each of them
	// has.
	longSections, longLectures = 10, 10
	// freeCourse is another draft, which nobody is in until the writes enroll them.
	freeCourse = 16
)

// measureLearning measures what programs request from a school with many learners, and what
// they change there. The requests are measured twice: with a server that sends responses again
// while nothing has changed, and with one that builds each response, as the first does after a
// change.
func measureLearning(ctx context.Context, s settings) error {
	school, err := crowd(ctx, s, filepath.Join(s.keep, "learning-"+strconv.Itoa(s.users)))
	if err != nil {
		return err
	}
	fmt.Printf("## Learning\n\n%d users, all of them in a course and %d of them in %d more. Median of %d rounds of %v "+
		"each, alternating with constant responses of the same bytes as under Lists.\n", s.users, crowdUsers,
		crowdCourses-1, s.rounds, s.duration)
	for _, cache := range []struct{ what, size string }{
		{"Sent again while the school is unchanged", "32MB"}, {"Each response made for its request", "0"},
	} {
		fmt.Printf("\n%s (--response-cache %s):\n\n| users | %s\n", cache.what, cache.size, contestHead)
		if err := school.measure(ctx, s, "--response-cache", cache.size); err != nil {
			return err
		}
	}
	fmt.Println()
	sandbox, err := school.start(ctx, s)
	if err != nil {
		return err
	}
	defer func() { _ = sandbox.stop() }()
	return measureLearningWrites(ctx, s, sandbox)
}

// crowded is the command that serves a school, which ends with the school's folder.
type crowded []string

// start starts a server for the school.
func (c crowded) start(ctx context.Context, s settings, more ...string) (*server, error) {
	return start(ctx, s.binary, slices.Concat(c, more)...)
}

// measure measures the requests to a server of the school.
func (c crowded) measure(ctx context.Context, s settings, more ...string) error {
	sandbox, err := c.start(ctx, s, more...)
	if err != nil {
		return err
	}
	defer func() { _ = sandbox.stop() }()
	long, err := sandbox.longCourse()
	if err != nil {
		return err
	}
	for _, class := range learningClasses(long, s.users) {
		if err := measureClass(ctx, s, sandbox, class.name, class.paths); err != nil {
			return err
		}
	}
	return nil
}

// crowd copies a school whose users are all in the same courses from a folder, where it is
// created first if it does not exist.
func crowd(ctx context.Context, s settings, kept string) (crowded, error) {
	args := []string{
		"sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--transactions", strconv.Itoa(5 * crowdUsers),
		"--data",
	}
	if _, err := os.Stat(kept); err != nil {
		if err := makeCrowd(ctx, s, append(args, kept), kept); err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(s.work, "crowd")
	return append(args, dir), os.CopyFS(dir, os.DirFS(kept))
}

func makeCrowd(ctx context.Context, s settings, args []string, dir string) error {
	sandbox, err := start(ctx, s.binary, args...)
	if err != nil {
		return err
	}
	courses, err := sandbox.makeCourses()
	if err := errors.Join(err, sandbox.stop()); err != nil {
		return err
	}
	begin := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	at := func(user int) string { return begin.Add(time.Duration(user) * time.Second).Format(time.RFC3339) }
	err = importRows(ctx, s, "users", dir, func(w io.Writer) {
		fmt.Fprintln(w, "id,email,name,created_at")
		for user := crowdUsers + 1; user <= s.users; user++ {
			fmt.Fprintf(w, "%d,crowd%d@example.com,Learner %d,%s\n", user, user, user, at(user))
		}
	})
	if err != nil {
		return err
	}
	return importRows(ctx, s, "enrollments", dir, func(w io.Writer) {
		fmt.Fprintln(w, "user_id,course_id,enrolled_at,expires_at,ended_at")
		for user := 1; user <= s.users; user++ {
			of := []int{crowdCourse}
			if user <= crowdUsers {
				of = append(of, courses...)
			}
			for _, course := range of {
				fmt.Fprintf(w, "%d,%d,%s,,\n", user, course, at(user))
			}
		}
	})
}

// importRows imports the CSV file that phrase writes.
func importRows(ctx context.Context, s settings, kind, dir string, phrase func(io.Writer)) error {
	name := filepath.Join(s.work, kind+".csv")
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	rows := bufio.NewWriter(file)
	phrase(rows)
	if err := errors.Join(rows.Flush(), file.Close()); err != nil {
		return err
	}
	_, err = command(ctx, s, "import", kind, name, "--data", dir)
	return errors.Join(err, os.Remove(name))
}

// longCourse returns the course that has many lectures.
func (s *server) longCourse() (int, error) {
	c, err := dial(s.address)
	if err != nil {
		return 0, err
	}
	defer c.conn.Close()
	_, body, err := c.do(request("/v1/courses?name="+longCourse, s.key), true)
	if err != nil {
		return 0, err
	}
	var found struct {
		Courses []struct {
			ID int `json:"id"`
		} `json:"courses"`
	}
	if err := json.Unmarshal(body, &found); err != nil || len(found.Courses) != 1 {
		return 0, fmt.Errorf("%d courses are called %s: %w", len(found.Courses), longCourse, err)
	}
	return found.Courses[0].ID, nil
}

// makeCourses creates the courses that everybody is in; the first of them is the long one.
func (s *server) makeCourses() ([]int, error) {
	c, err := dial(s.address)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	made := func(path, body string) (int, error) {
		status, response, err := c.do(post(path, s.key, body), true)
		if err != nil || status != http.StatusCreated {
			return 0, fmt.Errorf("%s is a %d: %s: %w", path, status, response, err)
		}
		var one struct {
			Data struct {
				ID int `json:"id"`
			} `json:"data"`
		}
		return one.Data.ID, json.Unmarshal(response, &one)
	}
	var courses []int
	for n := range crowdCourses - 1 {
		course, err := made("/v2/products/courses",
			fmt.Sprintf(`{"name":"Crowd%d","author_bio_id":1,"is_published":true}`, n+1))
		if err != nil {
			return nil, err
		}
		courses = append(courses, course)
	}
	for n := range longSections {
		sections := fmt.Sprintf("/v2/products/courses/%d/sections", courses[0])
		section, err := made(sections, fmt.Sprintf(`{"name":"Section %d"}`, n+1))
		if err != nil {
			return nil, err
		}
		for l := range longLectures {
			_, err := made(fmt.Sprintf("%s/%d/lectures", sections, section),
				fmt.Sprintf(`{"name":"Lecture %d of section %d","is_published":true}`, l+1, n+1))
			if err != nil {
				return nil, err
			}
		}
	}
	return courses, nil
}

type pathClass struct {
	name  string
	paths []string
}

// learningClasses returns the requests, some of them for the course that has many lectures.
func learningClasses(long, users int) []pathClass {
	list := []pathClass{
		{name: "users, first pages"},
		{name: "users, pages 100 to 500"}, // the last page that the contract allows
		{name: "users, search_after"},
		{name: "users, by email"},
		{name: "user"},
		{name: "enrollments, first pages"},
		{name: "enrollments, far pages"},
		{name: "progress"},
		{name: "courses"},
		{name: "course"},
		{name: "lecture"},
		{name: "course of 100 lectures"},
		{name: "progress of 100 lectures"},
		{name: "v2: users, first pages"},
		{name: "v2: users, far pages"},
		{name: "v2: user with metrics"},
		{name: "v2: courses, first page"},
		{name: "v2: products, first page"},
		{name: "v2: enrollments, first pages"},
		{name: "v2: enrollments, far pages"},
		{name: "v2: enrollment"},
		{name: "v2: transactions, first pages"},
		{name: "v2: purchases, first pages"},
		{name: "v2: lectures of the course of 100"},
		{name: "v2: progress"},
		{name: "v2: progress of 100 lectures"},
	}
	for i := range variants {
		far, known := 1+i*users/variants, 1+i*crowdUsers/variants
		for n, path := range []string{
			fmt.Sprintf("/v1/users?page=%d", 1+i%3), fmt.Sprintf("/v1/users?page=%d", 100+i*400/variants),
			fmt.Sprintf("/v1/users?search_after=%d", far),
			"/v1/users?email=learner@example.com", fmt.Sprintf("/v1/users/%d", far),
			fmt.Sprintf("/v1/courses/%d/enrollments?per=20&page=%d", crowdCourse, 1+i%3),
			fmt.Sprintf("/v1/courses/%d/enrollments?per=20&page=%d", crowdCourse, far/20+1),
			fmt.Sprintf("/v1/courses/%d/progress?user_id=%d", crowdCourse, far), "/v1/courses",
			fmt.Sprintf("/v1/courses/%d", 1+i%15), "/v1/courses/1/lectures/1",
			fmt.Sprintf("/v1/courses/%d", long), fmt.Sprintf("/v1/courses/%d/progress?user_id=%d", long, known),
			fmt.Sprintf("/v2/users?page=%d", 1+i%3), fmt.Sprintf("/v2/users?page=%d", far/25+1),
			fmt.Sprintf("/v2/users/%d", far), "/v2/products/courses", "/v2/products",
			fmt.Sprintf("/v2/products/courses/%d/enrollments?page=%d", crowdCourse, 1+i%3),
			fmt.Sprintf("/v2/products/courses/%d/enrollments?page=%d", crowdCourse, far/25+1),
			fmt.Sprintf("/v2/products/courses/%d/enrollments/%d", crowdCourse, far),
			fmt.Sprintf("/v2/transactions?page=%d", 1+i%3), fmt.Sprintf("/v2/purchases?page=%d", 1+i%3),
			fmt.Sprintf("/v2/products/courses/%d/lectures?per_page=100", long),
			fmt.Sprintf("/v2/products/courses/%d/users/%d/progress", crowdCourse, far),
			fmt.Sprintf("/v2/products/courses/%d/users/%d/progress", long, known),
		} {
			list[n].paths = append(list[n].paths, path)
		}
	}
	return list
}

func measureClass(ctx context.Context, s settings, sandbox *server, name string, paths []string) error {
	conn, err := dial(sandbox.address)
	if err != nil {
		return err
	}
	defer conn.conn.Close()
	var lengths []int
	for _, path := range paths {
		status, body, err := conn.do(request(path, sandbox.key), true)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("%s is a %d: %w", path, status, err)
		}
		lengths = append(lengths, len(body))
	}
	constant, err := startConstant(ctx, lengths)
	if err != nil {
		return err
	}
	defer func() { _ = constant.stop() }()
	requests := pairs(sandbox, constant, paths, lengths)
	return contest{
		size: s.users, name: name, ours: sandbox, constant: constant, turn: func() []pair { return requests },
	}.run(s)
}

// measureLearningWrites enrolls one user after another and completes lectures for them. Each
// write is on disk before the response.
func measureLearningWrites(ctx context.Context, s settings, sandbox *server) error {
	lecture, err := firstLecture(sandbox, freeCourse)
	if err != nil {
		return err
	}
	var bare, enrolled, completed []float64
	next := 1
	for range s.rounds {
		commits, err := bareCommits(ctx, s.work, s.duration)
		if err != nil {
			return err
		}
		bare = append(bare, commits)
		first := next
		perSecond, n, err := sandbox.each(first, s.duration, func(user int) []byte {
			return post("/v1/enroll", sandbox.key, fmt.Sprintf(`{"user_id":%d,"course_id":%d}`, user, freeCourse))
		})
		if err != nil {
			return err
		}
		next += n
		enrolled = append(enrolled, perSecond)
		perSecond, _, err = sandbox.each(first, s.duration, func(user int) []byte {
			return post(
				fmt.Sprintf("/v1/courses/%d/lectures/%d/mark_complete", freeCourse, lecture), sandbox.key,
				fmt.Sprintf(`{"user_id":%d}`, min(user, next-1)),
			)
		})
		if err != nil {
			return err
		}
		completed = append(completed, perSecond)
	}
	fmt.Printf("%d connections; a bare commit is one row in a SQLite database of its own, synced, one "+
		"after the other.\n\n", tokenConnections)
	fmt.Println("| what | a second | of bare commits |\n|---|---|---|")
	base := median(bare)
	for _, row := range []struct {
		what      string
		perSecond []float64
	}{{"bare durable commits", bare}, {"enroll", enrolled}, {"mark_complete", completed}} {
		fmt.Printf("| %s | %.0f | %.2f |\n", row.what, median(row.perSecond), median(row.perSecond)/base)
	}
	fmt.Println()
	return nil
}

// post renders a request with a JSON body.
func post(path, key, body string) []byte {
	return []byte(
		"POST " + path + " HTTP/1.1\r\nHost: localhost\r\napiKey: " + key +
			"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body,
	)
}

// each sends a request for one user after another, starting with first, on several connections
// for the given duration, and returns how many it sent.
func (s *server) each(
	first int, duration time.Duration, phrase func(user int) []byte,
) (perSecond float64, n int, err error) {
	var group sync.WaitGroup
	var place atomic.Int64
	place.Store(int64(first) - 1)
	failures := make([]error, tokenConnections)
	begin := time.Now()
	for connection := range tokenConnections {
		group.Go(func() {
			c, err := dial(s.address)
			if err != nil {
				failures[connection] = err
				return
			}
			defer c.conn.Close()
			for time.Since(begin) < duration {
				user := int(place.Add(1))
				if user > crowdUsers {
					failures[connection] = errors.New("there are no users left; measure in fewer or shorter rounds")
					return
				}
				status, _, err := c.do(phrase(user), false)
				if err == nil && status != http.StatusNoContent {
					err = fmt.Errorf("status %d", status)
				}
				if err != nil {
					failures[connection] = err
					return
				}
			}
		})
	}
	group.Wait()
	n = int(place.Load()) - first + 1
	return float64(n) / time.Since(begin).Seconds(), n, errors.Join(failures...)
}

// firstLecture returns the first lecture of a course.
func firstLecture(s *server, course int) (int, error) {
	conn, err := dial(s.address)
	if err != nil {
		return 0, err
	}
	defer conn.conn.Close()
	_, body, err := conn.do(request(fmt.Sprintf("/v1/courses/%d", course), s.key), true)
	if err != nil {
		return 0, err
	}
	var one struct {
		Course struct {
			Sections []struct {
				Lectures []struct {
					ID int `json:"id"`
				} `json:"lectures"`
			} `json:"lecture_sections"`
		} `json:"course"`
	}
	if err := json.Unmarshal(body, &one); err != nil || len(one.Course.Sections) == 0 ||
		len(one.Course.Sections[0].Lectures) == 0 {
		return 0, fmt.Errorf("course %d has no lecture: %w", course, err)
	}
	return one.Course.Sections[0].Lectures[0].ID, nil
}

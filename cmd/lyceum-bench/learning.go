package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// crowdUsers is how many users the school has, all of them in
	// crowdCourse, a draft that nobody is in before (internal/inbound/demo).
	crowdUsers  = 100_000
	crowdCourse = 17
	// freeCourse is another one, until the writes enroll them.
	freeCourse = 16
)

// measureLearning measures what programs ask a school of a hundred thousand
// learners, and what they change there.
func measureLearning(ctx context.Context, s settings) error {
	dir := filepath.Join(s.work, "learning")
	defer os.RemoveAll(dir)
	sandbox, err := crowd(ctx, s, dir)
	if err != nil {
		return err
	}
	defer func() { _ = sandbox.stop() }()
	fmt.Printf("## Learning\n\n%d users, %d of them in one course. Median of %d rounds of %v each, alternating with "+
		"constant answers of the same bytes as under Lists.\n\n| users | %s\n", crowdUsers, crowdUsers, s.rounds, s.duration,
		contestHead)
	for _, c := range learningClasses() {
		if err := measureClass(ctx, s, sandbox, c.name, c.paths); err != nil {
			return err
		}
	}
	fmt.Println()
	return measureLearningWrites(ctx, s, sandbox)
}

// crowd starts a school whose users are all in one course.
func crowd(ctx context.Context, s settings, dir string) (*server, error) {
	args := []string{
		"sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--transactions", strconv.Itoa(5 * crowdUsers),
		"--data", dir,
	}
	sandbox, err := start(ctx, s.binary, args...)
	if err != nil {
		return nil, err
	}
	if err := sandbox.stop(); err != nil {
		return nil, err
	}
	name := filepath.Join(s.work, "enrollments.csv")
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	rows := bufio.NewWriter(file)
	fmt.Fprintln(rows, "user_id,course_id,enrolled_at,expires_at,ended_at")
	begin := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for user := 1; user <= crowdUsers; user++ {
		fmt.Fprintf(rows, "%d,%d,%s,,\n", user, crowdCourse, begin.Add(time.Duration(user)*time.Second).Format(time.RFC3339))
	}
	if err := errors.Join(rows.Flush(), file.Close()); err != nil {
		return nil, err
	}

	if _, err := command(ctx, s, "import", "enrollments", name, "--data", dir); err != nil {
		return nil, err
	}
	return start(ctx, s.binary, args...)
}

type pathClass struct {
	name  string
	paths []string
}

func learningClasses() []pathClass {
	list := []pathClass{
		{name: "users, first pages"},
		{name: "users, search_after"},
		{name: "users, by email"},
		{name: "user"},
		{name: "enrollments, first pages"},
		{name: "enrollments, far pages"},
		{name: "progress"},
		{name: "courses"},
		{name: "course"},
		{name: "lecture"},
	}
	for i := range variants {
		far := 1 + i*crowdUsers/variants
		for n, path := range []string{
			fmt.Sprintf("/v1/users?page=%d", 1+i%3), fmt.Sprintf("/v1/users?search_after=%d", far),
			"/v1/users?email=learner@example.com", fmt.Sprintf("/v1/users/%d", far),
			fmt.Sprintf("/v1/courses/%d/enrollments?per=20&page=%d", crowdCourse, 1+i%3),
			fmt.Sprintf("/v1/courses/%d/enrollments?per=20&page=%d", crowdCourse, far/20+1),
			fmt.Sprintf("/v1/courses/%d/progress?user_id=%d", crowdCourse, far), "/v1/courses",
			fmt.Sprintf("/v1/courses/%d", 1+i%15), "/v1/courses/1/lectures/1",
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
	asked := pairs(sandbox, constant, paths, lengths)
	return contest{
		size: crowdUsers, name: name, ours: sandbox, constant: constant, turn: func() []pair { return asked },
	}.run(s)
}

// measureLearningWrites enrolls one user after the other and completes lectures
// for them; each is on disk before it is answered.
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

// each asks for one user after the other, from first on, on several
// connections for a while, and tells how many it came to.
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

// firstLecture gives the first lecture of a course.
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

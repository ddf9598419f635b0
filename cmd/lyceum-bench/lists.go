package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/demo"
)

// variants is how many different questions a class has, so that a cache of
// one answer gains nothing.
const variants = 32

// question is one request with the total its answer must have.
type question struct {
	filter lyceum.TransactionFilter
	page   int
	per    int
	total  int
}

// class is a kind of question.
type class struct {
	name      string
	questions []question
}

func measureLists(ctx context.Context, s settings) error {
	fmt.Printf("## Lists\n\nMedian of %d rounds of %v each, alternating with net/http answering a constant body of the same size.\n\n", s.rounds, s.duration)
	fmt.Println("| sales | class | connections | requests/s | p50 ms | p99 ms | constant/s | ratio |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, size := range s.sizes {
		if err := measureSize(ctx, s, size); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

func measureSize(ctx context.Context, s settings, size int) error {
	dir := filepath.Join(s.work, "school-"+strconv.Itoa(size))
	defer os.RemoveAll(dir)
	sandbox, err := start(ctx, s.binary, "sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0",
		"--seed", strconv.FormatUint(s.seed, 10), "--transactions", strconv.Itoa(size), "--data", dir)
	if err != nil {
		return err
	}
	defer func() { _ = sandbox.stop() }()
	classes := book(s.seed, size)
	lengths := make([]string, len(classes))
	for i, c := range classes {
		length, err := verify(sandbox, c)
		if err != nil {
			return err
		}
		lengths[i] = strconv.Itoa(length)
	}
	constant, err := start(ctx, os.Args[0], append([]string{"constant"}, lengths...)...)
	if err != nil {
		return err
	}
	defer func() { _ = constant.stop() }()
	for i, c := range classes {
		var requests [][]byte
		for _, q := range c.questions {
			requests = append(requests, request(q.path(), sandbox.key))
		}
		ceiling := [][]byte{request("/"+lengths[i], "none")}
		for _, n := range s.connections {
			if err := compare(s, size, c.name, n, sandbox.address, requests, constant.address, ceiling); err != nil {
				return fmt.Errorf("%s at %d sales: %w", c.name, size, err)
			}
		}
	}
	fmt.Fprintf(os.Stderr, "resident memory of the server at %d sales: %d MB\n", size, memory(sandbox.command.Process.Pid)>>20)
	return nil
}

func compare(s settings, size int, name string, n int, ours string, requests [][]byte, constant string, ceiling [][]byte) error {
	var perSecond, p50, p99, base, ratio []float64
	for range s.rounds {
		b, err := drive(constant, ceiling, n, s.duration)
		if err != nil {
			return err
		}
		r, err := drive(ours, requests, n, s.duration)
		if err != nil {
			return err
		}
		perSecond, p50, p99 = append(perSecond, r.perSecond), append(p50, r.p50), append(p99, r.p99)
		base, ratio = append(base, b.perSecond), append(ratio, r.perSecond/b.perSecond)
	}
	fmt.Printf("| %d | %s | %d | %.0f | %.2f | %.2f | %.0f | %.3f |\n",
		size, name, n, median(perSecond), median(p50), median(p99), median(base), median(ratio))
	return nil
}

// path phrases the question.
func (q question) path() string {
	v := url.Values{"page": {strconv.Itoa(q.page)}, "per": {strconv.Itoa(q.per)}}
	if f := q.filter.UserID; f.Present {
		v.Set("user_id", strconv.Itoa(int(f.Value)))
	}
	if f := q.filter.CourseID; f.Present {
		v.Set("course_id", strconv.Itoa(int(f.Value)))
	}
	if f := q.filter.FullyRefunded; f.Present {
		v.Set("is_fully_refunded", strconv.FormatBool(f.Value))
	}
	if f := q.filter.Chargeback; f.Present {
		v.Set("is_chargeback", strconv.FormatBool(f.Value))
	}
	if t := q.filter.Created.After; !t.IsZero() {
		v.Set("start", string(lyceum.AppendTime(nil, t)))
	}
	if t := q.filter.Created.Until; !t.IsZero() {
		v.Set("end", string(lyceum.AppendTime(nil, t)))
	}
	return "/v1/transactions?" + v.Encode()
}

// verify asks every question of a class once, compares the totals, and gives
// the usual length of an answer.
func verify(s *server, c class) (length int, err error) {
	conn, err := dial(s.address)
	if err != nil {
		return 0, err
	}
	defer conn.conn.Close()
	for _, q := range c.questions {
		status, body, err := conn.do(request(q.path(), s.key), true)
		if err != nil {
			return 0, err
		}
		var answer struct {
			Meta struct{ Total int }
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return 0, err
		}
		if status != 200 || answer.Meta.Total != q.total {
			return 0, fmt.Errorf("%s: status %d with a total of %d, want %d", q.path(), status, answer.Meta.Total, q.total)
		}
		length = max(length, len(body))
	}
	return length, nil
}

// book makes the questions of every class with their exact totals.
func book(seed uint64, size int) []class {
	school := demo.New(seed, size)
	courseOf := map[lyceum.PricingPlanID]lyceum.Opt[lyceum.CourseID]{}
	for _, p := range school.PricingPlans {
		courseOf[p.ID] = p.CourseID
	}
	classes := questions(school, seed, size)
	var open []*question
	for i := range classes {
		for j := range classes[i].questions {
			if q := &classes[i].questions[j]; q.filter == (lyceum.TransactionFilter{}) {
				q.total = size
			} else {
				open = append(open, q)
			}
		}
	}
	for batch := range school.Batches(1000) {
		for i := range batch.Transactions {
			t := &batch.Transactions[i]
			for _, q := range open {
				if q.filter.Match(t, courseOf[t.PricingPlanID]) {
					q.total++
				}
			}
		}
	}
	return classes
}

func questions(school *demo.School, seed uint64, size int) []class {
	chance := rand.New(rand.NewPCG(seed, 77))
	buyers := sample(school, chance, size)
	pages := (size + 19) / 20
	end := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	list := []class{{name: "first page"}, {name: "user"}, {name: "course"}, {name: "one month"}, {name: "full refunds"}, {name: "three filters"}, {name: "deep page"}, {name: "per=100"}}
	add := func(i int, q question) { list[i].questions = append(list[i].questions, q) }
	for i := range variants {
		month := end.AddDate(0, -1-i%24, 0)
		course := lyceum.Some(school.Courses[i%len(school.Courses)].ID)
		add(0, question{page: 1 + i%3, per: 20})
		add(1, question{page: 1, per: 20, filter: lyceum.TransactionFilter{UserID: lyceum.Some(buyers[i])}})
		add(2, question{page: 1 + i%3, per: 20, filter: lyceum.TransactionFilter{CourseID: course}})
		add(3, question{page: 1 + i%3, per: 20, filter: lyceum.TransactionFilter{Created: lyceum.Period{After: month.Add(-time.Second), Until: month.AddDate(0, 1, 0).Add(-time.Second)}}})
		add(4, question{page: 1 + i%3, per: 20, filter: lyceum.TransactionFilter{FullyRefunded: lyceum.Some(true)}})
		add(5, question{page: 1, per: 20, filter: lyceum.TransactionFilter{CourseID: course, Chargeback: lyceum.Some(false), FullyRefunded: lyceum.Some(false)}})
		add(6, question{page: pages/2 + (i*pages/2)/variants, per: 20})
		add(7, question{page: 1 + i%3, per: 100})
	}
	return list
}

// sample draws buyers as sales do: who buys often is drawn often.
func sample(school *demo.School, chance *rand.Rand, size int) []lyceum.UserID {
	var buyers []lyceum.UserID
	for batch := range school.Batches(1000) {
		for i := range batch.Transactions {
			if chance.IntN(size) < variants*4 {
				buyers = append(buyers, batch.Transactions[i].UserID)
			}
		}
	}
	chance.Shuffle(len(buyers), func(i, j int) { buyers[i], buyers[j] = buyers[j], buyers[i] })
	for len(buyers) < variants {
		buyers = append(buyers, demo.LearnerID)
	}
	return buyers
}

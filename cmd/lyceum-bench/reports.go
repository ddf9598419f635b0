package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// reportClock is where the clock of the school of the part reports stands, and where its sales
// end.
const reportClock = "2026-06-30T18:00:00Z"

// soldBySandbox is how many sales are generated one by one; the remaining ones of a larger
// school are copies.
const soldBySandbox = 500_000

// reportClients are the numbers of clients that request reports at the same time.
var reportClients = []int{1, 8}

const reportsMethod = "" +
	"GET /lyceum/v1/reports/sales and the console's first page of a school whose sales end today. Beyond " +
	"500,000 they are copies of these, of the same days. Each class has %d " +
	"requests for random periods, of a week to all time. Every row is the median of %d rounds of %v; the constant has " +
	"its bytes ready, in a server of its own. The time of both processors together that a request takes is measured " +
	"while it is sent alone, three times each, of which the median counts: that of the median request, and of the " +
	"most expensive one. Index memory is counted before the first report and after the last."

// measureReports measures how long reports take in schools of each size.
func measureReports(ctx context.Context, s settings) error {
	fmt.Printf("## Reports\n\n"+reportsMethod+"\n\n", reportRequests, s.rounds, s.duration)
	for _, size := range s.sizes {
		if err := s.reports(ctx, size); err != nil {
			return fmt.Errorf("%d sales: %w", size, err)
		}
	}
	return nil
}

func (s settings) reports(ctx context.Context, size int) error {
	dir := filepath.Join(s.keep, "reports-"+strconv.Itoa(size))
	if _, err := os.Stat(dir); err != nil {
		made, err := s.sandbox(ctx, dir+".part", min(size, soldBySandbox))
		if err != nil {
			return err
		}
		if err := made.stop(); err != nil {
			return err
		}
		if err := copySales(ctx, dir+".part", size); err != nil {
			return err
		}
		if err := os.Rename(dir+".part", dir); err != nil {
			return err
		}
	}
	before, after, err := s.reportMemory(ctx, dir)
	if err != nil {
		return err
	}
	school, err := s.sandbox(ctx, dir, size)
	if err != nil {
		return err
	}
	defer func() { _ = school.stop() }()
	if err := school.warm(ctx); err != nil {
		return err
	}
	fmt.Print("| sales | class | clients | p50 ms | p99 ms | constant p50 ms | median, processor ms | most expensive, " +
		"processor ms |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	console := pathClass{name: "the console's first page", paths: []string{firstPage}}
	for _, class := range append(reportClasses(), console) {
		if err := s.reportRows(ctx, school, size, class); err != nil {
			return fmt.Errorf("%s: %w", class.name, err)
		}
	}
	fmt.Printf("\nIndex: %.1f bytes a sale before, %.1f after.\n\n", before/float64(size), after/float64(size))
	return nil
}

// sandbox serves a school whose clock stands at the end of its sales.
func (s settings) sandbox(ctx context.Context, dir string, size int) (*server, error) {
	return start(ctx, s.binary, "sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--response-cache", "0",
		"--clock", reportClock, "--seed", strconv.FormatUint(s.seed, 10), "--transactions", strconv.Itoa(size),
		"--data", dir)
}

// gaugeEvery is how often a server measures its indexes.
const gaugeEvery = time.Minute

// reportMemory returns the size of a school's index in bytes before its first report and after
// one of each kind.
func (s settings) reportMemory(ctx context.Context, dir string) (before, after float64, err error) {
	served, err := s.serve(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = served.stop() }()
	if _, err := served.indexed(ctx); err != nil {
		return 0, 0, err
	}
	gauges, err := served.gauges(ctx)
	if err != nil {
		return 0, 0, err
	}
	before = gauges["lyceum_sales_index_bytes"]
	for _, class := range reportClasses() {
		if _, err := served.lengths(class.paths); err != nil {
			return 0, 0, err
		}
	}
	for begin := time.Now(); time.Since(begin) < 2*gaugeEvery; time.Sleep(time.Second) {
		if gauges, err = served.gauges(ctx); err != nil || gauges["lyceum_sales_index_bytes"] > before {
			break
		}
	}
	return before, gauges["lyceum_sales_index_bytes"], err
}

// warm waits until a sandbox serves lists from its index.
func (s *server) warm(ctx context.Context) error {
	const path = "/v1/transactions?page=1000"
	for begin := time.Now(); time.Since(begin) < indexWait; {
		var took []time.Duration
		for range 5 {
			sent := time.Now()
			if _, err := s.lengths([]string{path}); err != nil {
				return err
			}
			took = append(took, time.Since(sent))
		}
		if slices.Max(took) < 20*time.Millisecond {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("lists are not answered from the index after %v", indexWait)
}

// lengths requests paths, which must exist, and returns the length of each response in bytes.
func (s *server) lengths(paths []string) ([]int, error) {
	c, err := dial(s.address)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	var all []int
	for _, path := range paths {
		status, body, err := c.do(request(path, s.key), true)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("%s is a %d: %s", path, status, body)
		}
		all = append(all, len(body))
	}
	return all, nil
}

func (s settings) reportRows(ctx context.Context, school *server, size int, class pathClass) error {
	requests := make([][]byte, len(class.paths))
	var lengths []int
	if class.paths[0] == firstPage {
		cookie, length, err := school.ownerCookie(ctx)
		if err != nil {
			return err
		}
		requests[0] = []byte(
			"GET " + firstPage + " HTTP/1.1\r\nHost: " + school.address + "\r\nCookie: " + cookie + "\r\n\r\n",
		)
		lengths = []int{length}
	} else {
		var err error
		if lengths, err = school.lengths(class.paths); err != nil {
			return err
		}
		for i, path := range class.paths {
			requests[i] = request(path, school.key)
		}
	}
	constant, err := startConstant(ctx, lengths)
	if err != nil {
		return err
	}
	defer func() { _ = constant.stop() }()
	twins := make([][]byte, len(requests))
	for i, path := range class.paths {
		twins[i] = constant.twin(path, lengths[i])
	}
	middle, slowest, err := school.costs(requests)
	if err != nil {
		return err
	}
	for _, n := range reportClients {
		var rates, base []rate
		for range s.rounds {
			b, err := drive(constant.address, twins, n, s.duration)
			if err != nil {
				return err
			}
			r, err := drive(school.address, requests, n, s.duration)
			if err != nil {
				return err
			}
			rates, base = append(rates, r), append(base, b)
		}
		r, b := medians(rates), medians(base)
		fmt.Printf("| %s | %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f |\n", grouped(size), class.name, n, r.p50, r.p99, b.p50,
			middle, slowest)
	}
	return nil
}

// costs returns the processor time of the median request and of the most expensive one, in
// milliseconds.
func (s *server) costs(requests [][]byte) (middle, slowest float64, err error) {
	c, err := dial(s.address)
	if err != nil {
		return 0, 0, err
	}
	defer c.conn.Close()
	var each []float64
	for _, req := range requests {
		var took []float64
		for range 3 {
			before := processor(s.command.Process.Pid)
			if _, _, err := c.do(req, false); err != nil {
				return 0, 0, err
			}
			took = append(took, float64(processor(s.command.Process.Pid)-before)/1e6)
		}
		each = append(each, median(took))
	}
	return median(each), slices.Max(each), nil
}

// firstPage is the path of the console's first page.
const firstPage = "/admin"

// ownerCookie signs the owner in, and returns the cookies and the size of the first page in
// bytes.
func (s *server) ownerCookie(ctx context.Context) (cookie string, length int, err error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", 0, err
	}
	b := &browser{client: http.Client{Jar: jar, Timeout: time.Minute}}
	page, err := b.page(ctx, http.MethodPost, s.said.BaseURL+"/secure/1/identity/sign_in", url.Values{
		"email": {s.said.Owner.Email}, "password": {s.said.Owner.Password}, "next": {firstPage},
	}.Encode())
	if err != nil {
		return "", 0, err
	}
	base, err := url.Parse(s.said.BaseURL + firstPage)
	if err != nil {
		return "", 0, err
	}
	for _, c := range jar.Cookies(base) {
		cookie += c.Name + "=" + c.Value + "; "
	}
	return cookie, len(page), nil
}

// reportRequests is the number of requests in a class of reports.
const reportRequests = 32

// reportClasses generates the requests, always the same ones.
func reportClasses() []pathClass {
	random := rand.New(rand.NewPCG(1, 1))
	end := time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)
	period := func() string {
		length := 7 + random.IntN(1300)
		until := end.AddDate(0, 0, -random.IntN(1300))
		return "from=" + until.AddDate(0, 0, -length).Format(time.DateOnly) + "&until=" + until.Format(time.DateOnly)
	}
	class := func(name string, by []string, filters ...string) pathClass {
		c := pathClass{name: name}
		for i := range reportRequests {
			path := "/lyceum/v1/reports/sales?" + period() + "&by=" + by[i%len(by)]
			if len(filters) > 0 {
				path += "&" + fmt.Sprintf(filters[i/len(by)%len(filters)], 1+random.IntN(5))
			}
			c.paths = append(c.paths, path)
		}
		return c
	}
	return []pathClass{
		class("by day, month or currency", []string{"day", "month", "currency"}),
		class("by course", []string{"course"}),
		class("by plan", []string{"plan"}),
		class("by product", []string{"product"}),
		class("by affiliate", []string{"affiliate"}),
		class("by author", []string{"author"}),
		class("one filter", []string{"month", "course"}, "pricing_plan_id=%d", "course_id=%d", "affiliate_id=%d"),
		class("anything else", []string{"week", "coupon", "affiliate"},
			"is_chargeback=false&course_id=%d", "is_fully_refunded=false&pricing_plan_id=%d",
			"is_fully_refunded=false&user_id=%d"),
	}
}

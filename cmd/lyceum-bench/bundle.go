package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// bundleMembers is how many users have bought the product collection.
const bundleMembers = 100_000

// bundle is a school with a product collection that many users have bought, including the
// sandbox's learner.
type bundle struct {
	s          settings
	place      oldPlace
	key, token string
	school     lyceum.SchoolID
	collection lyceum.ProductCollectionID
	courses    [2]lyceum.CourseID // that are added and removed
	server     *server
}

// measureBundle adds products to a large collection and removes them, and measures how long the
// resulting writes make others wait.
func measureBundle(ctx context.Context, s settings) error {
	dir := filepath.Join(s.work, "bundle")
	b := &bundle{s: s, place: oldPlace{"sqlite", []string{"--data", dir}, s.work}}
	if err := errors.Join(b.measure(ctx), os.RemoveAll(dir)); err != nil {
		return err
	}
	server := os.Getenv("LYCEUM_TEST_POSTGRES")
	if server == "" {
		return nil
	}
	return withDatabase(ctx, server, func(address string) error {
		b := &bundle{s: s, place: oldPlace{"postgres", []string{"--database-url", address}, s.work}}
		return b.measure(ctx)
	})
}

func (b *bundle) measure(ctx context.Context) error {
	fmt.Printf("## A product in a collection of %d members, %s\n\n", bundleMembers, b.place.engine)
	if err := b.make(ctx); err != nil {
		return err
	}
	if err := b.measureSteps(ctx); err != nil {
		return err
	}
	if err := b.measureChanges(ctx); err != nil {
		return err
	}
	checked, err := b.s.timed(ctx, append([]string{"check"}, b.place.database...)...)
	fmt.Printf("\n```text\n%s```\n\n", checked.said)
	return err
}

func (b *bundle) measureChanges(ctx context.Context) error {
	fmt.Print("| change | response ms | access after ms | settled s | killed | " +
		"`POST /v1/users` p50 ms | p99 ms | slowest ms | slowest ms before |\n|---|---|---|---|---|---|---|---|---|\n")
	if err := b.serve(ctx); err != nil {
		return err
	}
	products := fmt.Sprintf("/lyceum/v1/product_collections/%d/products", b.collection)
	for _, change := range []struct {
		name, method, path string
		body               any
		course             int
		opens, kill        bool
	}{
		{"a course is added", http.MethodPost, products, b.added(0), 0, true, false},
		{"another one is added", http.MethodPost, products, b.added(1), 1, true, true},
		{"removed, and kept by the members", http.MethodDelete, b.removed(products, 0), nil, 0, true, true},
		{
			"removed, with the members' access", http.MethodDelete, b.removed(products, 1) + "?end_access=true", nil, 1, false,
			true,
		},
	} {
		row, err := b.change(
			ctx, change.method, change.path, change.body, b.courses[change.course], change.opens, change.kill,
		)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", change.name, err), b.server.stop())
		}
		fmt.Printf("| %s | %s |\n", change.name, row)
	}
	return b.server.stop()
}

// serve starts a server for the school.
func (b *bundle) serve(ctx context.Context) (err error) {
	if b.server, err = b.s.serveOn(ctx, b.place.database); err == nil {
		b.server.key = b.key
	}
	return err
}

// open opens the school's database.
func (b *bundle) open(ctx context.Context) (*sqlstore.Store, error) {
	if b.place.engine == "postgres" {
		return sqlstore.OpenPostgres(ctx, b.place.database[1], sqlstore.Options{})
	}
	return sqlstore.Open(ctx, b.place.database[1], sqlstore.Options{})
}

func (b *bundle) added(n int) any { return map[string]any{"type": "course", "id": b.courses[n]} }

func (b *bundle) removed(products string, n int) string {
	return fmt.Sprintf("%s/course/%d", products, b.courses[n])
}

// timedStore measures how long each write of one caller takes, and also that of a small write
// after each, which shows how noisy the machine is.
type timedStore struct {
	lyceum.Store

	took, small []time.Duration
	tag         lyceum.UserID
}

func (t *timedStore) Write(ctx context.Context, stamp lyceum.Stamp, change func(lyceum.Tx) error) error {
	begin := time.Now()
	err := t.Store.Write(ctx, stamp, change)
	end := time.Now()
	t.took = append(t.took, end.Sub(begin))
	if err != nil {
		return err
	}
	err = t.Store.Write(ctx, stamp, func(tx lyceum.Tx) error { return touch(tx, t.tag) })
	t.small = append(t.small, time.Since(end))
	return err
}

// touch changes the name of a user.
func touch(tx lyceum.Tx, id lyceum.UserID) error {
	user, err := tx.Users.Get(tx, id)
	if err != nil {
		return err
	}
	user.Name = lyceum.Some(time.Now().String())
	_, err = tx.Users.Save(tx, user)
	return err
}

// measureSteps adds a course and removes it without concurrent load, and measures each of the
// resulting writes.
func (b *bundle) measureSteps(ctx context.Context) error {
	store, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	timed := &timedStore{Store: store}
	if timed.tag, err = b.learner(ctx, store); err != nil {
		return err
	}
	service := learning.New(timed, time.Now)
	by := lyceum.By{School: b.school, Actor: "bench"}
	in := learning.ProductIn[lyceum.ProductCollectionID]{In: b.collection, Product: b.courses[0].Product()}
	fmt.Print("| change | writes | members/s | p50 ms | p99 ms | longest ms | over 25 ms | " +
		"a user's name p50 ms | p99 ms | longest ms | over 25 ms |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, change := range []struct {
		name string
		do   func() error
	}{
		{"added", func() error { _, err := service.CollectionProducts().Add(ctx, by, in); return err }},
		{"removed, with the members' access", func() error {
			out := learning.Removal[lyceum.ProductCollectionID]{ProductIn: in, EndAccess: true}
			return service.CollectionProducts().Remove(ctx, by, out)
		}},
	} {
		if err := change.do(); err != nil {
			return err
		}
		timed.took, timed.small = nil, nil
		begin := time.Now()
		if err := service.Settle(ctx, b.school); err != nil {
			return err
		}
		rate := bundleMembers / time.Since(begin).Seconds()
		fmt.Printf("| %s | %d | %.0f | %s | %d | %s | %d |\n", change.name, len(timed.took), rate, times(timed.took),
			long(timed.took), times(timed.small), long(timed.small))
	}
	fmt.Println()
	return nil
}

// long counts the writes that took longer than they should.
func long(took []time.Duration) (n int) {
	for _, d := range took {
		if d > 25*time.Millisecond {
			n++
		}
	}
	return n
}

// times formats the median, the 99th percentile and the maximum in milliseconds.
func times(took []time.Duration) string {
	if len(took) == 0 {
		return "– | – | –"
	}
	slices.Sort(took)
	at := func(place int) float64 { return took[place].Seconds() * 1e3 }
	n := len(took)
	return fmt.Sprintf("%.2f | %.2f | %.2f", at(n/2), at(n*99/100), at(n-1))
}

// change makes one change to the collection through the API while another connection creates
// users, and returns its row of the table.
func (b *bundle) change(
	ctx context.Context, method, path string, body any, course lyceum.CourseID, opens, kill bool,
) (string, error) {
	alone, err := b.createUsers(func() (bool, error) { return false, nil }, 3*time.Second)
	if err != nil {
		return "", err
	}
	slices.Sort(alone)
	begin := time.Now()
	if err := b.server.send(ctx, method, path, body, nil); err != nil {
		return "", err
	}
	responded := time.Since(begin)
	if open, err := b.opens(ctx, course); err != nil || open != opens {
		return "", fmt.Errorf("the learner's access is %v, want %v: %w", open, opens, err)
	}
	access := time.Since(begin)
	killed := "–"
	if kill {
		if killed, err = b.kill(ctx); err != nil {
			return "", err
		}
		if open, err := b.opens(ctx, course); err != nil || open != opens {
			return "", fmt.Errorf("after a kill the learner's access is %v, want %v: %w", open, opens, err)
		}
	}
	took, err := b.createUsers(func() (bool, error) {
		left, err := b.left(ctx)
		return left < 0, err
	}, 10*time.Minute)
	if err != nil {
		return "", err
	}
	want := int64(0)
	if opens {
		want = bundleMembers
	}
	if n, err := b.enrolled(ctx, course); err != nil || n != want {
		return "", fmt.Errorf("%d members are enrolled, want %d: %w", n, want, err)
	}
	return fmt.Sprintf("%.1f | %.1f | %.1f | %s | %s | %.2f", responded.Seconds()*1e3, access.Seconds()*1e3,
		time.Since(begin).Seconds(), killed, times(took), alone[len(alone)-1].Seconds()*1e3), nil
}

// kill kills the server, like a power failure would, once some members are settled, and
// restarts it.
func (b *bundle) kill(ctx context.Context) (string, error) {
	var settled int64
	for begin := time.Now(); settled == 0; {
		left, err := b.left(ctx)
		if err != nil {
			return "", err
		}
		if left < 0 || time.Since(begin) > time.Minute {
			return "", errors.New("it was settled before it could be killed, or not at all")
		}
		settled = left
		time.Sleep(time.Millisecond)
	}
	if err := b.server.command.Process.Signal(syscall.SIGKILL); err != nil {
		return "", err
	}
	_ = b.server.command.Wait()
	if err := b.serve(ctx); err != nil {
		return "", err
	}
	left, err := b.left(ctx)
	if left < 0 {
		return "", errors.New("it was settled when it was killed")
	}
	return fmt.Sprintf("at entitlement %d", left), err
}

// createUsers creates users one after another until done returns true, or most has passed.
func (b *bundle) createUsers(done func() (bool, error), most time.Duration) (took []time.Duration, err error) {
	c, err := dial(b.server.address)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	begin := time.Now()
	for last := begin; time.Since(begin) < most; {
		form := fmt.Sprintf(`{"email":"user%d@example.com"}`, time.Now().UnixNano())
		one := time.Now()
		status, body, err := c.do(fmt.Appendf(nil, "POST /v1/users HTTP/1.1\r\nHost: localhost\r\napiKey: %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", b.key, len(form), form), true)
		if err != nil || status >= http.StatusMultipleChoices {
			return nil, fmt.Errorf("a user is a %d: %s: %w", status, body, err)
		}
		took = append(took, time.Since(one))
		if time.Since(last) < 100*time.Millisecond {
			continue
		}
		last = time.Now()
		if ready, err := done(); ready || err != nil {
			return took, err
		}
	}
	return took, nil
}

// opens reports whether the learner can open a course.
func (b *bundle) opens(ctx context.Context, course lyceum.CourseID) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		fmt.Sprintf("http://%s/v1/current_user/courses/%d", b.server.address, course), nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Authorization", "Bearer "+b.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusNotFound {
		return false, fmt.Errorf("the learner's course is a %d", response.StatusCode)
	}
	return response.StatusCode == http.StatusOK, nil
}

func (b *bundle) enrolled(ctx context.Context, course lyceum.CourseID) (int64, error) {
	var list struct{ Meta struct{ Total int64 } }
	err := b.server.send(ctx, http.MethodGet, fmt.Sprintf("/v1/courses/%d/enrollments?per=1", course), nil, &list)
	return list.Meta.Total, err
}

// left returns the entitlement up to which members are settled, or -1 if all are.
func (b *bundle) left(ctx context.Context) (int64, error) {
	driver, address := "pgx", b.place.database[1]
	if b.place.engine == "sqlite" {
		driver = "sqlite"
		address = "file:" + filepath.Join(address, sqlstore.FileName) + "?_pragma=query_only(1)&_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var settled int64
	err = db.QueryRowContext(ctx, "SELECT COALESCE(max(settled), -1) FROM collection_products").Scan(&settled)
	return settled, err
}

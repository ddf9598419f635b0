package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// TestHardHistories plays histories in which access depends on more than one reason: in a
// sandbox whose sales were recorded by the API, and in two schools into which its rows were
// imported, sales before enrollments and the other way round. Before each step the preview is
// requested; version 1, the feed and the webhooks must then agree with it. The transcript is in
// testdata.
//
// The effects of a lapse and of a failed payment are not played.
func TestHardHistories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	origin := filepath.Join(dir, "sandbox")
	makeSandbox(t, origin)
	live := openStage(t, origin)
	cast := live.castAll(t)
	live.stop(t)
	var transcripts []string
	for _, salesFirst := range []bool{true, false} {
		to := filepath.Join(dir, fmt.Sprint("sales first ", salesFirst))
		importAll(t, origin, to, salesFirst)
		s := openStage(t, to)
		transcripts = append(transcripts, s.playAll(t, cast))
		s.stop(t)
		if said := command(t, "check", "--data", to); !strings.Contains(said, "all in order") {
			t.Error(said)
		}
	}
	if diff := cmp.Diff(transcripts[0], transcripts[1]); diff != "" {
		t.Errorf("the order of the files matters (-sales first +enrollments first):\n%s", diff)
	}
	live = openStage(t, origin)
	got := "# Recorded by the API\n" + live.playAll(t, cast) + "\n# Imported, in either order\n" + transcripts[0]
	live.stop(t)
	if said := command(t, "check", "--data", origin); !strings.Contains(said, "all in order") {
		t.Error(said)
	}
	const golden = "testdata/histories.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func makeSandbox(t *testing.T, dir string) {
	t.Helper()
	addr := freeAddress(t)
	p, err := launch(exec.Command(watched, "sandbox", "--json", "--addr", addr, "--transactions", "20", "--data", dir))
	if err != nil {
		t.Fatal(err)
	}
	ready := await(func() bool {
		response, err := http.Get("http://" + addr + "/readyz")
		if err == nil {
			response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK || !p.running()
	})
	if code, err := p.signal(syscall.SIGTERM); !ready || err != nil || code != 0 {
		t.Fatalf("the sandbox ended with %d, %v", code, err)
	}
}

// importAll imports every kind but webhooks into a new school, sales before enrollments or
// after them.
func importAll(t *testing.T, from, to string, salesFirst bool) {
	t.Helper()
	command(t, "school", "create", "--data", to, "--name", "Copy", "--owner-email", "someone@example.com")
	var kinds []string
	for _, kind := range rowKinds {
		switch {
		case strings.HasPrefix(kind.name, "webhook"), salesFirst && kind.name == "transactions":
			continue
		case salesFirst && kind.name == "enrollments":
			kinds = append(kinds, "transactions")
		}
		kinds = append(kinds, kind.name)
	}
	for _, kind := range kinds {
		file := filepath.Join(t.TempDir(), kind+".csv")
		command(t, "export", kind, "--data", from, "--output", file)
		command(t, "import", kind, file, "--data", to)
	}
}

// stage is a school in which histories are played.
type stage struct {
	*shop

	box  *mailbox
	hook *httptest.Server
	text strings.Builder
}

// mailbox records the changes of access that webhooks report, as "Enrollment.created ann 1".
type mailbox struct {
	mu   sync.Mutex
	came []string
}

func (b *mailbox) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var e struct {
		Type   string `json:"type"`
		Object struct {
			UserID   int32 `json:"user_id"`
			CourseID int32 `json:"course_id"`
		} `json:"object"`
	}
	if json.NewDecoder(r.Body).Decode(&e) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.came = append(b.came, fmt.Sprint(e.Type, " ", e.Object.UserID, " ", e.Object.CourseID))
}

func (b *mailbox) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.came)
}

func openStage(t *testing.T, dir string) *stage {
	t.Helper()
	s := &stage{shop: &shop{place: dir, addr: freeAddress(t), metrics: freeAddress(t)}, box: &mailbox{}}
	s.key = strings.TrimSpace(command(t, "apikey", "create", "--data", dir, "--name", "stage", "--permissions", "read,write"))
	s.hook = httptest.NewServer(s.box)
	s.serve(t)
	t.Cleanup(func() { s.server.kill(t); s.hook.Close() })
	s.must(t, http.MethodPost, "/lyceum/v1/webhooks", map[string]any{
		"url": s.hook.URL, "events": []string{"Enrollment.created", "Enrollment.disabled"},
	}, nil)
	return s
}

func (s *stage) stop(t *testing.T) {
	t.Helper()
	if code, err := s.server.signal(syscall.SIGTERM); err != nil || code != 0 {
		t.Fatalf("the server ended with %d, %v", code, err)
	}
}

// must sends a request that has to succeed.
func (s *stage) must(t *testing.T, method, path string, body, into any) {
	t.Helper()
	if status, err := s.send(method, path, "", body, into); err != nil || status >= 300 {
		t.Fatalf("%s %s %v: %d, %v", method, path, body, status, err)
	}
}

// make creates something and returns its id.
func (s *stage) make(t *testing.T, path, name string, body map[string]any) int32 {
	t.Helper()
	made := map[string]struct {
		ID int32 `json:"id"`
	}{}
	s.must(t, http.MethodPost, "/lyceum/v1/"+path, body, &made)
	return made[name].ID
}

// bought is a learner's purchase: the sale, and its transactions.
type bought struct {
	user, sale int32
	paid       []int32
}

// buy makes somebody buy a plan for the first time.
func (s *stage) buy(t *testing.T, who string, plan int32, more map[string]any) bought {
	t.Helper()
	body := map[string]any{"email": who + "@example.com", "name": who, "pricing_plan_id": plan}
	for name, value := range more {
		body[name] = value
	}
	order := s.make(t, "orders", "order", body)
	var sale struct {
		Sale struct {
			ID           int32 `json:"id"`
			UserID       int32 `json:"user_id"`
			Transactions []struct {
				ID int32 `json:"id"`
			} `json:"transactions"`
		} `json:"sale"`
	}
	s.must(t, http.MethodPost, fmt.Sprintf("/lyceum/v1/orders/%d/complete", order), map[string]any{}, &sale)
	b := bought{user: sale.Sale.UserID, sale: sale.Sale.ID}
	for _, x := range sale.Sale.Transactions {
		b.paid = append(b.paid, x.ID)
	}
	return b
}

// cast is what exists before the histories start.
type cast struct {
	courses map[int32]string
	clay    int32
	bundle  int32 // of Wool
	tier    int32 // of Wood
	wool    int32
	wood    int32
	once    int32 // a plan of Clay
	silver  int32 // a plan of a tier of Glass

	ann, ben, cat, dan, eve, fay, gus, hal, ida, joe, kim, lea, max, nia []bought
}

func (s *stage) castAll(t *testing.T) *cast {
	t.Helper()
	c := &cast{courses: map[int32]string{}}
	course := func(name string) int32 {
		id := s.make(t, "courses", "course", map[string]any{"name": name, "is_published": true})
		c.courses[id] = name
		return id
	}
	plan := func(kind string, product int32, more map[string]any) int32 {
		body := map[string]any{"product_type": kind, "product_id": product, "name": "Plan", "price": 2000, "currency": "USD"}
		for name, value := range more {
			body[name] = value
		}
		return s.make(t, "pricing_plans", "pricing_plan", body)
	}
	inside := func(path string, product int32) {
		s.must(t, http.MethodPost, "/lyceum/v1/"+path+"/products", map[string]any{"type": "course", "id": product}, nil)
	}
	c.clay, c.wool, c.wood = course("Clay"), course("Wool"), course("Wood")
	glass := course("Glass")
	both := s.make(t, "product_collections", "product_collection", map[string]any{"name": "Both"})
	inside(fmt.Sprint("product_collections/", both), c.clay)
	inside(fmt.Sprint("product_collections/", both), glass)
	c.bundle = s.make(t, "product_collections", "product_collection", map[string]any{"name": "Warm"})
	inside(fmt.Sprint("product_collections/", c.bundle), c.wool)
	club := s.make(t, "memberships", "membership", map[string]any{"name": "Club"})
	c.tier = s.make(t, fmt.Sprintf("memberships/%d/tiers", club), "membership_tier", map[string]any{"name": "Gold"})
	inside(fmt.Sprint("membership_tiers/", c.tier), c.wood)
	other := s.make(t, fmt.Sprintf("memberships/%d/tiers", club), "membership_tier", map[string]any{"name": "Silver"})
	inside(fmt.Sprint("membership_tiers/", other), glass)
	monthly := map[string]any{"frequency": "subscription", "billing_interval": "month"}
	c.once = plan("course", c.clay, nil)
	bundled, warm := plan("product_collection", both, nil), plan("product_collection", c.bundle, nil)
	c.silver = plan("membership_tier", other, monthly)
	gold, subscribed := plan("membership_tier", c.tier, monthly), plan("course", c.clay, monthly)
	parts := plan("course", c.clay, map[string]any{"frequency": "payment_plan", "billing_interval": "month", "num_payments_required": 3})
	gift := s.make(t, "coupons", "coupon", map[string]any{"code": "GIFT", "discount_percent": 1})

	c.ann = []bought{s.buy(t, "ann", c.once, nil), s.buy(t, "ann", c.once, nil)}
	c.ben = []bought{s.buy(t, "ben", c.once, nil), s.buy(t, "ben", c.once, nil)}
	for who, to := range map[string]*[]bought{"cat": &c.cat, "dan": &c.dan, "eve": &c.eve} {
		*to = []bought{s.buy(t, who, c.once, nil), s.buy(t, who, bundled, nil)}
	}
	c.fay = []bought{s.buy(t, "fay", c.once, nil)}
	s.must(t, http.MethodPost, refundsOf(c.fay[0].paid[0]), map[string]any{"end_access": false}, nil)
	c.gus, c.joe = []bought{s.buy(t, "gus", c.once, nil)}, []bought{s.buy(t, "joe", c.once, nil)}
	c.hal = []bought{s.buy(t, "hal", c.once, map[string]any{"coupon_id": gift})}
	c.ida = []bought{s.buy(t, "ida", parts, nil)}
	renewal := s.make(t, fmt.Sprintf("sales/%d/renewals", c.ida[0].sale), "transaction", map[string]any{})
	c.ida[0].paid = append(c.ida[0].paid, renewal)
	c.kim, c.lea = []bought{s.buy(t, "kim", warm, nil)}, []bought{s.buy(t, "lea", gold, nil)}
	c.max, c.nia = []bought{s.buy(t, "max", subscribed, nil)}, []bought{s.buy(t, "nia", gold, nil)}
	return c
}

// paid returns the first transaction of a sale.
func (s *stage) paid(t *testing.T, sale int32) int32 {
	t.Helper()
	var shown soldBy
	s.must(t, http.MethodGet, fmt.Sprint("/lyceum/v1/sales/", sale), nil, &shown)
	return shown.Sale.Transactions[0].ID
}

func refundsOf(transaction int32) string {
	return fmt.Sprintf("/lyceum/v1/transactions/%d/refunds", transaction)
}

func disputesOf(transaction int32) string {
	return fmt.Sprintf("/lyceum/v1/transactions/%d/disputes", transaction)
}

func saleAct(sale int32, act string) string { return fmt.Sprintf("/lyceum/v1/sales/%d/%s", sale, act) }

func (s *stage) playAll(t *testing.T, c *cast) string {
	t.Helper()
	none := map[string]any{}
	s.title("Bought twice, both refunded, the first one first")
	s.step(t, c, c.ann[0], "the first is refunded", http.MethodPost, refundsOf(c.ann[0].paid[0]), none)
	s.step(t, c, c.ann[0], "the second is refunded", http.MethodPost, refundsOf(c.ann[1].paid[0]), none)
	s.title("Bought twice, both refunded, the second one first")
	s.step(t, c, c.ben[0], "the second is refunded", http.MethodPost, refundsOf(c.ben[1].paid[0]), none)
	s.step(t, c, c.ben[0], "the first is refunded", http.MethodPost, refundsOf(c.ben[0].paid[0]), none)
	s.title("A course and a bundle with it, the course refunded first")
	s.step(t, c, c.cat[0], "the course is refunded", http.MethodPost, refundsOf(c.cat[0].paid[0]), none)
	s.step(t, c, c.cat[0], "the bundle is refunded", http.MethodPost, refundsOf(c.cat[1].paid[0]), none)
	s.title("A course and a bundle with it, the bundle refunded first")
	s.step(t, c, c.dan[0], "the bundle is refunded", http.MethodPost, refundsOf(c.dan[1].paid[0]), none)
	s.step(t, c, c.dan[0], "the course is refunded", http.MethodPost, refundsOf(c.dan[0].paid[0]), none)
	s.title("A course and a bundle with it, unenrolled from the course")
	s.step(t, c, c.eve[0], "unenrolled", http.MethodPost, "/v1/unenroll", map[string]any{"user_id": c.eve[0].user, "course_id": c.clay}, "Clay ended")
	s.step(t, c, c.eve[0], "the bundle is refunded", http.MethodPost, refundsOf(c.eve[1].paid[0]), none)
	s.title("Refunded without ending access, before the files were made")
	s.step(t, c, c.fay[0], "refunded again", http.MethodPost, refundsOf(c.fay[0].paid[0]), none)
	s.step(t, c, c.fay[0], "the sale is ended", http.MethodPost, saleAct(c.fay[0].sale, "end"), none)
	s.title("A refund ends access; a dispute of the rest is lost, then won")
	s.step(t, c, c.gus[0], "a part is refunded, ending access", http.MethodPost, refundsOf(c.gus[0].paid[0]), map[string]any{"amount": 500, "end_access": true})
	dispute := s.step(t, c, c.gus[0], "the rest is disputed", http.MethodPost, disputesOf(c.gus[0].paid[0]), map[string]any{"fee": 1500})
	closing := fmt.Sprintf("/lyceum/v1/disputes/%d/close", dispute)
	s.step(t, c, c.gus[0], "the dispute is lost", http.MethodPost, closing, map[string]any{"outcome": "lost"})
	s.step(t, c, c.gus[0], "the dispute is won", http.MethodPost, closing, map[string]any{"outcome": "won"})
	s.title("A coupon made it free")
	s.step(t, c, c.hal[0], "refunded", http.MethodPost, refundsOf(c.hal[0].paid[0]), none)
	s.step(t, c, c.hal[0], "the sale is ended", http.MethodPost, saleAct(c.hal[0].sale, "end"), none)
	s.title("A payment plan cancelled midway, and its payments refunded")
	s.step(t, c, c.ida[0], "cancelled", http.MethodPost, saleAct(c.ida[0].sale, "cancel"), none)
	s.step(t, c, c.ida[0], "the second payment is refunded", http.MethodPost, refundsOf(c.ida[0].paid[1]), none)
	s.step(t, c, c.ida[0], "the first payment is refunded", http.MethodPost, refundsOf(c.ida[0].paid[0]), none)
	s.title("Refunded, enrolled by hand, and bought again")
	s.step(t, c, c.joe[0], "refunded", http.MethodPost, refundsOf(c.joe[0].paid[0]), none)
	s.step(t, c, c.joe[0], "enrolled by hand", http.MethodPost, "/v1/enroll", map[string]any{"user_id": c.joe[0].user, "course_id": c.clay}, "Clay active")
	again := s.step(t, c, c.joe[0], "bought again", http.MethodPost, "/lyceum/v1/sales", map[string]any{"user_id": c.joe[0].user, "pricing_plan_id": c.once})
	s.step(t, c, c.joe[0], "the new sale is ended", http.MethodPost, saleAct(again, "end"), none)
	s.title("A change to another tier, and the new one refunded")
	fresh := s.step(t, c, c.nia[0], "changed to silver", http.MethodPost, saleAct(c.nia[0].sale, "change_plan"), map[string]any{"pricing_plan_id": c.silver})
	s.step(t, c, c.nia[0], "silver is refunded", http.MethodPost, refundsOf(s.paid(t, fresh)), none)
	s.title("Removed from a bundle and from a tier")
	of := fmt.Sprintf("/lyceum/v1/product_collections/%d/products/course/%d", c.bundle, c.wool)
	s.step(t, c, c.kim[0], "the course leaves the bundle", http.MethodDelete, of, nil)
	of = fmt.Sprintf("/lyceum/v1/membership_tiers/%d/products/course/%d", c.tier, c.wood)
	s.step(t, c, c.lea[0], "the course leaves the tier", http.MethodDelete, of, nil)
	s.title("Cancelled, and paid again")
	s.step(t, c, c.max[0], "cancelled", http.MethodPost, saleAct(c.max[0].sale, "cancel"), none)
	s.step(t, c, c.max[0], "renewed", http.MethodPost, saleAct(c.max[0].sale, "renewals"), none)
	return s.text.String()
}

func (s *stage) title(text string) { fmt.Fprintf(&s.text, "\n## %s\n\n", text) }

// previewed is what a preview says about a learner.
type previewed struct {
	Preview struct {
		Access []struct {
			UserID    int32  `json:"user_id"`
			ProductID int32  `json:"product_id"`
			Effect    string `json:"effect"`
		} `json:"access"`
		Money *struct {
			Refunded int32 `json:"amount_refunded"`
			Disputed int32 `json:"amount_disputed"`
			Left     int32 `json:"amount_left"`
		} `json:"money"`
	} `json:"preview"`
	Code string `json:"code"`
}

// step previews a request, sends it, and compares what version 1, the feed and the webhooks say
// then with the preview or, if there is none, with changes, such as "Clay ended". It returns
// the id of what was created.
func (s *stage) step(t *testing.T, c *cast, b bought, name, method, path string, body any, changes ...string) int32 {
	t.Helper()
	fmt.Fprintf(&s.text, "%s\n", name)
	var said previewed
	previewed := !strings.HasPrefix(path, "/v1/") && path != "/lyceum/v1/sales" && !strings.HasSuffix(path, "/renewals")
	foreseen := 0
	if previewed {
		foreseen = s.request(t, method, path+"?preview=true", body, &said)
		fmt.Fprintf(&s.text, "  preview: %s\n", said.text(c, b, foreseen))
	}
	before := s.access(t, c, b)
	feed, arrived := s.lastEntry(t), s.box.count()
	var made map[string]json.RawMessage
	status := s.request(t, method, path, body, &made)
	if previewed && (foreseen < 300) != (status < 300) || previewed && status >= 400 && status != foreseen {
		t.Errorf("%s: the preview answers %d, the act %d", name, foreseen, status)
	}
	wanted := maps.Clone(before)
	for _, row := range said.Preview.Access {
		switch row.Effect {
		case "ends":
			changes = append(changes, c.courses[row.ProductID]+" ended")
		case "opens":
			changes = append(changes, c.courses[row.ProductID]+" active")
		}
	}
	for _, change := range changes {
		course, state, _ := strings.Cut(change, " ")
		wanted[course] = state == "active"
	}
	if !await(func() bool { return cmp.Equal(wanted, s.access(t, c, b)) }) {
		t.Errorf("%s: the preview said %v, version 1 says %v", name, wanted, s.access(t, c, b))
	}
	events := s.feedEvents(t, feed, len(changes))
	if !await(func() bool { return s.box.count() >= arrived+len(changes) }) || s.box.count() != arrived+len(changes) {
		t.Errorf("%s: %d webhooks arrived, want %d", name, s.box.count()-arrived, len(changes))
	}
	fmt.Fprintf(&s.text, "  answer: %s\n  version 1: %s\n  feed and webhooks: %s\n", statusText(status, made), accessText(wanted), events)
	return idIn(made)
}

// request sends a request and reads the response, whatever its status.
func (s *stage) request(t *testing.T, method, path string, body, into any) int {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(method, "http://"+s.addr+path, strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if body == nil {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	r.Header.Set("apiKey", s.key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		if err := json.NewDecoder(response.Body).Decode(into); err != nil {
			t.Fatalf("%s %s: %d, %v", method, path, response.StatusCode, err)
		}
	}
	return response.StatusCode
}

// access returns what version 1 says about a learner's courses.
func (s *stage) access(t *testing.T, c *cast, b bought) map[string]bool {
	t.Helper()
	var user struct {
		Courses []struct {
			ID     int32 `json:"course_id"`
			Active bool  `json:"is_active_enrollment"`
		} `json:"courses"`
	}
	s.must(t, http.MethodGet, fmt.Sprint("/v1/users/", b.user), nil, &user)
	open := map[string]bool{}
	for _, course := range user.Courses {
		open[c.courses[course.ID]] = course.Active
	}
	return open
}

type feedPage struct {
	Changes []struct {
		Type  string  `json:"type"`
		Event *string `json:"event"`
	} `json:"changes"`
	Last int64 `json:"last"`
}

func (s *stage) lastEntry(t *testing.T) int64 {
	t.Helper()
	var page feedPage
	s.must(t, http.MethodGet, "/lyceum/v1/changes?limit=1", nil, &page)
	return page.Last
}

// feedEvents returns the events in the feed after an entry; it waits until the given number of them
// are about enrollments.
func (s *stage) feedEvents(t *testing.T, after int64, changes int) string {
	t.Helper()
	var events []string
	enough := await(func() bool {
		var page feedPage
		s.must(t, http.MethodGet, fmt.Sprintf("/lyceum/v1/changes?after=%d&limit=100", after), nil, &page)
		events = nil
		enrollments := 0
		for _, e := range page.Changes {
			if e.Event != nil {
				events = append(events, *e.Event)
				if strings.HasPrefix(*e.Event, "Enrollment.") {
					enrollments++
				}
			}
		}
		return enrollments == changes
	})
	if !enough {
		t.Errorf("the feed has %v, want %d about enrollments", events, changes)
	}
	if len(events) == 0 {
		return "nothing"
	}
	return strings.Join(events, ", ")
}

func (p *previewed) text(c *cast, b bought, status int) string {
	if status >= 300 {
		return fmt.Sprint(status, " ", p.Code)
	}
	var parts []string
	for _, row := range p.Preview.Access {
		part := c.courses[row.ProductID] + " " + row.Effect
		if row.UserID != b.user {
			part = "of somebody else, " + part
		}
		if row.Effect == "ends_earlier" {
			part += " at a moment to come"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		parts = []string{"no access changes"}
	}
	if m := p.Preview.Money; m != nil {
		parts = append(parts, fmt.Sprintf("%d refunded, %d disputed, %d left", m.Refunded, m.Disputed, m.Left))
	}
	return strings.Join(parts, "; ")
}

func statusText(status int, made map[string]json.RawMessage) string {
	var code string
	if json.Unmarshal(made["code"], &code) == nil {
		return fmt.Sprint(status, " ", code)
	}
	return fmt.Sprint(status)
}

func accessText(open map[string]bool) string {
	var parts []string
	for course, active := range open {
		parts = append(parts, course+map[bool]string{true: " active", false: " ended"}[active])
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// idIn returns the id of the only object in a response.
func idIn(made map[string]json.RawMessage) int32 {
	for _, text := range made {
		var thing struct {
			ID int32 `json:"id"`
		}
		if json.Unmarshal(text, &thing) == nil && thing.ID != 0 {
			return thing.ID
		}
	}
	return 0
}

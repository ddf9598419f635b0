package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // for the bare commits
)

// tokenConnections is how many apps send requests at the same time.
const tokenConnections = 16

// codesARound is how many codes a round exchanges; all of them must be exchanged before they
// expire after a minute.
const codesARound = 2000

// measureOAuth measures what apps request all day: tokens, and the learner's profile. Every
// exchange and refresh is on disk before the response.
func measureOAuth(ctx context.Context, s settings) error {
	dir := filepath.Join(s.work, "oauth")
	defer os.RemoveAll(dir)
	sandbox, err := start(
		ctx, s.binary, "sandbox", "--json", "--addr", "127.0.0.1:0", "--rate-limit", "0", "--transactions", "100", "--data",
		dir,
	)
	if err != nil {
		return err
	}
	defer func() { _ = sandbox.stop() }()
	learner, err := signIn(ctx, sandbox, "name:read email:read")
	if err != nil {
		return err
	}
	var consents, exchanges, refreshes, bare []float64
	var last tokens
	for range s.rounds {
		commits, err := bareCommits(ctx, s.work, s.duration)
		if err != nil {
			return err
		}
		bare = append(bare, commits)
		codes, perSecond, err := learner.authorize(ctx, codesARound)
		if err != nil {
			return err
		}
		consents = append(consents, perSecond)
		if perSecond, last, err = sandbox.exchange(codes); err != nil {
			return err
		}
		exchanges = append(exchanges, perSecond)
		r, err := drive(
			sandbox.address, [][]byte{sandbox.tokenRequest("grant_type", "refresh_token", "refresh_token", last.RefreshToken)},
			tokenConnections, s.duration,
		)
		if err != nil {
			return err
		}
		refreshes = append(refreshes, r.perSecond)
	}
	fmt.Printf("## OAuth\n\nMedian of %d rounds, %d connections. A bare commit is one row in a SQLite database of its "+
		"own on the same disk, synced, one after the other.\n\n", s.rounds, tokenConnections)
	fmt.Println("| what | a second | of bare commits |\n|---|---|---|")
	base := median(bare)
	for _, row := range []struct {
		what      string
		perSecond []float64
	}{
		{"bare durable commits", bare},
		{"consents (a code each)", consents},
		{"code exchanges", exchanges},
		{"refreshes", refreshes},
	} {
		fmt.Printf("| %s | %.0f | %.2f |\n", row.what, median(row.perSecond), median(row.perSecond)/base)
	}
	fmt.Println()
	return measureMe(ctx, s, sandbox, last.AccessToken)
}

// measureMe compares the learner's profile with a constant response.
func measureMe(ctx context.Context, s settings, sandbox *server, token string) error {
	const path = "/v1/current_user/me"
	me := []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: bearer " + token + "\r\n\r\n")
	conn, err := dial(sandbox.address)
	if err != nil {
		return err
	}
	status, body, err := conn.do(me, true)
	if err = errors.Join(err, conn.conn.Close()); err != nil || status != http.StatusOK {
		return fmt.Errorf("the learner's profile is a %d: %w", status, err)
	}
	constant, err := startConstant(ctx, []int{len(body)})
	if err != nil {
		return err
	}
	defer func() { _ = constant.stop() }()
	fmt.Println("| sales | " + contestHead)
	requests := []pair{{me, constant.twin(path, len(body))}}
	if err := (contest{
		size: 100, name: path, ours: sandbox, constant: constant, turn: func() []pair { return requests },
	}).run(s); err != nil {
		return err
	}
	fmt.Println()
	return nil
}

// bareCommits returns the number of transactions per second of one writer who writes one row in
// each.
func bareCommits(ctx context.Context, dir string, duration time.Duration) (float64, error) {
	path := filepath.Join(dir, "bare.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return 0, err
	}
	defer os.Remove(path)
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, text TEXT)"); err != nil {
		return 0, err
	}
	n, begin := 0, time.Now()
	for ; time.Since(begin) < duration; n++ {
		if _, err := db.ExecContext(ctx, "INSERT INTO rows (text) VALUES ('a row about as long as that of a token, which is "+
			"a hundred bytes or a little more than that')"); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(begin).Seconds(), nil
}

// browser is a signed-in learner on the consent page.
type browser struct {
	client http.Client
	form   string // what the page sends
	action string
}

var (
	formNext    = regexp.MustCompile(`name="next" value="([^"]*)"`)
	formRequest = regexp.MustCompile(`name="request" value="([^"]*)"`)
)

// signIn takes the learner's path to the consent page.
func signIn(ctx context.Context, s *server, scopes string) (*browser, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	b := &browser{
		client: http.Client{Jar: jar, Timeout: time.Minute},
		action: s.said.BaseURL + "/secure/1/identity/oauth_provider/authorize",
	}
	b.client.Transport = &http.Transport{MaxIdleConnsPerHost: tokenConnections}
	page, err := b.page(ctx, http.MethodGet, b.action+"?"+url.Values{
		"client_id": {s.said.OAuthApps.V1.ClientID}, "response_type": {"code"}, "required_scopes": {scopes},
	}.Encode(), "")
	if err != nil {
		return nil, err
	}
	next := formNext.FindStringSubmatch(page)
	if next == nil {
		return nil, errors.New("there is no sign-in page")
	}
	page, err = b.page(ctx, http.MethodPost, s.said.BaseURL+"/secure/1/identity/sign_in", url.Values{
		"email": {s.said.Learner.Email}, "password": {s.said.Learner.Password}, "next": {html.UnescapeString(next[1])},
	}.Encode())
	if err != nil {
		return nil, err
	}
	request := formRequest.FindStringSubmatch(page)
	if request == nil {
		return nil, errors.New("there is no consent page")
	}
	b.form = url.Values{"request": {request[1]}, "answer": {"authorize"}}.Encode()
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b, nil
}

func (b *browser) page(ctx context.Context, method, address, form string) (string, error) {
	response, err := b.send(ctx, method, address, form)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

func (b *browser) send(ctx context.Context, method, address, form string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form))
	if err != nil {
		return nil, err
	}
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return b.client.Do(r)
}

// authorize submits the consent page n times and returns the codes.
func (b *browser) authorize(ctx context.Context, n int) (codes []string, perSecond float64, err error) {
	codes = make([]string, n)
	perSecond, err = together(n, func(i int) error {
		response, err := b.send(ctx, http.MethodPost, b.action, b.form)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return err
		}
		to, err := response.Location()
		if err != nil {
			return err
		}
		codes[i] = to.Query().Get("code")
		return nil
	})
	return codes, perSecond, err
}

type tokens struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
}

// exchange exchanges every code once.
func (s *server) exchange(codes []string) (perSecond float64, last tokens, err error) {
	requests := make([][]byte, len(codes))
	for i, code := range codes {
		requests[i] = s.tokenRequest(
			"grant_type", "authorization_code", "code", code, "redirect_uri", s.said.OAuthApps.V1.RedirectURL,
		)
	}
	clients := make(chan *client, tokenConnections)
	for range tokenConnections {
		c, err := dial(s.address)
		if err != nil {
			return 0, last, err
		}
		defer c.conn.Close()
		clients <- c
	}
	perSecond, err = together(len(requests), func(i int) error {
		c := <-clients
		defer func() { clients <- c }()
		status, body, err := c.do(requests[i], true)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("an exchange is a %d: %s", status, body)
		}
		if err == nil && i == 0 {
			err = json.Unmarshal(body, &last)
		}
		return err
	})
	return perSecond, last, err
}

// tokenRequest renders a request to the token endpoint.
func (s *server) tokenRequest(pairs ...string) []byte {
	app := s.said.OAuthApps.V1
	form := url.Values{"client_id": {app.ClientID}, "client_secret": {app.ClientSecret}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	body := form.Encode()
	return fmt.Appendf(nil, "POST /v1/current_user/oauth2/token HTTP/1.1\r\nHost: localhost\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// together calls do n times, on as many goroutines as there are connections, and returns the
// calls per second.
func together(n int, do func(i int) error) (perSecond float64, err error) {
	var mu sync.Mutex
	var failed error
	var group sync.WaitGroup
	next := make(chan int)
	begin := time.Now()
	for range tokenConnections {
		group.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
	return float64(n) / time.Since(begin).Seconds(), failed
}

package main

import (
	"cmp"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// samplesBefore lists the samples that create what another sample refers to, if a school does
// not have it at the start because only requests create it. A snapshot survives resets; its
// page creates it before deleting it.
var samplesBefore = map[string][]string{
	"PATCH /lyceum/v1/template_secrets/1":  {"POST /lyceum/v1/template_secrets"},
	"DELETE /lyceum/v1/template_secrets/1": {"POST /lyceum/v1/template_secrets"},

	"GET /lyceum/v1/orders/1":           {"POST /lyceum/v1/orders"},
	"POST /lyceum/v1/orders/1/complete": {"POST /lyceum/v1/orders"},
	"POST /lyceum/v1/orders/1/abandon":  {"POST /lyceum/v1/orders"},

	"GET /lyceum/v1/disputes/1":                         {"POST /lyceum/v1/transactions/52/disputes"},
	"POST /lyceum/v1/disputes/1/close":                  {"POST /lyceum/v1/transactions/52/disputes"},
	"POST /lyceum/v1/transactions/52/chargebacks/close": {"POST /lyceum/v1/transactions/52/chargebacks"},
	"POST /lyceum/v1/sales/41/charging_stopped":         {"POST /lyceum/v1/sales/41/end"},
	"POST /lyceum/v1/attention/1/dismiss":               {"POST /lyceum/v1/sales/41/end", "POST /lyceum/v1/sales/41/renewals"},

	"GET /lyceum/v1/bulk_jobs/1":         {"POST /lyceum/v1/bulk_jobs"},
	"GET /lyceum/v1/bulk_jobs/1/rows":    {"POST /lyceum/v1/bulk_jobs"},
	"POST /lyceum/v1/bulk_jobs/1/start":  {"POST /lyceum/v1/bulk_jobs"},
	"POST /lyceum/v1/bulk_jobs/1/cancel": {"POST /lyceum/v1/bulk_jobs"},

	"GET /lyceum/v1/webhooks/4":            {"POST /lyceum/v1/webhooks"},
	"PATCH /lyceum/v1/webhooks/4":          {"POST /lyceum/v1/webhooks"},
	"DELETE /lyceum/v1/webhooks/4":         {"POST /lyceum/v1/webhooks"},
	"POST /lyceum/v1/webhooks/4/secret":    {"POST /lyceum/v1/webhooks"},
	"POST /lyceum/v1/webhooks/4/test":      {"POST /lyceum/v1/webhooks"},
	"POST /lyceum/v1/webhooks/4/resume":    {"POST /lyceum/v1/webhooks"}, // and is rejected
	"POST /lyceum/v1/webhooks/4/resend":    {"POST /lyceum/v1/webhooks"},
	"GET /lyceum/v1/webhooks/4/deliveries": {"POST /lyceum/v1/webhooks"},
	"GET /lyceum/v1/deliveries/48":         {"POST /lyceum/v1/webhooks", "POST /lyceum/v1/webhooks/4/test"},
	"POST /lyceum/v1/deliveries/48/resend": {"POST /lyceum/v1/webhooks", "POST /lyceum/v1/webhooks/4/test"},

	"GET /v2/products/digital-downloads/1/enrollments/7": {"PUT /v2/products/digital-downloads/1/enrollments/7"},
	"DELETE /v2/products/digital-downloads/1/enrollments/7": {
		"PUT /v2/products/digital-downloads/1/enrollments/7",
	},
	"GET /v2/products/product-collections/1/enrollments/7": {"PUT /v2/products/product-collections/1/enrollments/7"},
	"DELETE /v2/products/product-collections/1/enrollments/7": {
		"PUT /v2/products/product-collections/1/enrollments/7",
	},
}

// samplesRefused lists the samples that are not for a sandbox as it starts, and the status of
// each response.
var samplesRefused = map[string]int{
	"POST /lyceum/v1/email_templates/email_changed/test": http.StatusConflict, // it has no mail server
	"POST /lyceum/v1/webhooks/4/resume":                  http.StatusConflict, // no webhook has failed
}

// Each sample in the reference that only needs the API key works as it is copied. One of each
// page is sent between two resets of the sandbox; one that needs others, or that fails after
// those of other pages, is sent right after a reset.
func TestSamplesOfTheReference(t *testing.T) {
	t.Parallel()
	said := sandbox(t)
	all, pages := samplesOf(t, said)
	if len(all) < 240 {
		t.Fatalf("the reference has %d samples", len(all))
	}
	fits := func(name string, status int) bool {
		if refused := samplesRefused[name]; refused != 0 {
			return status == refused
		}
		return status < 300
	}
	reset := func() {
		clean := sample{method: http.MethodPost, path: "/lyceum/v1/sandbox/reset", key: said.APIKey}
		if !await(func() bool { status, _ := clean.send(t, said.BaseURL); return status == http.StatusOK }) {
			t.Fatal("the sandbox cannot be reset")
		}
	}
	try := func(name string) (status int, response string) {
		if samplesBefore[name] != nil {
			reset()
		}
		for _, before := range samplesBefore[name] {
			if status, response := all[before].send(t, said.BaseURL); status >= 300 {
				t.Errorf("%s, before %s: %d %s", before, name, status, response)
			}
		}
		return all[name].send(t, said.BaseURL)
	}
	var rounds [][]string
	for _, page := range pages {
		for i, name := range page {
			if i == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[i] = append(rounds[i], name)
		}
	}
	for _, round := range rounds {
		for _, name := range round {
			status, response := try(name)
			if !fits(name, status) {
				reset()
				status, response = try(name)
			}
			if !fits(name, status) {
				t.Errorf("%s: %d %s", name, status, response)
			}
		}
		reset()
	}
	for name := range samplesRefused {
		if _, there := all[name]; !there {
			t.Errorf("the reference has no sample %s", name)
		}
	}
	for name, before := range samplesBefore {
		for _, name := range append(before, name) {
			if _, there := all[name]; !there {
				t.Errorf("the reference has no sample %s", name)
			}
		}
	}
}

// sample is a command in the reference that sends a request.
type sample struct {
	method, path, key, body string
	query                   url.Values
}

var (
	groupPages   = regexp.MustCompile(`href="(/docs/[a-z0-9]+/[a-z0-9-]+)"`)
	curlCommands = regexp.MustCompile(`(?s)<code>(curl .*?)</code>`)
	htmlTags     = regexp.MustCompile(`<[^>]*>`)
	shellWords   = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|\\'|[^\s'"\\])+`)
	shellParts   = regexp.MustCompile(`'([^']*)'|"([^"]*)"|\\(')|([^'"\\]+)`)
)

// samplesOf returns the samples that only need the key, by method and path, except for those
// that bring the sandbox back to a state, and their names page by page, where one that reads
// what exists at the start counts as a page of its own.
func samplesOf(t *testing.T, said credentials) (all map[string]sample, pages [][]string) {
	t.Helper()
	all = map[string]sample{}
	links := groupPages.FindAllStringSubmatch(readPage(t, said.BaseURL+"/docs"), -1)
	for _, link := range links {
		var page []string
		for _, command := range curlCommands.FindAllStringSubmatch(readPage(t, said.BaseURL+link[1]), -1) {
			s := readSample(t, html.UnescapeString(htmlTags.ReplaceAllString(command[1], "")), said.BaseURL)
			back := s.path == "/lyceum/v1/sandbox/reset" || strings.HasSuffix(s.path, "/restore")
			if s.key != said.APIKey || back {
				continue
			}
			name := s.method + " " + s.path
			if _, twice := all[name]; twice {
				t.Errorf("there are two samples %s", name)
			}
			all[name] = s
			page = append(page, name)
		}
		reads := func(name string) bool { return all[name].method == http.MethodGet && samplesBefore[name] == nil }
		for _, name := range page {
			if reads(name) {
				pages = append(pages, []string{name})
			}
		}
		pages = append(pages, slices.DeleteFunc(page, reads))
	}
	return all, pages
}

// readSample parses a command, like a shell and curl do.
func readSample(t *testing.T, command, base string) (s sample) {
	t.Helper()
	s.query = url.Values{}
	var words []string
	for _, word := range shellWords.FindAllString(strings.ReplaceAll(command, "\\\n", " "), -1) {
		var text strings.Builder
		for _, part := range shellParts.FindAllStringSubmatch(word, -1) {
			text.WriteString(strings.Join(part[1:], ""))
		}
		words = append(words, text.String())
	}
	for i := 1; i < len(words); i++ {
		option := words[i]
		if !strings.HasPrefix(option, "--") {
			s.path = strings.TrimPrefix(option, base)
			continue
		}
		if option == "--get" {
			continue
		}
		i++
		switch name, value, _ := strings.Cut(words[i], "="); option {
		case "--request":
			s.method = words[i]
		case "--json":
			s.body = words[i]
		case "--data-urlencode":
			s.query.Add(name, value)
		case "--header":
			if key, found := strings.CutPrefix(words[i], "apiKey: "); found {
				s.key = key
			}
		default:
			t.Fatalf("curl has %s in %s", option, command)
		}
	}
	s.method = cmp.Or(s.method, http.MethodGet)
	return s
}

func (s sample) send(t *testing.T, base string) (status int, response string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), s.method, base+s.path, strings.NewReader(s.body))
	if err != nil {
		t.Fatal(err)
	}
	r.URL.RawQuery = s.query.Encode()
	r.Header.Set("apiKey", s.key)
	if s.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(text)
}

func readPage(t *testing.T, address string) string {
	t.Helper()
	page := sample{method: http.MethodGet}
	status, text := page.send(t, address)
	if status != http.StatusOK {
		t.Fatalf("%s: %d", address, status)
	}
	return text
}

package front_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lyceum-school/lyceum/internal/inbound/front"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/web/webtest"
)

// TestFrontInABrowser checks that the front page and the page for unknown addresses meet the
// requirements of every page, at any width, light and dark. Given a folder, it also writes the
// pictures of docs/pages:
//
//	LYCEUM_PICTURES=$PWD/docs/pages go test ./internal/inbound/front
func TestFrontInABrowser(t *testing.T) {
	pages, nothing, err := front.Pages()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	maps.Copy(pages, map[string]http.Handler{"/assets/": web.Assets(), "/": nothing})
	for pattern, page := range pages {
		mux.Handle(pattern, page)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	tab := webtest.Browser(t)
	heard := webtest.Listen(t, tab, server.URL)
	for path, name := range map[string]string{"/": "front", "/nowhere": "nothing"} {
		webtest.Do(t, tab, chromedp.Navigate(server.URL+path))
		webtest.EachAppearance(t, tab, func(audit func(testing.TB, context.Context)) {
			webtest.Sound(t, tab)
			audit(t, tab)
		})
		for _, width := range []int64{webtest.Desktop, webtest.Phone} {
			for _, dark := range []bool{false, true} {
				webtest.Screenshot(t, tab, pictureName(name, width, dark), width, dark)
			}
		}
	}
	for _, complaint := range heard.Take("404") {
		t.Error(complaint)
	}
}

// pictureName returns the name of a picture in docs/pages.
func pictureName(page string, width int64, dark bool) string {
	if width == webtest.Phone {
		page += "-phone"
	}
	if dark {
		return page + "-dark"
	}
	return page + "-light"
}

// Package files answers the addresses of files: the links that apps and programs
// get instead of a permanent address.
//
// It must not decide who has access to a file.
package files

import (
	"log/slog"
	"net/http"
	"net/url"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// Options are what the pages of files are made of.
type Options struct {
	Learning *learning.Service
	Log      *slog.Logger
}

// Pages returns the handlers by the patterns of their paths.
func Pages(o Options) map[string]http.Handler {
	return map[string]http.Handler{"GET " + wire.FileLinkPath: o.link()}
}

// link leads to where a file is.
func (o Options) link() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("Referrer-Policy", "no-referrer") // the link is a credential
		file, err := o.Learning.OpenLink(r.Context(), wire.ReadFileLink(r))
		if err != nil {
			o.refuse(w, r, err)
			return
		}
		u, err := url.Parse(file.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			o.refuse(w, r, lyceum.Errorf(lyceum.NotFound, "the address of this file is not a web address"))
			return
		}
		http.Redirect(w, r, file.URL, http.StatusFound)
	})
}

// refuse says why there is no file. Whoever follows a link is a person with a
// browser, or a program that shows the text.
func (o Options) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e := lyceum.Public(err)
	if e.Kind == lyceum.Internal || e.Kind == lyceum.Unavailable {
		o.Log.ErrorContext(r.Context(), "a file was not served", "err", err)
	}
	http.Error(w, e.Detail, wire.Status(e.Kind))
}

package oauth

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

const (
	accountPath  = "/account"
	receiptsPath = "/account/receipts"
	profilePath  = "/account/profile"
	emailPath    = "/account/profile/email"
)

// listed is a page of a list in the account, with links to the adjacent pages.
type listed[T any] struct {
	Rows           []T
	Before, Behind string // URLs; empty if there is no such page
}

// pageOf returns which page of a list is requested.
func pageOf(r *http.Request, size int32) lyceum.Page {
	number, err := strconv.ParseInt(r.URL.Query().Get("page"), 10, 32)
	if err != nil || number < 1 {
		number = 1
	}
	return lyceum.Page{Number: int32(number), Size: size}
}

// turned adds the links to the adjacent pages to the rows of a page.
func turned[T any](path string, rows []T, p lyceum.Page, more bool) listed[T] {
	l := listed[T]{Rows: rows}
	if p.Number > 1 {
		l.Before = fmt.Sprintf("%s?page=%d", path, p.Number-1)
	}
	if more {
		l.Behind = fmt.Sprintf("%s?page=%d", path, p.Number+1)
	}
	return l
}

// asLearner returns the caller for the rules: the signed-in user, restricted to their own data.
func (v *visit) asLearner() lyceum.By {
	by := v.by()
	by.Learner = lyceum.Some(v.User.ID)
	return by
}

// here returns a time in the school's time zone.
func (v *visit) here(at time.Time) time.Time {
	if zone, err := v.School.TimeZone.Location(); err == nil {
		return at.In(zone)
	}
	return at
}

// lastUse is here for when something was last used.
func (v *visit) lastUse(at lyceum.Opt[time.Time]) lyceum.Opt[time.Time] {
	at.Value = v.here(at.Value)
	return at
}

// day is a day in the school's time zone.
type day struct{ Text, Machine string }

func (v *visit) day(at time.Time) day {
	at = v.here(at)
	return day{at.Format("2\u00a0January\u00a02006"), at.Format(time.DateOnly)}
}

// kindNames are the kinds of products as they are called for learners.
var kindNames = map[lyceum.ProductKind]string{
	lyceum.CourseKind: "Course", lyceum.DownloadKind: "Download", lyceum.CollectionKind: "Bundle",
	lyceum.TierKind: "Membership", lyceum.CoachingKind: "Coaching",
}

// mineRow is one of the learner's products.
type mineRow struct {
	Name, Kind, Files string
	Since             day
	Until             lyceum.Opt[day]
	Percent           lyceum.Opt[int32]
}

// productsPage is how many products, or receipts, are on a page.
const productsPage = 50

// listMine serves GET /account: the products that the learner has access to.
func (p *pages) listMine(w http.ResponseWriter, r *http.Request, v *visit) error {
	page := pageOf(r, productsPage)
	held, err := p.Learning.Mine(r.Context(), v.asLearner(), page)
	if err != nil {
		return err
	}
	rows := make([]mineRow, len(held.Rows))
	for i := range held.Rows {
		h := &held.Rows[i]
		row := mineRow{
			Name: web.Plain(h.Name), Kind: kindNames[h.Product.Kind], Since: v.day(h.Since), Percent: h.PercentComplete,
		}
		if h.Membership.Present && h.Membership.Value.Name != h.Name {
			row.Name = web.Plain(h.Membership.Value.Name + ": " + h.Name)
		}
		if h.Until.Present {
			// Access that is over at midnight lasts until the day before.
			row.Until = lyceum.Some(v.day(h.Until.Value.Add(-time.Second)))
		}
		if h.Product.Kind == lyceum.DownloadKind {
			row.Files = fmt.Sprintf("/account/downloads/%d", h.Product.ID)
		}
		rows[i] = row
	}
	return p.show(w, http.StatusOK, "mine.gohtml", v, view{
		Title: "Your products", Room: accountPath, Data: turned(accountPath, rows, page, held.More),
	})
}

// fileRow is a file of a digital download.
type fileRow struct{ Name, Link, Note string }

// listFiles serves GET /account/downloads/{download}. Its links work for ten minutes.
func (p *pages) listFiles(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, _ := strconv.ParseInt(r.PathValue("download"), 10, 32) // 0, which is not a download, if it is not a number
	of := lyceum.Product{Kind: lyceum.DownloadKind, ID: int32(id)}
	held, err := p.Learning.HeldProduct(r.Context(), v.asLearner(), of)
	if lyceum.KindOf(err) == lyceum.NotFound {
		return lyceum.Errorf(lyceum.NotFound, "You have no such download.")
	}
	if err != nil {
		return err
	}
	found, err := p.Learning.DownloadAttachments(
		r.Context(), v.asLearner(), lyceum.DigitalDownloadID(id), lyceum.Page{Number: 1, Size: lyceum.MaxDownloadAttachments},
	)
	if err != nil {
		return err
	}
	rows := make([]fileRow, len(found.Rows))
	for i := range found.Rows {
		a := &found.Rows[i]
		rows[i] = fileRow{
			Name: web.Plain(a.Filename.Else(a.ButtonText.Value)), Link: wire.FileLink(p.Site.BaseURL, a.Link), Note: "A page",
		}
		if a.SizeInBytes.Present {
			rows[i].Note = size(a.SizeInBytes.Value)
		}
	}
	return p.show(w, http.StatusOK, "files.gohtml", v, view{
		Title: web.Plain(held.Name), Room: accountPath, Data: rows,
	})
}

// size formats a number of bytes for people.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 999_500:
		return fmt.Sprintf("%d kB", (bytes+500)/1000)
	case bytes < 999_950_000:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

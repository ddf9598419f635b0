package console

import (
	"fmt"
	"net/http"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// ownPage is the data of an author's page: their courses, and what they are owed for a month.
type ownPage struct {
	Known      bool // the user is an author of the school
	Courses    []ownCourse
	More       int64 // courses that are not shown
	Month      string
	Prev, Next string // months; Next is empty for the current month
	Lines      []ownLine
	Cut        bool     // there are more lines
	Sums       []string // of all lines, unless Cut
}

// ownCourse is a course of an author.
type ownCourse struct {
	Name  string
	State mark
}

// ownLine is a line of a statement.
type ownLine struct {
	At          time.Time
	What        string
	Transaction lyceum.TransactionID
	Amount      string
}

// maxOwn is the maximum number of courses, and of lines, on the page.
const maxOwn = 500

var lineKinds = map[sales.StatementKind]string{
	sales.StatementSale: "Sale", sales.StatementRefund: "Refund", sales.StatementLost: "Dispute lost",
	sales.StatementWon: "Dispute won",
}

// showOwn serves GET /admin/own.
func (c *console) showOwn(w http.ResponseWriter, r *http.Request, v *visit) error {
	first := lyceum.DayAt(c.Clock(), v.zone)
	first.Day = 1
	last := first
	if given := r.URL.Query().Get("month"); given != "" {
		var err error
		if first, _, err = lyceum.ParseMonth(given); err != nil || first.Year < 1970 {
			return lyceum.Invalidf("The month must be a month such as 2026-03.")
		}
	}
	p := ownPage{Month: fmt.Sprintf("%s %d", first.Month, first.Year), Prev: monthOf(first.AddMonths(-1))}
	if first.Before(last) {
		p.Next = monthOf(first.AddMonths(1))
	}
	view := c.Names.In(r.Context(), v.School.ID)
	theirs := lyceum.PartnerFilter{UserID: lyceum.Some(v.User.ID), IsArchived: lyceum.Some(false)}
	author, known, err := view.Authors.First(view, theirs)
	if err == nil && !known {
		theirs.IsArchived = lyceum.None[bool]()
		author, known, err = view.Authors.First(view, theirs)
	}
	if err != nil {
		return err
	}
	if p.Known = known; known {
		if err := c.ownOf(r, v, author.ID, first, &p); err != nil {
			return err
		}
	}
	return c.show(w, r, http.StatusOK, "own.gohtml", v, "My courses", p)
}

// monthOf returns the month of a day, such as 2026-03.
func monthOf(d lyceum.Day) string { return fmt.Sprintf("%04d-%02d", d.Year, d.Month) }

// ownOf fills in the page of an author for the month that begins on a day.
func (c *console) ownOf(r *http.Request, v *visit, id lyceum.AuthorID, first lyceum.Day, p *ownPage) error {
	view := c.Names.In(r.Context(), v.School.ID)
	theirs := lyceum.CourseFilter{AuthorID: lyceum.Some(id)}
	courses, err := view.Courses.List(view, theirs, lyceum.Page{Number: 1, Size: maxOwn})
	if err != nil {
		return err
	}
	for i := range courses.Rows {
		p.Courses = append(p.Courses, ownCourse{courses.Rows[i].Name, courseState(&courses.Rows[i])})
	}
	p.More = courses.Total - int64(len(courses.Rows))
	month := lyceum.Days(lyceum.Some(first), lyceum.Some(first.AddMonths(1).Add(-1)), v.zone)
	s, err := c.Sales.AuthorStatement(r.Context(), v.by(), sales.StatementQuery[lyceum.AuthorID]{
		Of: id, From: lyceum.Some(month.After.Add(time.Second)), Until: lyceum.Some(month.Until.Add(time.Second)),
		Limit: maxOwn,
	})
	if err != nil {
		return err
	}
	for i := range s.Lines {
		l := &s.Lines[i]
		p.Lines = append(p.Lines, ownLine{l.At, lineKinds[l.Kind], l.Transaction, money(l.Amount, l.Currency)})
	}
	p.Cut = s.Next.Present
	for _, sum := range s.Sums() {
		p.Sums = append(p.Sums, money(sum.Amount, sum.Currency))
	}
	return nil
}

func courseState(course *lyceum.Course) mark {
	switch {
	case course.ArchivedAt.Present:
		return mark{"badge-off", "Archived"}
	case course.IsPublished:
		return mark{"badge-on", "Published"}
	}
	return mark{"badge-off", "Not published"}
}

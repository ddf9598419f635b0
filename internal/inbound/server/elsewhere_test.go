package server_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// elsewhereID is the id of what putElsewhere adds, as onlyID is of what onlyTheirs adds.
const elsewhereID = 70_000

// elsewhereOf returns the id that putElsewhere uses instead of the given one of onlyTheirs.
func elsewhereOf(theirs string) string {
	id, _ := strconv.Atoi(theirs)
	return strconv.Itoa(id - onlyID + elsewhereID)
}

// putElsewhere adds objects to a school that nobody with a token has access to, and that do not
// belong to anything that a classroom has.
func putElsewhere(t *testing.T, store lyceum.Store, school lyceum.SchoolID) {
	t.Helper()
	storetest.Write(t, store, school, func(tx lyceum.Tx) error {
		const id, olu = elsewhereID, 4
		at, text := storetest.Day(1), "Elsewhere"
		c := storetest.Classroom{
			Courses:  []lyceum.Course{{ID: id, Name: text, IsPublished: true, CreatedAt: at, UpdatedAt: at}},
			Sections: []lyceum.LectureSection{{ID: id, Course: id, Name: text, IsPublished: true, Position: 1}},
			Lectures: []lyceum.Lecture{{ID: id, Course: id, Section: id, Name: lyceum.Some(text), IsPublished: true, Position: 1}},
			Attachments: []lyceum.Attachment{
				{ID: id + 100, Lecture: id, Kind: lyceum.TextAttachment, Text: lyceum.Some(text)},
				{ID: id + 101, Lecture: id, Kind: lyceum.QuizAttachment, Quiz: &lyceum.Quiz{ID: id, Questions: lyceum.Questions{}}},
				{ID: id + 102, Lecture: id, Kind: lyceum.VideoAttachment, Video: lyceum.Some(lyceum.Video{URL: text, Status: lyceum.VideoReady})},
			},
			PricingPlans: []lyceum.PricingPlan{{ID: id, CourseID: lyceum.Some[lyceum.CourseID](id), Name: text, Currency: "USD", Frequency: lyceum.Free, CreatedAt: at, UpdatedAt: at}},
		}
		x := lyceum.Transaction{ID: id, UserID: olu, PricingPlanID: 1, SaleID: id, CreatedAt: at, PurchasedAt: at, FinalPrice: 1999, Charge: 1999, Revenue: 1999, Currency: "USD", Paid: true}
		contentsErr := c.Save(tx)
		_, commentErr := tx.Comments.Save(tx, lyceum.Comment{ID: id, Lecture: id, Course: id, User: mira, Status: lyceum.CommentApproved, Body: text, CreatedAt: at, UpdatedAt: at})
		_, downloadErr := tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: id, Name: text, IsPublished: true, CreatedAt: at, UpdatedAt: at})
		_, fileErr := tx.DownloadAttachments.Save(tx, lyceum.DownloadAttachment{ID: id + 100, DigitalDownloadID: id, Kind: lyceum.DownloadRedirect, URL: text, CreatedAt: at, UpdatedAt: at})
		_, saleErr := tx.Sales.Save(tx, lyceum.SaleOf(&x))
		_, moneyErr := tx.Transactions.Save(tx, x)
		return errors.Join(contentsErr, commentErr, downloadErr, fileErr, saleErr, moneyErr, bundleOnce(tx, id))
	})
}

// partsOf are the ids of objects that belong to the object before them in a path. Users and
// products are not among them: they exist regardless of it.
var partsOf = []string{"section_id", "lecture_id", "attachment_id", "quiz_id", "video_id", "comment_id", "pricing_plan_id"}

// isElsewhere reports whether an object that putElsewhere adds must be unknown if its id is
// used as id.
func isElsewhere(op wire.Operation, id idName) bool {
	part := strings.Contains(op.Path, "/{"+id.name+"}") && slices.Contains(partsOf, id.name) && strings.Count(op.Path, "_id}") > 1
	switch id.in {
	case inPath:
		return part || op.Credential == wire.Bearer
	case inBody, within:
		return id.name == "parent_id" || id.name == "id" && op.Method == http.MethodPut // the order of parts
	case inQuery:
	}
	return false
}

// TestF9_WhatIsElsewhereIsUnknown checks that a lecture of another course, a purchase of
// another learner and so on get the same response as an unknown id; for an API key, one with
// the same status. Each request in the contract is sent with each such id replaced by both.
func TestF9_WhatIsElsewhereIsUnknown(t *testing.T) {
	onBothEngines(t, func(t *testing.T, c *campus) {
		k := newClass(t, c)
		putElsewhere(t, k.store, k.ours.id)
		lessons := learning.New(k.store, k.clock.Now)
		tried := map[string]bool{}
		for _, a := range requestCases {
			if a.prepare != nil {
				a.prepare(t, k)
			}
			if err := lessons.Settle(t.Context(), k.ours.id); err != nil {
				t.Fatal(err)
			}
			op := k.operation(a)
			for _, m := range mutants(a, nil) {
				if !valid(a) || !isElsewhere(op, m.idName) {
					continue
				}
				tried[op.Path+" "+m.name] = true
				m.pair.theirs = elsewhereOf(m.pair.theirs)
				elsewhere, unknown := k.tries(t, k.ours, m)
				same := elsewhere == unknown
				if op.Credential == wire.APIKey { // which may know about all of them, and be told so
					same = elsewhere[:3] == unknown[:3] && !strings.Contains(elsewhere, "Elsewhere")
				}
				if !same {
					t.Errorf("%s/%s/%s: with a %s from elsewhere: %s\nwith an unknown one: %s", a.face, a.op, a.name, m.name, elsewhere, unknown)
				}
			}
			k.send(t, k.ours, a)
		}
		wantAllTried(t, k, tried)
	})
}

// wantAllTried checks that every id in a path that must be unknown elsewhere was tried, and
// that for every path with two ids it is defined whether the second belongs to the first.
func wantAllTried(t *testing.T, k *class, tried map[string]bool) {
	t.Helper()
	for _, face := range k.options.Faces {
		for _, op := range face.Operations() {
			parts := strings.Split(op.Path, "/")
			for n, part := range parts {
				name, is := strings.CutPrefix(strings.TrimSuffix(part, "}"), "{")
				if _, number := foreignID(name); !is || !number {
					continue
				}
				if isElsewhere(op, idName{name, inPath}) && !tried[op.Path+" "+name] {
					t.Errorf("no valid row of requestCases has the %s of %s", name, op.Path)
				}
				before := slices.ContainsFunc(parts[:n], func(part string) bool { return strings.HasSuffix(part, "_id}") })
				if before && !slices.Contains(slices.Concat(partsOf, []string{"user_id", "product_id"}), name) {
					t.Errorf("does a %s belong to what is before it in %s? Name it in partsOf, or beside it", name, op.Path)
				}
			}
		}
	}
}

// award gives a user a receipt, a download and a certificate, all with one id.
func award(tx lyceum.Tx, user lyceum.UserID, id int32) error {
	at := storetest.Day(2)
	_, sellerErr := tx.Sellers.Save(tx, lyceum.Seller{ID: 1, Name: "Seller", Address: "1 Street", Since: at})
	_, receiptErr := tx.Receipts.Save(tx, lyceum.Receipt{
		ID: lyceum.ReceiptID(id), Transaction: lyceum.TransactionID(id), User: user, Seller: 1, IssuedAt: at, PaidAt: at, Item: "Course", Currency: "USD", Price: 1999,
	})
	_, accessErr := tx.Entitlements.Save(tx, lyceum.Entitlement{ID: lyceum.EntitlementID(id), User: user, Product: lyceum.Product{Kind: lyceum.DownloadKind, ID: id}, StartsAt: at})
	_, progressErr := tx.Progress.Save(tx, lyceum.Progress{
		ID: lyceum.ProgressID(id), User: user, Course: lyceum.CourseID(id), PercentComplete: 100, CompletedAt: lyceum.Some(at),
		Certificate: lyceum.Some(lyceum.Certificate{IssuedAt: at, PageID: 1, SerialNumber: "cert_1"}),
	})
	return errors.Join(sellerErr, receiptErr, accessErr, progressErr)
}

// TestF9_PagesOfAnAccount checks that on the pages of an account, objects of another learner,
// or with the same id in another school, look as if they did not exist.
func TestF9_PagesOfAnAccount(t *testing.T) {
	k := newClass(t, newCampus(t))
	onlyTheirs(t, k.store, k.theirs.id)
	putElsewhere(t, k.store, k.ours.id)
	storetest.Write(t, k.store, k.theirs.id, func(tx lyceum.Tx) error { return award(tx, mira, onlyID) })
	storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error { return award(tx, 4, elsewhereID) })
	page := func(p *campusSchool, email, path string, id int) (int, string) {
		b := k.browse()
		b.signIn(t, p, email)
		w := b.get(path + strconv.Itoa(id))
		return w.Code, strings.ReplaceAll(w.Body.String(), strconv.Itoa(id), "ID")
	}
	for _, path := range []string{"/account/receipts/", "/account/downloads/", "/account/certificates/"} {
		status, unknown := page(k.ours, "mira@example.com", path, unknownID)
		if status != http.StatusNotFound {
			t.Errorf("%s of nobody is a %d", path, status)
		}
		for _, has := range []struct {
			in    *campusSchool
			email string
			id    int
		}{{k.theirs, "mira@example.com", onlyID}, {k.ours, "olu@example.com", elsewhereID}} {
			if status, text := page(has.in, has.email, path, has.id); status != http.StatusOK {
				t.Errorf("%s%d is for whose it is a %d: %s", path, has.id, status, text)
			}
			if status, text := page(k.ours, "mira@example.com", path, has.id); status != http.StatusNotFound || text != unknown {
				t.Errorf("%s%d is for somebody else a %d: %s", path, has.id, status, text)
			}
		}
	}
}

package learning_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// newCatalogue makes a school with a product of every kind, each with id 1, and an archived one
// with id 2. Membership 2 is archived, and its tier 3 is archived only through it.
func newCatalogue(t *testing.T) (*desk, lyceum.By) {
	t.Helper()
	d := newDesk(t)
	at, gone := begin, lyceum.Some(begin.Add(time.Hour))
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
		for _, save := range []func() (lyceum.Saved, error){
			func() (lyceum.Saved, error) {
				return tx.Courses.Save(tx, lyceum.Course{ID: 1, Name: "Clay", IsPublished: true, CreatedAt: at, UpdatedAt: at}, lyceum.Course{ID: 2, Name: "Old", CreatedAt: at, UpdatedAt: at, ArchivedAt: gone})
			},
			func() (lyceum.Saved, error) {
				return tx.DigitalDownloads.Save(tx, lyceum.DigitalDownload{ID: 1, Name: "Pattern", CreatedAt: at, UpdatedAt: at}, lyceum.DigitalDownload{ID: 2, Name: "Old", CreatedAt: at, UpdatedAt: at, ArchivedAt: gone})
			},
			func() (lyceum.Saved, error) {
				return tx.Coaching.Save(tx, lyceum.Coaching{ID: 1, Name: "Review", CreatedAt: at, UpdatedAt: at}, lyceum.Coaching{ID: 2, Name: "Old", CreatedAt: at, UpdatedAt: at, ArchivedAt: gone})
			},
			func() (lyceum.Saved, error) {
				return tx.ProductCollections.Save(tx, lyceum.ProductCollection{ID: 1, Name: "Studio", IsPublished: true, CreatedAt: at, UpdatedAt: at}, lyceum.ProductCollection{ID: 2, Name: "Old", CreatedAt: at, UpdatedAt: at, ArchivedAt: gone})
			},
			func() (lyceum.Saved, error) {
				return tx.Memberships.Save(tx, lyceum.Membership{ID: 1, Name: "Club", CreatedAt: at, UpdatedAt: at}, lyceum.Membership{ID: 2, Name: "Old", CreatedAt: at, UpdatedAt: at, ArchivedAt: gone})
			},
			func() (lyceum.Saved, error) {
				return tx.MembershipTiers.Save(tx, lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "Gold", Position: 1, CreatedAt: at, UpdatedAt: at},
					lyceum.MembershipTier{ID: 2, MembershipID: 1, Name: "Old", Position: 2, CreatedAt: at, UpdatedAt: at, ArchivedAt: gone}, lyceum.MembershipTier{ID: 3, MembershipID: 2, Name: "Of the old", Position: 1, CreatedAt: at, UpdatedAt: at})
			},
		} {
			if _, err := save(); err != nil {
				return err
			}
		}
		return nil
	})
	return d, lyceum.By{School: d.school, Actor: "test"}
}

func TestSellableProduct(t *testing.T) {
	t.Parallel()
	d, _ := newCatalogue(t)
	v := d.store.In(t.Context(), d.school)
	for _, kind := range lyceum.ProductKinds() {
		for id, wrong := range map[int32]string{
			1: "", 2: fmt.Sprintf("2 names a %s that is archived", kind.Name()), 99: fmt.Sprintf("99 matches no %s of this school", kind.Name()),
		} {
			info, got, err := lyceum.SellableProduct(v.Tables, v, lyceum.Product{Kind: kind, ID: id})
			if err != nil || got != wrong || id < 3 && (info.Product != lyceum.Product{Kind: kind, ID: id} || info.Name == "") {
				t.Errorf("%s %d: %+v, %q, %v; want %q", kind, id, info, got, err, wrong)
			}
		}
	}
	tier := lyceum.Product{Kind: lyceum.TierKind, ID: 3}
	if _, got, err := lyceum.SellableProduct(v.Tables, v, tier); err != nil || got != "3 names a membership tier that is archived" {
		t.Errorf("the tier of an archived membership: %q, %v", got, err)
	}
	found, err := lyceum.FindProducts(v.Tables, v, tier, lyceum.Product{Kind: lyceum.CourseKind, ID: 1}, lyceum.Product{Kind: lyceum.CourseKind, ID: 99})
	want := map[lyceum.Product]lyceum.ProductInfo{
		tier:                             {Product: tier, Name: "Of the old", ArchivedAt: lyceum.Some(begin.Add(time.Hour))},
		{Kind: lyceum.CourseKind, ID: 1}: {Product: lyceum.Product{Kind: lyceum.CourseKind, ID: 1}, Name: "Clay", IsPublished: true},
	}
	if diff := cmp.Diff(want, found); err != nil || diff != "" {
		t.Errorf("found (-want +got): %v\n%s", err, diff)
	}
}

// TestAddressesOfCoursesWithOneName checks that a course gets an address of its own even if another
// one has its name and its id as its address.
func TestAddressesOfCoursesWithOneName(t *testing.T) {
	d := newClassroom(t)
	create := func(name string) lyceum.Course {
		t.Helper()
		c, err := d.service.CourseProducts().Create(t.Context(), lyceum.By{School: d.school, Actor: "test"}, lyceum.Course{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	id := create("Kiln").ID + 2
	create(fmt.Sprintf("Kiln %d", id))
	if last, want := create("Kiln"), fmt.Sprintf("kiln-%d-%d", id, id); last.FriendlyURL != lyceum.Some(want) {
		t.Errorf("course %d has the address %s, want %s", last.ID, last.FriendlyURL.Value, want)
	}
}

// TestNoMoreThan500 checks that a collection accepts its 500th product but no more, through the
// API and from a file, and that a product that is in already is not counted again.
func TestNoMoreThan500(t *testing.T) {
	t.Parallel()
	d, by := newCatalogue(t)
	storetest.Write(t, d.store, d.school, func(tx lyceum.Tx) error {
		courses, in := make([]lyceum.Course, lyceum.MaxIncluded), make([]lyceum.CollectionProduct, lyceum.MaxIncluded-1)
		for n := range courses {
			id := int32(100 + n)
			courses[n] = lyceum.Course{ID: lyceum.CourseID(id), Name: "Course", CreatedAt: begin, UpdatedAt: begin}
			if n < len(in) {
				in[n] = lyceum.CollectionProduct{ID: lyceum.CollectionProductID(id), In: 1, Product: lyceum.Product{Kind: lyceum.CourseKind, ID: id}, CreatedAt: begin}
			}
		}
		if _, err := tx.Courses.Save(tx, courses...); err != nil {
			return err
		}
		_, err := tx.CollectionProducts.Save(tx, in...)
		return err
	})
	products := d.service.CollectionProducts()
	add := func(kind lyceum.ProductKind, id int32) error {
		_, err := products.Add(t.Context(), by, learning.ProductIn[lyceum.ProductCollectionID]{In: 1, Product: lyceum.Product{Kind: kind, ID: id}})
		return err
	}
	if err := add(lyceum.CourseKind, 1); err != nil {
		t.Fatalf("the 500th: %v", err)
	}
	if err := add(lyceum.CourseKind, 1); err != nil {
		t.Errorf("the 500th again: %v", err)
	}
	want := &lyceum.Error{Kind: lyceum.Conflict, Code: "too_many_products", Detail: "product collection 1 has 500 products, the most that it can have"}
	if err := add(lyceum.CoachingKind, 1); err == nil || cmp.Diff(want, lyceum.Public(err)) != "" {
		t.Errorf("the 501st: %v", err)
	}
	row := func(id lyceum.CollectionProductID, in lyceum.ProductCollectionID, kind lyceum.ProductKind, product int32) lyceum.CollectionProduct {
		return lyceum.CollectionProduct{ID: id, In: in, Product: lyceum.Product{Kind: kind, ID: product}}
	}
	wantTaken(t, "a full collection", products.Import(by), map[int]lyceum.FieldError{
		1: {Field: "product_collection_id", Message: "1 has 500 products, the most that it can have"},
	}, row(0, 1, lyceum.CourseKind, 100), row(0, 1, lyceum.CoachingKind, 1), row(0, 2, lyceum.CoachingKind, 1))
	if err := products.Remove(t.Context(), by, learning.Removal[lyceum.ProductCollectionID]{ProductIn: learning.ProductIn[lyceum.ProductCollectionID]{In: 1, Product: lyceum.Product{Kind: lyceum.CourseKind, ID: 1}}}); err != nil {
		t.Fatal(err)
	}
	wantTaken(t, "the last place", products.Import(by), map[int]lyceum.FieldError{
		1: {Field: "product_collection_id", Message: "1 has 500 products, the most that it can have"},
	}, row(0, 1, lyceum.CoachingKind, 1), row(9000, 1, lyceum.DownloadKind, 1))
}

func TestProductRowsAreTaken(t *testing.T) {
	t.Parallel()
	d, by := newCatalogue(t)
	type wrong = map[int]lyceum.FieldError
	wantTaken(t, "collections", d.service.ProductCollections().Import(by), wrong{}, lyceum.ProductCollection{ID: 7, Name: "New"}, lyceum.ProductCollection{ID: 2, Name: "Older"})
	wantTaken(t, "coaching", d.service.Coaching().Import(by), wrong{0: {Field: "author_bio_id", Message: "99 matches no author of this school; import the authors first"}},
		lyceum.Coaching{ID: 7, Name: "New", AuthorID: lyceum.Some(lyceum.AuthorID(99))}, lyceum.Coaching{ID: 8, Name: "New"})
	wantTaken(t, "digital downloads", d.service.DigitalDownloads().Import(by), wrong{}, lyceum.DigitalDownload{ID: 2, Name: "Older"}, lyceum.DigitalDownload{ID: 7, Name: "New"})
	file := func(id lyceum.DownloadAttachmentID, of lyceum.DigitalDownloadID) lyceum.DownloadAttachment {
		return lyceum.DownloadAttachment{
			ID: id, DigitalDownloadID: of, Kind: lyceum.DownloadFile, URL: "https://files.example.com/a.pdf", Filename: lyceum.Some("a.pdf"), SizeInBytes: lyceum.Some[int64](1),
		}
	}
	page := func(id lyceum.DownloadAttachmentID, of lyceum.DigitalDownloadID) lyceum.DownloadAttachment {
		return lyceum.DownloadAttachment{ID: id, DigitalDownloadID: of, Kind: lyceum.DownloadRedirect, URL: "https://files.example.com/", ButtonText: lyceum.Some("Open")}
	}
	script, unsized := page(6, 7), file(7, 1)
	script.URL, unsized.SizeInBytes = "javascript:alert(1)", lyceum.None[int64]()
	wantTaken(t, "attachments of digital downloads", d.service.ImportDownloadAttachments(by), wrong{
		1: {Field: "digital_download_id", Message: "99 matches no digital download of this school; import the digital downloads first"},
		2: {Field: "kind", Message: "must be download, like the other attachments of digital download 1"},
		4: {Field: "kind", Message: "redirect can be that of one attachment, and digital download 2 has one"},
		5: {Field: "id", Message: "1 is an attachment of digital download 1"},
		6: {Field: "url", Message: "must be a URL such as https://files.example.com/a.pdf"},
		7: {Field: "size_in_bytes", Message: "must be 1 or more for an attachment of the kind download"},
	}, file(1, 1), file(2, 99), page(3, 1), page(4, 2), page(5, 2), file(1, 7), script, unsized, file(8, 1))
	wantTaken(t, "attachments of digital downloads again", d.service.ImportDownloadAttachments(by), wrong{
		0: {Field: "id", Message: "1 is an attachment of digital download 1"},
		1: {Field: "kind", Message: "must be download, like the other attachments of digital download 1"},
	}, file(1, 2), page(8, 1), file(4, 2))
	wantTaken(t, "memberships", d.service.Memberships().Import(by), wrong{}, lyceum.Membership{ID: 7, Name: "New"})
	wantTaken(t, "tiers", d.service.MembershipTiers().Import(by), wrong{
		0: {Field: "membership_id", Message: "99 matches no membership of this school; import the memberships first"},
		1: {Field: "membership_id", Message: "must be 1, the membership of tier 1"},
		4: {Field: "membership_id", Message: "must be 7, the membership of tier 7"},
	}, lyceum.MembershipTier{ID: 9, MembershipID: 99}, lyceum.MembershipTier{ID: 1, MembershipID: 7}, lyceum.MembershipTier{ID: 1, MembershipID: 1, Name: "Gold", Position: 1},
		lyceum.MembershipTier{ID: 7, MembershipID: 7, Name: "New", Position: 1}, lyceum.MembershipTier{ID: 7, MembershipID: 1})
	row := func(id lyceum.TierProductID, in lyceum.MembershipTierID, kind lyceum.ProductKind, product int32) lyceum.TierProduct {
		return lyceum.TierProduct{ID: id, In: in, Product: lyceum.Product{Kind: kind, ID: product}}
	}
	wantTaken(t, "products of tiers", d.service.TierProducts().Import(by), wrong{
		0: {Field: "membership_tier_id", Message: "99 matches no membership tier of this school; import the membership tiers first"},
		1: {Field: "product_id", Message: "99 matches no digital download of this school; import the digital-downloads first"},
		3: {Field: "product_id", Message: "2 is in membership tier 1 already, with id 5"},
		4: {Field: "id", Message: "5 is course 2 in membership tier 1"},
	}, row(0, 99, lyceum.CourseKind, 1), row(0, 1, lyceum.DownloadKind, 99), row(5, 1, lyceum.CourseKind, 2), row(6, 1, lyceum.CourseKind, 2),
		row(5, 7, lyceum.CourseKind, 2), row(0, 7, lyceum.CourseKind, 2), row(0, 1, lyceum.CollectionKind, 2))
	if findings, err := d.store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

// TestRowsKeepWhatTheyDoNotSay checks that a known product keeps its times and stays archived,
// and that a new one is created now.
func TestRowsKeepWhatTheyDoNotSay(t *testing.T) {
	t.Parallel()
	d, by := newCatalogue(t)
	d.now = begin.Add(48 * time.Hour)
	wantTaken(t, "collections", d.service.ProductCollections().Import(by), map[int]lyceum.FieldError{}, lyceum.ProductCollection{ID: 2, Name: "Older"}, lyceum.ProductCollection{ID: 3, Name: "New"})
	v := d.store.In(t.Context(), d.school)
	got, err := v.ProductCollections.Find(v, 2, 3)
	want := map[lyceum.ProductCollectionID]lyceum.ProductCollection{
		2: {ID: 2, Name: "Older", CreatedAt: begin, UpdatedAt: begin, ArchivedAt: lyceum.Some(begin.Add(time.Hour))},
		3: {ID: 3, Name: "New", CreatedAt: d.now, UpdatedAt: d.now},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("rows (-want +got): %v\n%s", err, diff)
	}
}

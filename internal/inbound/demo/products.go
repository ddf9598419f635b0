package demo

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// studio is the tier that the plans without a course sell.
var studio = lyceum.Product{Kind: lyceum.TierKind, ID: 1}

// saveProducts saves the products of the school.
func (s *School) saveProducts(tx lyceum.Tx) (saved lyceum.Saved, err error) {
	for _, save := range []func() (lyceum.Saved, error){
		func() (lyceum.Saved, error) { return tx.Courses.Save(tx, s.Courses...) },
		func() (lyceum.Saved, error) { return tx.DigitalDownloads.Save(tx, s.calendar.digitalDownloads()...) },
		func() (lyceum.Saved, error) {
			return tx.DownloadAttachments.Save(tx, s.calendar.downloadAttachments()...)
		},
		func() (lyceum.Saved, error) { return tx.Coaching.Save(tx, s.calendar.coachingRows()...) },
		func() (lyceum.Saved, error) { return tx.ProductCollections.Save(tx, s.calendar.collections()...) },
		func() (lyceum.Saved, error) { return tx.CollectionProducts.Save(tx, s.calendar.inCollections()...) },
		func() (lyceum.Saved, error) { return tx.Memberships.Save(tx, s.calendar.memberships()...) },
		func() (lyceum.Saved, error) { return tx.MembershipTiers.Save(tx, s.calendar.tiers()...) },
		func() (lyceum.Saved, error) { return tx.TierProducts.Save(tx, s.calendar.inTiers()...) },
	} {
		some, err := save()
		if err != nil {
			return saved, err
		}
		saved.Add(some)
	}
	return saved, nil
}

// digitalDownloads returns the school's digital downloads. The last one is a draft.
func (cal calendar) digitalDownloads() []lyceum.DigitalDownload {
	rows := []lyceum.DigitalDownload{{
		Name: "Lace shawl pattern", Category: text("Knitting"), Description: text("Charted and written out, in three sizes."),
		AuthorID: some[lyceum.AuthorID](2), CreatedAt: cal.time(on(2024, time.March, 4)),
	}, {
		Name: "Sourdough log", Category: text("Baking"),
		AuthorID: some[lyceum.AuthorID](3), CreatedAt: cal.time(on(2024, time.June, 10)),
	}, {
		Name: "Dovetail templates", Category: text("Woodwork"), Description: text("To print at full size."),
		AuthorID: some[lyceum.AuthorID](6), CreatedAt: cal.time(on(2025, time.January, 20)),
	}}
	for i := range rows {
		d := &rows[i]
		d.ID, d.IsPublished, d.IsListed, d.UpdatedAt = lyceum.DigitalDownloadID(i+1), i < len(rows)-1, true, d.CreatedAt
	}
	return rows
}

// downloadAttachments returns the contents of the digital downloads.
func (cal calendar) downloadAttachments() []lyceum.DownloadAttachment {
	file := func(download lyceum.DigitalDownloadID, name string, size int64, at moment) lyceum.DownloadAttachment {
		return lyceum.DownloadAttachment{
			DigitalDownloadID: download, Kind: lyceum.DownloadFile, URL: "https://files.example.com/" + name,
			Filename: text(name), SizeInBytes: lyceum.Some(size), CreatedAt: cal.time(at),
		}
	}
	rows := []lyceum.DownloadAttachment{
		file(1, "lace-shawl-chart.pdf", 482_113, on(2024, time.March, 4)),
		file(1, "lace-shawl-written-out.pdf", 310_942, on(2024, time.March, 4)),
		{
			DigitalDownloadID: 2, Kind: lyceum.DownloadRedirect, URL: "https://sheets.example.com/sourdough-log",
			ButtonText: text("Open the log"), CreatedAt: cal.time(on(2024, time.June, 10)),
		},
	}
	for i := range rows {
		rows[i].ID, rows[i].UpdatedAt = lyceum.DownloadAttachmentID(i+1), rows[i].CreatedAt
	}
	return rows
}

// coachingRows returns the school's coaching. The last one is not listed.
func (cal calendar) coachingRows() []lyceum.Coaching {
	rows := []lyceum.Coaching{{
		Name: "Portfolio review", Description: text("Two hours with your sketchbooks, one to one."),
		AuthorID: some[lyceum.AuthorID](4), CreatedAt: cal.time(on(2024, time.April, 8)),
	}, {
		Name: "Kiln consultation", AuthorID: some[lyceum.AuthorID](2), CreatedAt: cal.time(on(2025, time.February, 3)),
	}}
	for i := range rows {
		c := &rows[i]
		c.ID, c.IsPublished, c.IsListed, c.UpdatedAt = lyceum.CoachingID(i+1), true, i < len(rows)-1, c.CreatedAt
	}
	return rows
}

// collections returns the school's product collections.
func (cal calendar) collections() []lyceum.ProductCollection {
	rows := []lyceum.ProductCollection{{
		Name: "The home potter", Description: text("From the wheel to the shelf, with a pattern for the evenings."),
		ImageURL:  text("https://images.example.com/collections/the-home-potter.jpg"),
		CreatedAt: cal.time(on(2024, time.May, 6)),
	}, {
		Name: "Wood and blade", CreatedAt: cal.time(on(2025, time.March, 10)),
	}}
	for i := range rows {
		c := &rows[i]
		c.ID, c.IsPublished, c.IsListed, c.UpdatedAt = lyceum.ProductCollectionID(i+1), true, true, c.CreatedAt
	}
	return rows
}

func (cal calendar) inCollections() []lyceum.CollectionProduct {
	return included[lyceum.CollectionProductID](cal, []products[lyceum.ProductCollectionID]{
		{1, on(2024, time.May, 6), []lyceum.Product{
			{Kind: lyceum.CourseKind, ID: 1}, {Kind: lyceum.CourseKind, ID: 10}, {Kind: lyceum.DownloadKind, ID: 1},
		}},
		{2, on(2025, time.March, 10), []lyceum.Product{
			{Kind: lyceum.CourseKind, ID: 6}, {Kind: lyceum.CourseKind, ID: 13}, {Kind: lyceum.DownloadKind, ID: 3},
		}},
	})
}

// memberships returns the school's memberships, to which the tiers belong.
func (cal calendar) memberships() []lyceum.Membership {
	at := cal.time(on(2022, time.December, 19))
	return []lyceum.Membership{{
		ID: 1, Name: "Studio membership", Description: text("The studio in your kitchen, month by month."),
		ImageURL: text("https://images.example.com/memberships/studio.jpg"), IsPublished: true, CreatedAt: at, UpdatedAt: at,
	}, {
		ID: 2, Name: "Friends of Fernwood", IsPublished: true, CreatedAt: at, UpdatedAt: at,
	}}
}

// tiers returns the membership tiers. The last one is a draft.
func (cal calendar) tiers() []lyceum.MembershipTier {
	rows := []lyceum.MembershipTier{
		{MembershipID: 1, Name: "Studio", Position: 1, Description: text("Two courses and a bundle, as long as you stay.")},
		{MembershipID: 1, Name: "Studio with a teacher", Position: 2},
		{MembershipID: 2, Name: "Friend", Position: 1},
		{MembershipID: 2, Name: "Patron", Position: 2},
	}
	for i := range rows {
		t := &rows[i]
		t.ID, t.IsPublished = lyceum.MembershipTierID(i+1), i < len(rows)-1
		t.CreatedAt = cal.time(on(2022, time.December, 19))
		t.UpdatedAt = t.CreatedAt
	}
	return rows
}

func (cal calendar) inTiers() []lyceum.TierProduct {
	opening := on(2022, time.December, 19)
	return included[lyceum.TierProductID](cal, []products[lyceum.MembershipTierID]{
		{1, opening, []lyceum.Product{{Kind: lyceum.CourseKind, ID: 3}, {Kind: lyceum.CourseKind, ID: 4}}},
		{2, opening, []lyceum.Product{{Kind: lyceum.CourseKind, ID: 3}, {Kind: lyceum.CourseKind, ID: 4}}},
		{1, on(2024, time.May, 6), []lyceum.Product{{Kind: lyceum.CollectionKind, ID: 1}}},
		{2, on(2024, time.May, 6), []lyceum.Product{
			{Kind: lyceum.CollectionKind, ID: 1}, {Kind: lyceum.CoachingKind, ID: 1},
		}},
		{3, opening, []lyceum.Product{{Kind: lyceum.CourseKind, ID: 7}}},
		{4, on(2025, time.March, 10), []lyceum.Product{
			{Kind: lyceum.CourseKind, ID: 7}, {Kind: lyceum.CollectionKind, ID: 2},
		}},
	})
}

// products are the products that are added to the product in at one moment.
type products[In ~int32] struct {
	in    In
	added moment
	of    []lyceum.Product
}

func included[ID, In ~int32](cal calendar, all []products[In]) (rows []lyceum.Inclusion[ID, In]) {
	for _, added := range all {
		for _, product := range added.of {
			rows = append(rows, lyceum.Inclusion[ID, In]{
				ID: ID(len(rows) + 1), In: added.in, Product: product, CreatedAt: cal.time(added.added),
			})
		}
	}
	return rows
}

// otherPlans returns plans without transactions. Their ids follow those of the others.
func (cal calendar) otherPlans(last lyceum.PricingPlanID) []lyceum.PricingPlan {
	rows := []lyceum.PricingPlan{
		{Name: "Pattern", Price: 12_00, Other: product(lyceum.DownloadKind, 1), CreatedAt: cal.time(on(2024, time.March, 4))},
		{Name: "Log", Price: 10_00, Other: product(lyceum.DownloadKind, 2), CreatedAt: cal.time(on(2024, time.June, 10))},
		{
			Name: "Two hours", Price: 120_00, Other: product(lyceum.CoachingKind, 1),
			EnrollmentCap: lyceum.Some[int32](40), CreatedAt: cal.time(on(2024, time.April, 8)),
		},
		{
			Name: "One hour", Price: 65_00, Other: product(lyceum.CoachingKind, 2),
			CreatedAt: cal.time(on(2025, time.February, 3)),
		},
		{
			Name: "The whole shelf", Price: 189_00, Other: product(lyceum.CollectionKind, 1),
			CreatedAt: cal.time(on(2024, time.May, 6)),
		},
		{
			Name: "Both courses", Price: 269_00, Other: product(lyceum.CollectionKind, 2),
			CreatedAt: cal.time(on(2025, time.March, 10)),
		},
		{
			Name: "With a teacher, monthly", Price: 79_00, Other: product(lyceum.TierKind, 2), Frequency: subscription,
			BillingInterval: text("month"), CreatedAt: cal.time(on(2024, time.May, 6)),
		},
		{
			Name: "Friend, yearly", Price: 60_00, Other: product(lyceum.TierKind, 3), Frequency: subscription,
			BillingInterval: text("year"), CreatedAt: cal.time(on(2023, time.January, 2)),
		},
	}
	for i := range rows {
		p := &rows[i]
		p.ID, p.Currency, p.UpdatedAt = last+lyceum.PricingPlanID(i+1), rates[0].currency, p.CreatedAt
		if p.Frequency == "" {
			p.Frequency = once
		} else {
			p.BillingIntervalCount = lyceum.Some[int32](1)
		}
	}
	return rows
}

func product(kind lyceum.ProductKind, id int32) lyceum.Opt[lyceum.Product] {
	return lyceum.Some(lyceum.Product{Kind: kind, ID: id})
}

package demo

import (
	"slices"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// rate is a currency and what 10,000 of its smallest unit are worth in US cents, the same
// on every day.
type rate struct {
	currency lyceum.Currency
	cents    int64
}

var rates = [...]rate{
	{"USD", 10_000}, {"EUR", 10_800}, {"GBP", 12_700}, {"CAD", 7_300}, {"AUD", 6_600}, {"JPY", 6_600}, {"INR", 119},
}

func rateIndex(currency lyceum.Currency) int {
	return slices.IndexFunc(rates[:], func(r rate) bool { return r.currency == currency })
}

// Cents returns what an amount is worth in US cents, at least 1 unless it is 0. A unit of a
// currency that the school does not sell in is worth a cent.
func Cents(amount lyceum.Minor, currency lyceum.Currency) lyceum.USDCents {
	r := rate{currency, 10_000}
	if i := rateIndex(currency); i >= 0 {
		r = rates[i]
	}
	if amount == 0 {
		return 0
	}
	return max(1, r.usd(amount))
}

func (r rate) usd(amount lyceum.Minor) lyceum.USDCents {
	return lyceum.USDCents((int64(amount)*r.cents + 5_000) / 10_000)
}

// course is a course of the catalogue. Author 0 means none. It is sold from launched, by
// default the first day of sales, until retired, unless that is 0. A draft is not sold.
type course struct {
	name, heading, description string
	image, draft               bool
	author                     lyceum.AuthorID
	made, launched, retired    moment
}

// courses are ordered by id.
var courses = [...]course{
	{
		name: "Wheel Throwing for Beginners", heading: "From a lump of clay to your first set of bowls",
		description: "Centring, opening and pulling walls, slowly and from three camera angles. Six projects, " +
			"two glazes and a kiln you can rent by the shelf.",
		image: true, author: 2, made: on(2022, time.September, 19) + 10*hour,
	}, {
		name: "Sourdough from Scratch", heading: "A starter, a schedule and a loaf you can rely on",
		description: "Flour, water, salt and time. We keep a starter alive for four weeks and bake eight breads with it.",
		image:       true, author: 3, made: on(2022, time.September, 26) + 15*hour,
	}, {
		name: "Watercolour Landscapes", heading: "Weather, water and light in twelve paintings",
		description: "Wet-in-wet skies, reflections and the courage to leave white paper alone.",
		image:       true, author: 4, made: on(2022, time.October, 3) + 9*hour,
	}, {
		name: "Bookbinding by Hand", heading: "Five bindings, from a pamphlet stitch to a full cloth case",
		description: "Folding, punching, sewing and casing in, with tools that fit into a shoe box.",
		image:       true, author: 5, made: on(2022, time.October, 17) + 11*hour,
	}, {
		name: "Macramé Wall Hangings", heading: "Three knots and what they can do",
		description: "Our first course, kept for those who bought it.",
		made:        on(2022, time.October, 24) + 14*hour, retired: on(2024, time.February, 1),
	}, {
		name: "Japanese Joinery", heading: "Strong joints without a screw",
		description: "Sharpening, sawing on the pull and nine joints, ending in a small stool made of ash.",
		image:       true, author: 6, made: on(2022, time.November, 7) + 8*hour,
	}, {
		name: "Hand Lettering and Calligraphy", heading: "Broad nib, pointed pen, brush",
		image: true, author: 4, made: on(2022, time.November, 21) + 13*hour,
	}, {
		name: "Natural Dyeing", heading: "Colour from the hedge, the kitchen and the garden",
		description: "Mordants, madder, weld and indigo on wool, silk and cotton, with a swatch book to keep.",
		image:       true, author: 1, made: on(2023, time.January, 23) + 16*hour, launched: on(2023, time.March, 6),
	}, {
		name: "Willow Basket Weaving", heading: "A log basket, a tray and a garden cloche",
		description: "How to soak, sort and weave willow, and where to get it if you do not have a river.",
		author:      1, made: on(2023, time.March, 27) + 12*hour, launched: on(2023, time.May, 15),
	}, {
		name: "Visible Mending", heading: "Darns and patches worth showing",
		description: "Sashiko, Swiss darning and the honest patch: wear it for ten more years.",
		image:       true, author: 5, made: on(2023, time.July, 10) + 10*hour, launched: on(2023, time.September, 4),
	}, {
		name:        "Linocut Printmaking",
		description: "Cutting, inking and printing on the kitchen table, up to a reduction print in four colours.",
		image:       true, author: 4, made: on(2023, time.November, 6) + 9*hour, launched: on(2024, time.January, 8),
	}, {
		name: "Leatherwork: Your First Bag", heading: "Saddle stitch, edge finish, one bag for life",
		description: "Pattern, cutting, skiving and stitching, with a list of tanneries that sell by the half hide.",
		made:        on(2024, time.March, 18) + 14*hour, launched: on(2024, time.June, 3),
	}, {
		name: "Spoon Carving", heading: "An axe, a knife and a birch branch",
		description: "Grips that keep all your fingers, and five spoons from a coffee scoop to a ladle.",
		image:       true, author: 6, made: on(2024, time.September, 2) + 11*hour, launched: on(2024, time.November, 4),
	}, {
		name: "Stained Glass at the Kitchen Table", heading: "Copper foil for small rooms",
		description: "Cutting, foiling and soldering a suncatcher, a lamp panel and a house number.",
		image:       true, author: 3, made: on(2025, time.January, 20) + 15*hour, launched: on(2025, time.March, 24),
	}, {
		name: "Silver Rings", heading: "Saw, solder, polish",
		description: "Five rings in sterling silver, the last with a stone.",
		image:       true, author: 2, made: on(2025, time.July, 14) + 10*hour, launched: on(2025, time.September, 22),
	}, {
		name: "Timber Framing a Garden Shed", draft: true, author: 6, made: on(2026, time.February, 9) + 9*hour,
	}, {
		name: "Soap Making", heading: "Cold process, step by step",
		draft: true, made: on(2026, time.May, 11) + 17*hour,
	},
}

func (cal calendar) courseRows() []lyceum.Course {
	rows := make([]lyceum.Course, len(courses))
	for i, c := range courses {
		rows[i] = lyceum.Course{
			ID: lyceum.CourseID(i + 1), Name: c.name, Heading: text(c.heading), Description: text(c.description),
			IsPublished: !c.draft && c.retired == 0, CreatedAt: cal.time(c.made), UpdatedAt: cal.time(c.made + 30*day),
			AuthorID: some(c.author),
			IsListed: lyceum.CourseID(i+1) != unlistedCourse, LectureOrder: lyceum.CourseID(i+1) == orderedCourse,
		}
		if c.retired != 0 {
			rows[i].ArchivedAt = lyceum.Some(cal.time(c.retired))
		}
		if page, gives := certificatePages[rows[i].ID]; gives {
			rows[i].Certificate = lyceum.Some(page)
		}
		if c.image {
			slug := strings.NewReplacer(" ", "-", ":", "").Replace(strings.ToLower(c.name))
			rows[i].ImageURL = lyceum.Some("https://images.example.com/courses/" + slug + ".jpg")
		}
	}
	return rows
}

func text(s string) lyceum.Opt[string] {
	if s == "" {
		return lyceum.None[string]()
	}
	return lyceum.Some(s)
}

// price is an amount in the smallest unit of a currency.
type price struct {
	currency lyceum.Currency
	amount   lyceum.Minor
}

// offer is a way to pay for a product, with a pricing plan for every currency that it has
// a price in. The first price is in US dollars. Course 0 is the studio.
type offer struct {
	course    lyceum.CourseID
	name      string
	frequency lyceum.Frequency
	interval  string // month or year, if it recurs
	payments  int    // of a payment plan, in total
	prices    []price
}

const (
	once         = lyceum.OneTimePayment
	subscription = lyceum.Subscription
	instalments  = lyceum.PaymentPlan
	free         = lyceum.Free
)

// offers are ordered by popularity. The most popular one must be sold from the first day
// to the last and must not recur, so that there is always something to buy.
var offers = [...]offer{
	{1, "Full course", once, "", 0, []price{
		{"USD", 149_00},
		{"EUR", 139_00},
		{"GBP", 119_00},
		{"CAD", 199_00},
		{"AUD", 219_00},
		{"JPY", 21_800},
		{"INR", 8_999_00},
	}},
	{2, "Free first lesson", free, "", 0, []price{{"USD", 0}}},
	{0, "Studio membership, monthly", subscription, "month", 0, []price{{"USD", 29_00}}},
	{2, "Full course", once, "", 0, []price{
		{"USD", 79_00},
		{"EUR", 75_00},
		{"GBP", 65_00},
		{"CAD", 105_00},
		{"AUD", 115_00},
		{"JPY", 11_800},
		{"INR", 4_499_00},
	}},
	{1, "3 monthly payments", instalments, "month", 3, []price{{"USD", 55_00}, {"EUR", 52_00}, {"GBP", 44_00}}},
	{3, "Full course", once, "", 0, []price{
		{"USD", 99_00},
		{"EUR", 95_00},
		{"GBP", 79_00},
		{"AUD", 149_00},
		{"JPY", 14_800},
	}},
	{4, "Full course", once, "", 0, []price{{"USD", 89_00}, {"EUR", 85_00}, {"GBP", 72_00}, {"CAD", 119_00}}},
	{3, "Painting club, monthly", subscription, "month", 0, []price{{"USD", 19_00}, {"EUR", 18_00}, {"GBP", 15_00}}},
	{6, "6 monthly payments", instalments, "month", 6, []price{{"USD", 45_00}, {"EUR", 42_00}, {"JPY", 6_600}}},
	{7, "Free alphabet", free, "", 0, []price{{"USD", 0}}},
	{6, "Full course", once, "", 0, []price{{"USD", 249_00}, {"EUR", 235_00}, {"GBP", 199_00}, {"JPY", 36_000}}},
	{7, "Full course", once, "", 0, []price{{"USD", 69_00}, {"EUR", 65_00}, {"INR", 3_999_00}}},
	{10, "Full course", once, "", 0, []price{{"USD", 49_00}, {"EUR", 47_00}, {"GBP", 39_00}, {"AUD", 72_00}}},
	{0, "Studio membership, yearly", subscription, "year", 0, []price{{"USD", 290_00}}},
	{2, "Bread club, monthly", subscription, "month", 0, []price{{"USD", 12_00}, {"EUR", 11_00}}},
	{11, "Full course", once, "", 0, []price{{"USD", 85_00}, {"EUR", 79_00}, {"CAD", 115_00}}},
	{8, "Full course", once, "", 0, []price{{"USD", 95_00}, {"GBP", 75_00}, {"INR", 5_499_00}}},
	{13, "Full course", once, "", 0, []price{{"USD", 59_00}, {"EUR", 57_00}, {"CAD", 79_00}}},
	{5, "Full course", once, "", 0, []price{{"USD", 39_00}}},
	{12, "4 monthly payments", instalments, "month", 4, []price{{"USD", 49_00}, {"EUR", 46_00}}},
	{9, "Full course", once, "", 0, []price{{"USD", 75_00}, {"GBP", 59_00}}},
	{14, "Full course", once, "", 0, []price{{"USD", 119_00}, {"EUR", 115_00}, {"CAD", 159_00}}},
	{10, "Free mending guide", free, "", 0, []price{{"USD", 0}}},
	{12, "Full course", once, "", 0, []price{{"USD", 179_00}, {"EUR", 169_00}}},
	{3, "Painting club, yearly", subscription, "year", 0, []price{{"USD", 190_00}, {"EUR", 180_00}}},
	{15, "Full course", once, "", 0, []price{{"USD", 159_00}, {"EUR", 149_00}, {"AUD", 239_00}, {"JPY", 23_800}}},
	{13, "Free sharpening lesson", free, "", 0, []price{{"USD", 0}}},
	{15, "3 monthly payments", instalments, "month", 3, []price{{"USD", 58_00}}},
	{8, "Dye garden club, yearly", subscription, "year", 0, []price{{"USD", 120_00}, {"GBP", 95_00}}},
	{16, "Full course", once, "", 0, []price{{"USD", 299_00}}},
}

package console

import (
	"time"

	"github.com/lyceum-school/lyceum"
)

// gaveRows is the maximum number of entitlements that the page of a sale shows.
const gaveRows = 50

// gave is access that a sale gave to a learner.
type gave struct {
	Kind, Product string
	State         mark
	Word          string // the word before At
	At            lyceum.Opt[time.Time]
}

// gaveBy returns what a sale gave access to, newest first, and how much more there is.
func (c *console) gaveBy(v lyceum.View, sale *lyceum.Sale) (list []gave, more int64, err error) {
	of := lyceum.EntitlementFilter{User: sale.UserID, Sale: lyceum.Some(sale.ID)} // found by an index of the user
	listing, err := v.Entitlements.List(v, of, lyceum.Page{Number: 1, Size: gaveRows})
	if err != nil {
		return nil, 0, err
	}
	products := make([]lyceum.Product, len(listing.Rows))
	for i := range listing.Rows {
		products[i] = listing.Rows[i].Product
	}
	found, err := lyceum.FindProducts(v.Tables, v, products...)
	for i := range listing.Rows {
		e := &listing.Rows[i]
		info := found[e.Product]
		info.Product = e.Product
		g := gave{Kind: kindLabels[e.Product.Kind], Product: productLabel(info)}
		switch now := c.Clock(); {
		case e.EndedAt.Present && !e.EndedAt.Value.After(now):
			g.State, g.Word, g.At = mark{"badge-off", "Ended"}, "Ended", e.EndedAt
		case e.EndsAt.Present && !e.EndsAt.Value.After(now):
			g.State, g.Word, g.At = mark{"badge-off", "Expired"}, "Until", e.EndsAt
		case e.StartsAt.After(now):
			g.State, g.Word, g.At = mark{"", "To come"}, "From", lyceum.Some(e.StartsAt)
		case e.EndedAt.Present:
			g.State, g.Word, g.At = mark{"badge-on", "Has access"}, "Until", e.EndedAt
		case e.EndsAt.Present:
			g.State, g.Word, g.At = mark{"badge-on", "Has access"}, "Until", e.EndsAt
		default:
			g.State, g.Word, g.At = mark{"badge-on", "Has access"}, "Since", lyceum.Some(e.StartsAt)
		}
		list = append(list, g)
	}
	return list, listing.Total - int64(len(list)), err
}

package lyceum

import "time"

// AffiliatePartner is paid for bringing a buyer. One that is known from
// transactions alone has no name.
type AffiliatePartner struct {
	ID         AffiliateID
	Name       Opt[string]
	UserID     Opt[UserID]
	Share      Opt[float64] // of a price, from 0 to 1
	CookieDays Opt[int32]   // how long after a click a purchase counts
	ArchivedAt Opt[time.Time]
}

// PartnerFilter narrows affiliates or authors; an absent part holds always.
type PartnerFilter struct {
	UserID     Opt[UserID]
	Users      []UserID // those who are one of these; nil: all
	IsArchived Opt[bool]
}

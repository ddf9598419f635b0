package lyceum

import "time"

// AffiliatePartner is a partner who is paid for referring a buyer. A partner known only from
// transactions has no name.
type AffiliatePartner struct {
	ID         AffiliateID
	Name       Opt[string]
	UserID     Opt[UserID]
	Share      Opt[float64] // of the price, from 0 to 1
	CookieDays Opt[int32]   // how many days after a click a purchase counts
	ArchivedAt Opt[time.Time]
}

// PartnerFilter narrows affiliates or authors; absent fields match everything.
type PartnerFilter struct {
	UserID     Opt[UserID]
	Users      []UserID // only partners who are one of these users; nil: all
	IsArchived Opt[bool]
}

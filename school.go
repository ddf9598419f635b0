package lyceum

import "time"

// School is one tenant of a server. Everything else belongs to exactly one.
type School struct {
	ID        SchoolID
	Name      string
	CreatedAt time.Time
	// V2Disabled: the second version of the interface, which is in beta, is
	// not for this school.
	V2Disabled bool
	Policy     SalePolicy
	TimeZone   TimeZone // in which its days begin and end
	// ReviewsComments: what learners write waits until the school approves it.
	ReviewsComments bool
	Retention       Retention
	// OwnersSecondFactor: owners open the console with a second factor alone.
	OwnersSecondFactor bool
	Emails             EmailSet // those it sends, of the kinds that a school may send or not
}

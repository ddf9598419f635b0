package lyceum

import (
	"strings"
	"time"
)

// MaxSchoolName is the maximum length of a school's name, in characters.
const MaxSchoolName = 200

// School is one tenant of a server. Everything else belongs to exactly one school.
type School struct {
	ID        SchoolID
	Name      string
	CreatedAt time.Time
	// V2Disabled means that version 2 of the API, which is in beta, is disabled for this
	// school.
	V2Disabled bool
	Policy     SalePolicy
	TimeZone   TimeZone // determines when its days begin and end
	// ReviewsComments means that learners' comments wait until the school approves them.
	ReviewsComments bool
	Retention       Retention
	// OwnersSecondFactor means that owners can open the console only with a second factor.
	OwnersSecondFactor bool
	Emails             EmailSet // those it sends, of the kinds that are optional
}

// CheckName reports what is wrong with the name of the school.
func (s *School) CheckName() error {
	if message := CheckText(strings.TrimSpace(s.Name), 1, MaxSchoolName); message != "" {
		return InvalidFields(FieldError{Field: "name", Message: message})
	}
	return nil
}

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

// Check returns an error if a setting of the school is invalid.
func (s *School) Check() error {
	var wrong []FieldError
	for _, err := range []error{s.CheckName(), s.TimeZone.Check(), s.Policy.Check(), s.Retention.Check()} {
		if err != nil {
			wrong = append(wrong, Public(err).Fields...)
		}
	}
	if len(wrong) > 0 {
		return InvalidFields(wrong...)
	}
	return nil
}

// Shown returns the fingerprint of the settings that people change together.
func (s *School) Shown() string { return Fingerprint(s.Name, s.TimeZone, s.Policy) }

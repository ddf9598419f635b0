package lyceum

import "time"

// EmailKind is what an email of a school is about. The numbers are stored.
type EmailKind int32

// The kinds of emails.
const (
	PasswordEmail       EmailKind = 1 // the link for a user who forgot their password
	ConfirmAddressEmail EmailKind = 2 // the link that confirms a new address
	AddressChangedEmail EmailKind = 3 // a learner confirmed another address; sent to the previous one
	AccountChangedEmail EmailKind = 4 // the school changed a user's address or password
	ReceiptEmail        EmailKind = 5 // for a payment
	PaymentFailedEmail  EmailKind = 6
	AccessEndedEmail    EmailKind = 7 // access ended with the sale that granted it
	AbandonedOrderEmail EmailKind = 8 // with the URL to resume the order at

	// PageSnippet is not an email but the HTML that a school adds to its learners' pages. It
	// has no subject.
	PageSnippet EmailKind = 9

	InvitationEmail EmailKind = 10 // the link for a new member of staff
)

// EmailSet is a set of kinds of emails, one bit each.
type EmailSet int64

// Has reports whether k is in the set.
func (s EmailSet) Has(k EmailKind) bool { return s&(1<<k) != 0 }

// With returns the set with k if on is true, and without it otherwise.
func (s EmailSet) With(k EmailKind, on bool) EmailSet {
	if on {
		return s | 1<<k
	}
	return s &^ (1 << k)
}

// EmailTemplate is what a school wrote for a kind of email to replace Lyceum's standard text.
// Subject and Body are Liquid templates.
type EmailTemplate struct {
	Kind      EmailKind
	Subject   string
	Body      string
	UpdatedAt time.Time
}

// The journal entries of templates and their secrets.
const (
	EmailTemplateUpdated  EntryType = "email_template.updated"
	EmailTemplateDeleted  EntryType = "email_template.deleted" // the standard text applies again
	TemplateSecretCreated EntryType = "template_secret.created"
	TemplateSecretUpdated EntryType = "template_secret.updated"
	TemplateSecretDeleted EntryType = "template_secret.deleted"
)

// TemplateSecretID numbers the template secrets of a school.
type TemplateSecretID int32

// TemplateSecretSequence numbers template secrets.
const TemplateSecretSequence Sequence = "template_secret_id"

// TemplateSecret is a secret that the school shares with a service, to sign with in templates.
// Only Keyring.Open can read it.
type TemplateSecret struct {
	ID        TemplateSecretID
	Name      string // unique in the school; lower-case letters, digits and underscores
	Sealed    string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// TemplateSecretFilter narrows template secrets.
type TemplateSecretFilter struct{ Name Opt[string] }

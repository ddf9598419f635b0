package lyceum

import "time"

// EmailKind is what an email of a school is about. Its numbers are stored.
type EmailKind int32

// The kinds of emails.
const (
	PasswordEmail       EmailKind = 1 // the link of who forgot their password
	ConfirmAddressEmail EmailKind = 2 // the link that confirms a new address
	AddressChangedEmail EmailKind = 3 // a learner confirmed another address; sent to the one before
	AccountChangedEmail EmailKind = 4 // the school changed somebody's address or password
	ReceiptEmail        EmailKind = 5 // of a payment
	PaymentFailedEmail  EmailKind = 6
	AccessEndedEmail    EmailKind = 7 // with the sale that gave it
	AbandonedOrderEmail EmailKind = 8 // with the address to continue at

	// PageSnippet is no email: it is the HTML that a school adds to the pages of its
	// learners. It has no subject.
	PageSnippet EmailKind = 9

	InvitationEmail EmailKind = 10 // the link of who is to work for the school
)

// EmailSet are kinds of emails, a bit each.
type EmailSet int64

// Has reports whether a kind is in the set.
func (s EmailSet) Has(k EmailKind) bool { return s&(1<<k) != 0 }

// With returns the set with a kind, or without it.
func (s EmailSet) With(k EmailKind, on bool) EmailSet {
	if on {
		return s | 1<<k
	}
	return s &^ (1 << k)
}

// EmailTemplate is what a school wrote for a kind of email in place of Lyceum's own
// text. Subject and Body are Liquid templates.
type EmailTemplate struct {
	Kind      EmailKind
	Subject   string
	Body      string
	UpdatedAt time.Time
}

// The journal entries of templates and their secrets.
const (
	EmailTemplateUpdated  EntryType = "email_template.updated"
	EmailTemplateDeleted  EntryType = "email_template.deleted" // the standard text is back
	TemplateSecretCreated EntryType = "template_secret.created"
	TemplateSecretUpdated EntryType = "template_secret.updated"
	TemplateSecretDeleted EntryType = "template_secret.deleted"
)

// TemplateSecretID numbers the secrets of templates in a school.
type TemplateSecretID int32

// TemplateSecretSequence numbers the secrets of templates.
const TemplateSecretSequence Sequence = "template_secret_id"

// TemplateSecret is a secret that the school shares with a service, to sign with in
// templates. Only Keyring.Open reads it.
type TemplateSecret struct {
	ID        TemplateSecretID
	Name      string // unique in the school: lower-case letters, digits, underscores
	Sealed    string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// TemplateSecretFilter narrows secrets of templates.
type TemplateSecretFilter struct{ Name Opt[string] }

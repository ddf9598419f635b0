package templates

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// EmailName is the name of a kind of email.
type EmailName string

// The names of emails.
const (
	SetPassword    EmailName = "set_password" // #nosec G101 -- a name
	Invitation     EmailName = "invitation"
	ConfirmEmail   EmailName = "confirm_email"
	EmailChanged   EmailName = "email_changed"
	AccountChanged EmailName = "account_changed"
	Receipt        EmailName = "receipt"
	PaymentFailed  EmailName = "payment_failed"
	AccessEnded    EmailName = "access_ended"
	OrderAbandoned EmailName = "order_abandoned"
)

// Variable is a value that the templates of an email can show.
type Variable struct {
	Name, Description string
	Example           string
}

// kind describes a kind of email.
type kind struct {
	stored      lyceum.EmailKind
	name        EmailName
	description string
	variables   []Variable
	shows       string // the variable without which the email is useless
	optional    bool   // the school can turn the email on; it is off at first
	// facts adds the values of what an optional email is about, or returns why it should no
	// longer be sent.
	facts func(f *facts, about int32) (canceled string, err error)
}

var (
	schoolName = Variable{"school.name", "The school's name.", "My school"}
	userName   = Variable{"user.name", "The person's name; may be empty.", "Ana Silva"}
	userEmail  = Variable{"user.email", "The person's email address.", "ana@example.com"}

	productName = Variable{"product.name", "What was sold; may be empty.", "Oil on Canvas"}
	planName    = Variable{"plan.name", "The pricing plan.", "Monthly"}
)

// kinds are the emails that are sent, in the order in which they are listed.
var kinds = []kind{
	{
		lyceum.PasswordEmail, SetPassword, "Sent to a person who forgot their password.",
		[]Variable{schoolName, userName, userEmail, {
			"link", "The page where they choose a password, valid for 48 hours.",
			"https://school.example.com/secure/1/identity/set_password/…",
		}},
		"link", false, nil,
	},
	{
		lyceum.InvitationEmail, Invitation, "Sent to a person who is invited to work for the school and has no password yet.",
		[]Variable{schoolName, userEmail, {
			"role", "What they are invited as: owner, manager, bookkeeper, author or support.", "bookkeeper",
		}, {
			"link", "The page where they choose a password, valid for 48 hours.",
			"https://school.example.com/secure/1/identity/set_password/…",
		}},
		"link", false, nil,
	},
	{
		lyceum.ConfirmAddressEmail, ConfirmEmail,
		"Sent to the new email address that a person asked for in their profile or through an app.",
		[]Variable{schoolName, {
			"link", "The page where they confirm the address, valid for 48 hours.",
			"https://school.example.com/secure/1/identity/confirm_email/…",
		}},
		"link", false, nil,
	},
	{
		lyceum.AddressChangedEmail, EmailChanged, "Sent to the address before, when a person confirmed another one.",
		[]Variable{schoolName},
		"", false, nil,
	},
	{
		lyceum.AccountChangedEmail, AccountChanged, "Sent when the school changed a person's address or password.",
		[]Variable{schoolName, {
			"changed", "What was changed: password, email address, or email address and password.", "password",
		}},
		"", false, nil,
	},
	{
		lyceum.ReceiptEmail, Receipt,
		"Sent to the buyer when a payment is recorded, unless it was free or made more than a day earlier.",
		[]Variable{
			schoolName, userName, userEmail, productName, planName,
			{"payment.id", "The number of the transaction.", "52"},
			{"payment.date", "The day of the payment, in the school's time zone.", "2024-02-01"},
			{"payment.price", "The price without taxes.", "$19.99"},
			{"payment.tax", "The taxes on top of it.", "$3.80"},
			{"payment.total", "The total that was paid.", "$23.79"},
		},
		"", true, (*facts).payment,
	},
	{
		lyceum.PaymentFailedEmail, PaymentFailed,
		"Sent to the buyer when a failed payment of a subscription or a payment plan is recorded.",
		[]Variable{
			schoolName, userName, userEmail, productName, planName,
			{"failure.date", "The day of the attempt, in the school's time zone.", "2024-03-01"},
			{"failure.next_date", "The day of the next attempt; empty if none is planned.", "2024-03-04"},
		},
		"", true, (*facts).failure,
	},
	{
		lyceum.AccessEndedEmail, AccessEnded,
		"Sent to the buyer when a sale ends and its access with it: after a lapse, a cancellation or a refund.",
		[]Variable{
			schoolName, userName, userEmail, productName, planName,
			{"sale.reason", "Why it ended: canceled, refunded, charged_back, voided or lapsed.", "lapsed"},
		},
		"", true, (*facts).ended,
	},
	{
		lyceum.AbandonedOrderEmail, OrderAbandoned, "Sent to the buyer when an order that has a return_url is abandoned.",
		[]Variable{
			schoolName, productName, planName,
			{"order.name", "The buyer's name; may be empty.", "Ana Silva"},
			{"order.price", "The price without taxes.", "$19.99"},
			{"return_url", "Where the buyer can continue the order.", "https://shop.example.com/cart/7"},
		},
		"return_url", true, (*facts).order,
	},
}

// EmailNames lists the names of all emails.
func EmailNames() []EmailName {
	names := make([]EmailName, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].name
	}
	return names
}

func kindOf(name EmailName) (*kind, error) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil, lyceum.Errorf(lyceum.NotFound, "there is no email %s", name)
	}
	return &kinds[i], nil
}

func storedKind(stored lyceum.EmailKind) (*kind, error) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.stored == stored })
	if i < 0 {
		return nil, fmt.Errorf("there is no email of kind %d", stored)
	}
	return &kinds[i], nil
}

// NameOf returns the name of a kind of email, or nothing for an unknown one.
func NameOf(stored lyceum.EmailKind) EmailName {
	k, err := storedKind(stored)
	if err != nil {
		return ""
	}
	return k.name
}

// always reports whether enabled would turn off an email that is always sent.
func (k *kind) always(enabled lyceum.Opt[bool]) bool {
	return !k.optional && enabled.Present && !enabled.Value
}

// secret reports whether the email shows a link that gives its reader access.
func (k *kind) secret() bool { return k.shows == "link" }

//go:embed emails
var standardTexts embed.FS

// standard returns Lyceum's own templates. The first line of the file is the subject.
func (k *kind) standard() (subject, body string) {
	file, err := standardTexts.ReadFile("emails/" + string(k.name) + ".liquid")
	if err != nil {
		panic(err) // a test reads them all
	}
	subject, body, _ = strings.Cut(string(file), "\n")
	return subject, strings.TrimPrefix(body, "\n")
}

// examples returns the values for a preview.
func (k *kind) examples() Values { return examples(k.variables) }

func examples(of []Variable) Values {
	values := Values{}
	for _, v := range of {
		values[v.Name] = v.Example
	}
	return values
}

// Values are what an email shows, by the names of its variables.
type Values map[string]string

// nested turns a variable such as user.name into the member name of user.
func (v Values) nested() map[string]any {
	all := map[string]any{}
	for name, value := range v {
		object, member, dotted := strings.Cut(name, ".")
		if !dotted {
			all[name] = value
			continue
		}
		members, there := all[object].(map[string]any)
		if !there {
			members = map[string]any{}
			all[object] = members
		}
		members[member] = value
	}
	return all
}

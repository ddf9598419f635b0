package console

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lyceum-school/lyceum"
)

// auditRow is one change in words.
type auditRow struct {
	lyceum.Entry

	What, Detail       string
	Object, ObjectPath string // the path is empty if the object has no page
	who
}

// who is who made a change, and through what.
type who struct{ By, ByPath, How string }

// The prefixes of actors that have a number.
const (
	userPrefix   = "user:"
	keyPrefix    = "api_key:"
	appPrefix    = "oauth_app:"
	uploadPrefix = "upload:"
)

func userActor(id int32) string { return userPrefix + strconv.Itoa(int(id)) }

// programs are the actors that are neither a user, a key nor an app.
var programs = map[string]string{
	"command": "Command line", "import": "Import of a file", "clock": "Lyceum, on time", "server": "Lyceum",
	"webhooks": "Lyceum, delivering webhooks", "emails": "Lyceum, sending email", "session": "Somebody signing out",
	"restore": "Restored backup", "mirror": "Copy of another server", "sandbox": "Sandbox", "update": "Lyceum update",
	"provider": "Sandbox’s payment system",
}

// changeWords describes the types of changes that noun and verb do not describe well.
var changeWords = map[lyceum.EntryType]string{
	lyceum.SignedIn: "Signed in", lyceum.SignInFailed: "Sign-in failed",
	lyceum.AccountLocked:  "Sign-in refused: too many attempts for the account",
	lyceum.SignInsRefused: "Sign-ins refused: too many failed attempts from one address",
	lyceum.UserSignedOut:  "Signed out everywhere", lyceum.SessionEnded: "Session ended",
	lyceum.LinkCreated:     "Link to set a password created",
	lyceum.SecondFactorSet: "Second factor turned on", lyceum.SecondFactorRemoved: "Second factor removed",
	lyceum.RecoveryCodeUsed: "Recovery code used", lyceum.RecoveryCodesMade: "Recovery codes created",
	lyceum.PasskeyAdded: "Passkey added", lyceum.PasskeyRemoved: "Passkey removed",
	lyceum.ErasurePlanned: "Erasure of a person planned", lyceum.ErasureUndone: "Erasure of a person undone",
	lyceum.ErasureRefused: "Person not erased: they subscribed, began to work here, or who asked may no longer",
	lyceum.DataHandedOver: "Data of a person downloaded",
	lyceum.UserDisabled:   "Person disabled", lyceum.UserEnabled: "Person enabled", lyceum.UserTagged: "Tags changed",
	lyceum.SchoolUpdated: "Settings changed", lyceum.SchoolRestored: "School restored from a backup",
	lyceum.SchoolUpgraded:       "Database upgraded to a newer version",
	lyceum.APIKeyRevoked:        "API key revoked",
	lyceum.GrantCreated:         "App authorized by a person",
	lyceum.GrantRevoked:         "Authorization of an app ended",
	lyceum.CodeReplayed:         "Code of an app used twice: its access was ended",
	lyceum.TokenReused:          "Replaced refresh token used: its access was ended",
	lyceum.WebhookSecretRotated: "Signing secret rotated", lyceum.WebhookEventResent: "Delivery sent again",
	lyceum.TargetRefused:        "Webhook leads to an address that nothing may be sent to",
	lyceum.EmailTemplateDeleted: "Email has the standard text again",
	lyceum.StaffMemberCreated:   "Added to the staff", lyceum.StaffMemberUpdated: "Role changed",
	lyceum.StaffMemberDeleted: "Removed from the staff",
	lyceum.EmailFailedEntry:   "Email could not be sent",
	lyceum.MovementCreated:    "Money moved back", lyceum.EntitlementCreated: "Access given",
	lyceum.EntitlementUpdated: "Access changed", lyceum.EntitlementDeleted: "Access replaced",
	lyceum.BlockCreated: "Access blocked", lyceum.BlockDeleted: "Block removed",
	lyceum.PaymentFailureCreated:  "Payment failed",
	lyceum.LectureProgressDeleted: "Completion of a lecture undone",
}

// nounWords are the nouns that are worded differently than in the types of changes.
var nounWords = map[string]string{
	"api_key": "API key", "oauth_app": "App", "user": "Person", "school": "School", "webhook_event": "Webhook delivery",
	"sale_warning": "Warning about a sale", "movement": "Movement", "email_template": "Email",
}

var verbWords = map[string]string{"updated": "changed"}

// changeOf describes a type of change.
func changeOf(kind lyceum.EntryType) string {
	if words, ok := changeWords[kind]; ok {
		return words
	}
	noun, verb, _ := strings.Cut(string(kind), ".")
	if words, ok := verbWords[verb]; ok {
		verb = words
	}
	return nounOf(noun) + " " + strings.ReplaceAll(verb, "_", " ")
}

func nounOf(noun string) string {
	if words, ok := nounWords[noun]; ok {
		return words
	}
	words := strings.ReplaceAll(noun, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

var signInDetails = map[string]string{
	lyceum.WithPassword: "with a password", lyceum.WithAppCode: "with a password and a code of the app",
	lyceum.WithRecoveryCode: "with a password and a recovery code",
	lyceum.WithPasskey:      "with a passkey", lyceum.WithNextPasskey: "with a password and a passkey",
}

var failureDetails = map[string]string{
	lyceum.WrongPassword: "wrong password", lyceum.WrongCode: "wrong code of the second factor",
	lyceum.WrongPasskey: "passkey not accepted", lyceum.CopiedPasskey: "the passkey may have been copied",
	lyceum.DisabledAccount: "the account is disabled",
}

// detailOf returns details of a change that its type does not contain.
func detailOf(e *lyceum.Entry) string {
	d := lyceum.DetailOf(e)
	switch {
	case d.Role != "":
		return "as " + string(d.Role)
	case d.With != "":
		return signInDetails[d.With]
	}
	return failureDetails[d.Wrong]
}

// auditNameSet has the names of the actors and objects of some changes.
type auditNameSet struct {
	named map[lyceum.Sequence]map[int32]lyceum.Named
	keys  map[lyceum.APIKeyID]lyceum.APIKey
	apps  map[lyceum.OAuthAppID]lyceum.OAuthApp
	hooks map[lyceum.WebhookID]lyceum.Webhook
	sales map[lyceum.TransactionID]lyceum.Transaction
}

// sequenceOf maps the nouns of changes whose objects have names to their sequences.
var sequenceOf = map[string]lyceum.Sequence{
	"user": lyceum.UserSequence, "staff_member": lyceum.UserSequence, "course": lyceum.CourseSequence,
	"pricing_plan": lyceum.PricingPlanSequence, "affiliate": lyceum.AffiliateSequence, "author": lyceum.AuthorSequence,
}

// auditNamesOf finds the names for changes, with one query for each kind.
func auditNamesOf(in lyceum.View, entries []lyceum.Entry) (n auditNameSet, err error) {
	ids := map[lyceum.Sequence][]int32{}
	var keys []lyceum.APIKeyID
	var apps []lyceum.OAuthAppID
	var hooks []lyceum.WebhookID
	var transactions []lyceum.TransactionID
	for i := range entries {
		e := &entries[i]
		if id, ok := numberOf(e.Actor, userPrefix); ok {
			ids[lyceum.UserSequence] = append(ids[lyceum.UserSequence], id)
		} else if id, ok := numberOf(e.Actor, keyPrefix); ok {
			keys = append(keys, lyceum.APIKeyID(id))
		} else if id, ok := numberOf(e.Actor, appPrefix); ok {
			apps = append(apps, lyceum.OAuthAppID(id))
		}
		switch noun, _, _ := strings.Cut(string(e.Type), "."); noun {
		case "api_key":
			keys = append(keys, lyceum.APIKeyID(e.ObjectID))
		case "oauth_app":
			apps = append(apps, lyceum.OAuthAppID(e.ObjectID))
		case "webhook":
			hooks = append(hooks, lyceum.WebhookID(e.ObjectID))
		case "transaction":
			transactions = append(transactions, lyceum.TransactionID(e.ObjectID))
		default:
			if of, ok := sequenceOf[noun]; ok {
				ids[of] = append(ids[of], e.ObjectID)
			}
		}
	}
	n.named = map[lyceum.Sequence]map[int32]lyceum.Named{}
	for of, list := range ids {
		if n.named[of], err = in.FindNames(of, distinct(list)); err != nil {
			return n, err
		}
	}
	if n.keys, err = in.APIKeys.Find(in, distinct(keys)...); err != nil {
		return n, err
	}
	if n.apps, err = in.OAuthApps.Find(in, distinct(apps)...); err != nil {
		return n, err
	}
	if n.hooks, err = in.Webhooks.Find(in, distinct(hooks)...); err != nil {
		return n, err
	}
	n.sales, err = in.Transactions.Find(in, distinct(transactions)...)
	return n, err
}

// numberOf returns the number in an actor with the given prefix.
func numberOf(actor, prefix string) (int32, bool) {
	text, ok := strings.CutPrefix(actor, prefix)
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), ok && err == nil && n > 0 // #nosec G109 G115 -- 32 bits
}

// auditRowsOf returns changes in words.
func auditRowsOf(in lyceum.View, entries []lyceum.Entry) ([]auditRow, error) {
	names, err := auditNamesOf(in, entries)
	if err != nil {
		return nil, err
	}
	rows := make([]auditRow, len(entries))
	for i := range entries {
		e := &entries[i]
		row := auditRow{Entry: *e, What: changeOf(e.Type), Detail: detailOf(e), who: names.actor(e.Actor)}
		row.Object, row.ObjectPath = names.object(e)
		rows[i] = row
	}
	return rows, nil
}

// actor describes who made a change.
func (n *auditNameSet) actor(actor string) who {
	if id, ok := numberOf(actor, userPrefix); ok {
		return who{n.person(id), personPath(lyceum.UserID(id)), "In a browser"}
	}
	if id, ok := numberOf(actor, keyPrefix); ok {
		return who{n.key(id), keysPath, "API key"}
	}
	if id, ok := numberOf(actor, appPrefix); ok {
		name, path := n.app(id)
		return who{name, path, "App"}
	}
	if words, ok := programs[actor]; ok {
		return who{By: words}
	}
	if strings.HasPrefix(actor, uploadPrefix) {
		return who{By: "Upload of a file"}
	}
	return who{By: actor}
}

func (n *auditNameSet) person(id int32) string {
	return called(n.named[lyceum.UserSequence][id], fmt.Sprintf("User %d", id))
}

func (n *auditNameSet) key(id int32) string {
	if key, ok := n.keys[lyceum.APIKeyID(id)]; ok {
		return key.Name
	}
	return fmt.Sprintf("API key %d", id)
}

// app returns the name of an app, and the path of its page unless it was deleted.
func (n *auditNameSet) app(id int32) (name, path string) {
	app, ok := n.apps[lyceum.OAuthAppID(id)]
	switch {
	case !ok:
		return fmt.Sprintf("App %d", id), ""
	case app.DeletedAt.Present:
		return app.Name, ""
	}
	return app.Name, fmt.Sprintf("%s/%d", appsPath, id)
}

// object returns the name of what was changed, and the path of its page.
func (n *auditNameSet) object(e *lyceum.Entry) (name, path string) {
	noun, _, _ := strings.Cut(string(e.Type), ".")
	id := e.ObjectID
	numbered := fmt.Sprintf("%s %d", nounOf(noun), id)
	switch noun {
	case "school":
		return "The school", ""
	case "user", "staff_member":
		return n.person(id), personPath(lyceum.UserID(id))
	case "api_key":
		return n.key(id), keysPath
	case "oauth_app":
		return n.app(id)
	case "webhook":
		if hook, ok := n.hooks[lyceum.WebhookID(id)]; ok && !hook.DeletedAt.Present {
			return numbered, hookPath(hook.ID)
		}
	case "sale":
		return numbered, salePath(lyceum.SaleID(id))
	case "transaction":
		if t, ok := n.sales[lyceum.TransactionID(id)]; ok {
			return numbered, salePath(t.SaleID)
		}
	case "email_template":
		if lyceum.EmailKind(id) == lyceum.PageSnippet {
			return "Snippet for learners’ pages", snippetPath
		}
		return numbered, emailsPath
	case "template_secret":
		return numbered, emailsPath
	default:
		return called(n.named[sequenceOf[noun]][id], numbered), ""
	}
	return numbered, ""
}

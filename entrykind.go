package lyceum

// EntryKind is a group of entries, as the audit log of a school is narrowed to.
type EntryKind string

// The kinds of entries. An entry of another type has none.
const (
	SignInEntries   EntryKind = "sign_ins"
	SettingsEntries EntryKind = "settings"
	KeyEntries      EntryKind = "keys"
	StaffEntries    EntryKind = "staff"
	MoneyEntries    EntryKind = "money"
	PeopleEntries   EntryKind = "people"
)

// EntryKinds lists the kinds.
func EntryKinds() []EntryKind {
	return []EntryKind{SignInEntries, SettingsEntries, KeyEntries, StaffEntries, MoneyEntries, PeopleEntries}
}

// Types returns the types of entry of a kind.
func (k EntryKind) Types() []EntryType {
	switch k {
	case SignInEntries:
		return []EntryType{
			SignedIn, SignInFailed, AccountLocked, SignInsRefused, UserSignedOut, SessionEnded, LinkCreated, SecondFactorSet,
			SecondFactorRemoved, RecoveryCodeUsed, RecoveryCodesMade, PasskeyAdded, PasskeyRemoved,
		}
	case SettingsEntries:
		return []EntryType{
			SchoolCreated, SchoolUpdated, SchoolRestored, SchoolUpgraded, EmailTemplateUpdated, EmailTemplateDeleted,
			TemplateSecretCreated, TemplateSecretUpdated, TemplateSecretDeleted, WebhookCreated, WebhookUpdated,
			WebhookDeleted, WebhookSecretRotated, TargetRefused,
		}
	case KeyEntries:
		return []EntryType{
			APIKeyCreated, APIKeyRevoked, OAuthAppCreated, OAuthAppUpdated, GrantCreated, GrantRevoked, CodeReplayed,
			TokenReused,
		}
	case StaffEntries:
		return []EntryType{StaffMemberCreated, StaffMemberUpdated, StaffMemberDeleted}
	case MoneyEntries:
		return []EntryType{
			SaleCreated, SaleUpdated, TransactionCreated, TransactionUpdated, MovementCreated, DisputeCreated,
			DisputeUpdated, PaymentFailureCreated, OrderCreated, OrderUpdated, SaleWarningCreated, SaleWarningUpdated,
		}
	case PeopleEntries:
		return []EntryType{
			UserCreated, UserUpdated, UserTagged, UserDisabled, UserEnabled, EnrollmentCreated, EnrollmentUpdated,
			AdmissionCreated, AdmissionUpdated, EntitlementCreated, EntitlementUpdated, EntitlementDeleted, BlockCreated,
			BlockDeleted,
		}
	}
	return nil
}

// Scarce reports whether few entries of a school are of a kind, so that a store finds
// them wherever they are.
func (k EntryKind) Scarce() bool {
	switch k {
	case SignInEntries, SettingsEntries, KeyEntries, StaffEntries:
		return true
	}
	return false
}

// EntryQuery selects entries of a school's journal. What is absent narrows nothing.
type EntryQuery struct {
	Kind   EntryKind   // empty: all
	Actor  Opt[string] // who made the change
	Object Opt[int32]  // the id of what was changed
	Made   Period      // by whole seconds: After is excluded, Until included
	Before int64       // entries with a smaller number; 0: from the last one on
	After  int64       // not 0: the nearest entries with a greater number, in place of the newest
	Limit  int         // of entries, at least 1
}

// EntriesScanned is how many entries one query looks at, at most, that it does not
// return.
const EntriesScanned = 200_000

// EntryListing is a part of a journal, the newest entry first.
type EntryListing struct {
	Entries []Entry
	// More reports whether there may be others that were not looked at: with numbers
	// below Through, or above it when the query had After.
	More    bool
	Through int64
	// Span is how many entries there are in the period, between Before and After,
	// whatever else narrows them.
	Span int64
}

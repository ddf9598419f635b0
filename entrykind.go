package lyceum

// EntryKind is a group of entries that the audit log can be narrowed to.
type EntryKind string

// The kinds of entries. Entries of all other types have no kind.
const (
	SignInEntries   EntryKind = "sign_ins"
	SettingsEntries EntryKind = "settings"
	KeyEntries      EntryKind = "keys"
	StaffEntries    EntryKind = "staff"
	MoneyEntries    EntryKind = "money"
	PeopleEntries   EntryKind = "people"
)

// EntryKinds lists every kind.
func EntryKinds() []EntryKind {
	return []EntryKind{SignInEntries, SettingsEntries, KeyEntries, StaffEntries, MoneyEntries, PeopleEntries}
}

// Types returns the entry types of a kind.
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
			BlockDeleted, UserErased, ErasurePlanned, ErasureUndone, ErasureRefused, DataHandedOver,
		}
	}
	return nil
}

// Scarce reports whether a school has few entries of the kind, so that a store can find them
// wherever they are in the journal.
func (k EntryKind) Scarce() bool {
	switch k {
	case SignInEntries, SettingsEntries, KeyEntries, StaffEntries:
		return true
	}
	return false
}

// EntryQuery selects entries of a school's journal. Absent fields match everything.
type EntryQuery struct {
	Kind   EntryKind   // empty: all
	Actor  Opt[string] // who made the change
	Object Opt[int32]  // the id of what was changed
	Made   Period      // in whole seconds: After is exclusive, Until inclusive
	Before int64       // only smaller numbers; 0: start at the last entry
	After  int64       // if not 0: the nearest entries with greater numbers, instead of the newest
	Limit  int         // maximum number of entries, at least 1
}

// EntriesScanned is the maximum number of entries that one query examines without returning
// them.
const EntriesScanned = 200_000

// EntryListing is a part of a journal, newest entry first.
type EntryListing struct {
	Entries []Entry
	// More reports whether there may be matches among entries that were not examined: those
	// numbered below Through, or above it if the query had After.
	More    bool
	Through int64
	// Span is the number of entries in the period between Before and After, ignoring all other
	// filters.
	Span int64
}

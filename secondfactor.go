package lyceum

import "time"

// SecondFactor is the app that generates one-time codes for a user, which they sign in with
// after their password. Passkeys are second factors too.
type SecondFactor struct {
	User      UserID
	Sealed    string // the app's secret; only Keyring.Open can read it
	Step      int64  // of the last accepted code, in units of 30 s since 1970; lower ones are rejected
	CreatedAt time.Time
}

// RecoveryCode is a code that replaces a second factor, once. Only its hash is stored, until it
// is used.
type RecoveryCode struct {
	Hash      KeyHash
	User      UserID
	CreatedAt time.Time
}

// RecoveryCodeFilter narrows recovery codes; absent fields match everything.
type RecoveryCodeFilter struct{ User Opt[UserID] }

// The journal entries of second factors. Their object is the user.
const (
	SecondFactorSet     EntryType = "user.second_factor_set"
	SecondFactorRemoved EntryType = "user.second_factor_removed"
	RecoveryCodeUsed    EntryType = "user.recovery_code_used"
	RecoveryCodesMade   EntryType = "user.recovery_codes_made"
)

// HasSecondFactor reports whether a user has an authenticator app or a passkey.
func HasSecondFactor(t *Tables, from Source, user UserID) (bool, error) {
	app, err := t.SecondFactors.Find(from, user)
	if err != nil || len(app) > 0 {
		return len(app) > 0, err
	}
	_, found, err := t.Passkeys.First(from, PasskeyFilter{User: Some(user)})
	return found, err
}

// DropSecondFactor deletes a user's authenticator app, passkeys and recovery codes, if any.
func DropSecondFactor(tx Tx, user UserID) error {
	if _, err := tx.RecoveryCodes.Clear(tx, RecoveryCodeFilter{User: Some(user)}); err != nil {
		return err
	}
	if _, err := tx.Passkeys.Clear(tx, PasskeyFilter{User: Some(user)}); err != nil {
		return err
	}
	err := tx.SecondFactors.Delete(tx, user)
	if err != nil && KindOf(err) == NotFound {
		return nil
	}
	return err
}

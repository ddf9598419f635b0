package lyceum

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// ChangedMeanwhile is the code of the error that rejects a change of values that the caller has
// not seen.
const ChangedMeanwhile = "changed_meanwhile"

// Fingerprint returns a hash of values that are shown to somebody: strings, numbers and
// booleans.
func Fingerprint(values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", values))
	return hex.EncodeToString(sum[:16])
}

// CheckShown fails with ChangedMeanwhile if the caller was shown other values than exist before
// the change. Before and after are the fingerprints of the values before and after the change.
// A change that changes nothing, because it was already made, never fails.
func (b By) CheckShown(before, after string) error {
	if b.Shown == "" || b.Shown == before || before == after {
		return nil
	}
	return &Error{Kind: Conflict, Code: ChangedMeanwhile, Detail: "this was changed after it was shown"}
}

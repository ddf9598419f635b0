package lyceum

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// ChangedMeanwhile is the code of an error that refuses to replace what who asks has not
// seen.
const ChangedMeanwhile = "changed_meanwhile"

// Fingerprint stands for values that somebody is shown: texts, numbers, yes and no.
func Fingerprint(values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", values))
	return hex.EncodeToString(sum[:16])
}

// CheckShown fails with ChangedMeanwhile if who asks was shown something else than what
// there is before the change, of which before and after are the fingerprints. A change
// that was made already is none.
func (b By) CheckShown(before, after string) error {
	if b.Shown == "" || b.Shown == before || before == after {
		return nil
	}
	return &Error{Kind: Conflict, Code: ChangedMeanwhile, Detail: "this was changed after it was shown"}
}

package access

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// DeviceLifetime is how long a browser is known in which somebody signed in.
// Browsers keep no cookie longer (RFC 6265bis, section 5.5).
const DeviceLifetime = 400 * 24 * time.Hour

// deviceAccounts is how many accounts a browser is known for, the latest first.
const deviceAccounts = 8

// devices signs what a browser keeps of the accounts that were signed in to
// there. The text is id.mark.mark: id names the browser, and each mark is the
// day of a sign-in with a signature over the id, the day, the account and the
// hash of its password. So it says nothing to who does not know the account, and
// a new password ends what was known by the old one.
type devices struct {
	ring  *lyceum.Keyring
	clock func() time.Time
}

func newDevices(clock func() time.Time, ring *lyceum.Keyring) devices {
	if len(ring.Keys()) == 0 { // then browsers are known until the server stops
		ring = lyceum.NewKeyring(lyceum.SecretKey(NewEntropy()))
	}
	return devices{ring, clock}
}

// deviceText is what a mark signs.
func deviceText(id, day string, school lyceum.SchoolID, user lyceum.User) string {
	return fmt.Sprintf("%s %s %d %d %s", id, day, school, user.ID, user.PasswordHash.Value)
}

const devicePurpose = "device"

var deviceEncoding = base64.RawURLEncoding

// read gives the id and the marks of a text, nothing of one that is broken.
func (d *devices) read(text string) (id string, marks []string) {
	parts := strings.Split(text, ".")
	raw, err := deviceEncoding.DecodeString(parts[0])
	if err != nil || len(raw) != 16 || len(parts) > deviceAccounts+1 {
		return "", nil
	}
	return parts[0], parts[1:]
}

// holds tells whether a mark is one of an account.
func (d *devices) holds(id, mark string, school lyceum.SchoolID, user lyceum.User) bool {
	day, signature, _ := strings.Cut(mark, "-")
	n, err := strconv.ParseInt(day, 10, 32)
	if err != nil {
		return false
	}
	since := d.clock().Sub(time.Unix(n*86400, 0))
	if since < -24*time.Hour || since >= DeviceLifetime {
		return false
	}
	return d.ring.Verify(devicePurpose, deviceText(id, day, school, user), signature)
}

// known gives the id of a browser that signed in to the account before, or
// nothing.
func (d *devices) known(text string, school lyceum.SchoolID, user lyceum.User) string {
	id, marks := d.read(text)
	for _, mark := range marks {
		if d.holds(id, mark, school, user) {
			return id
		}
	}
	return ""
}

// mark adds an account to what a browser keeps.
func (d *devices) mark(text string, school lyceum.SchoolID, user lyceum.User) string {
	id, old := d.read(text)
	if id == "" {
		e := NewEntropy()
		id = deviceEncoding.EncodeToString(e[:16])
	}
	day := strconv.FormatInt(d.clock().Unix()/86400, 10)
	signature, _ := d.ring.Sign(devicePurpose, deviceText(id, day, school, user)) // a ring here has a key
	marks := []string{id, day + "-" + signature}
	for _, mark := range old {
		if len(marks) <= deviceAccounts && !d.holds(id, mark, school, user) {
			marks = append(marks, mark)
		}
	}
	return strings.Join(marks, ".")
}

package access

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// DeviceLifetime is how long a browser that somebody signed in with is recognized. Browsers
// keep no cookie longer (RFC 6265bis, section 5.5).
const DeviceLifetime = 400 * 24 * time.Hour

// deviceAccounts is the number of accounts that a browser is recognized for, latest first.
const deviceAccounts = 8

// devices signs the cookie that records which accounts were signed in to in a browser. Its text
// is id.mark.mark: id identifies the browser, and each mark is the day of a sign-in with a
// signature over the id, the day, the account and its password hash. So the text reveals
// nothing to anyone who does not know the account, and changing the password invalidates the
// marks made with the old one.
type devices struct {
	ring  *lyceum.Keyring
	clock func() time.Time
}

func newDevices(clock func() time.Time, ring *lyceum.Keyring) devices {
	if len(ring.Keys()) == 0 { // then browsers are recognized until the server stops
		ring = lyceum.NewKeyring(lyceum.SecretKey(NewEntropy()))
	}
	return devices{ring, clock}
}

// deviceText returns the text that a mark signs.
func deviceText(id, day string, school lyceum.SchoolID, user lyceum.User) string {
	return fmt.Sprintf("%s %s %d %d %s", id, day, school, user.ID, user.PasswordHash.Value)
}

const devicePurpose = "device"

var deviceEncoding = base64.RawURLEncoding

// read returns the id and the marks of a text, or nothing if it is malformed.
func (d *devices) read(text string) (id string, marks []string) {
	parts := strings.Split(text, ".")
	raw, err := deviceEncoding.DecodeString(parts[0])
	if err != nil || len(raw) != 16 || len(parts) > deviceAccounts+1 {
		return "", nil
	}
	return parts[0], parts[1:]
}

// holds reports whether a mark belongs to an account.
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

// known returns the id of a browser that signed in to the account before, or "".
func (d *devices) known(text string, school lyceum.SchoolID, user lyceum.User) string {
	id, marks := d.read(text)
	for _, mark := range marks {
		if d.holds(id, mark, school, user) {
			return id
		}
	}
	return ""
}

// mark adds an account to a browser's text.
func (d *devices) mark(text string, school lyceum.SchoolID, user lyceum.User) string {
	id, old := d.read(text)
	if id == "" {
		e := NewEntropy()
		id = deviceEncoding.EncodeToString(e[:16])
	}
	day := strconv.FormatInt(d.clock().Unix()/86400, 10)
	signature, _ := d.ring.Sign(devicePurpose, deviceText(id, day, school, user)) // the ring has a key here
	marks := []string{id, day + "-" + signature}
	for _, mark := range old {
		if len(marks) <= deviceAccounts && !d.holds(id, mark, school, user) {
			marks = append(marks, mark)
		}
	}
	return strings.Join(marks, ".")
}

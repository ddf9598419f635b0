package learning

import (
	"fmt"
	"time"

	"github.com/lyceum-school/lyceum"
)

// UploadTicket allows its holder to send the file of one upload, while the API key that it was made
// with works.
type UploadTicket struct {
	lyceum.UploadAddress
	KeyHolder

	Until     time.Time // a whole second
	Signature string
}

const uploadPurpose = "file upload"

func (t *UploadTicket) text() string {
	text := fmt.Sprintf("%d %s %d", t.School, t.UUID, t.Until.Unix())
	if t.Key != 0 {
		text += fmt.Sprintf(" %d %s", t.Key, t.Role)
	}
	return text
}

// Address returns the path and query to send the file to, relative to the URL of the server.
func (t *UploadTicket) Address() string {
	holder := ""
	if t.Key != 0 {
		holder = t.query()
	}
	return fmt.Sprintf("%s?%suntil=%d&signature=%s", t.Path(), holder, t.Until.Unix(), t.Signature)
}

var errEndedTicket error = lyceum.Errorf(lyceum.Forbidden,
	"the API key of this address has ended, or its role has changed; ask for a new address")

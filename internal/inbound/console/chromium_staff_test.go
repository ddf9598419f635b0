package console_test

import (
	"testing"

	"github.com/lyceum-school/lyceum"
)

func TestStaffInABrowser(t *testing.T) {
	w, p := show(t)
	p.hire("partner@example.com", lyceum.BookkeeperRole)
	w.tour([]string{staffPath, staffPath + "?done=staff-changed", staffPath + "/3/remove"})
}

package access

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lyceum-school/lyceum"
)

// Right is something that a school's staff may do.
type Right string

// The rights.
const (
	Enter          Right = "Open the console"
	SeeOwn         Right = "See own courses and statement"
	SeeReports     Right = "See reports and statements"
	SeeSales       Right = "See sales"
	ExportSales    Right = "Export sales"
	ChangeSales    Right = "Refund, cancel and record sales"
	SeePeople      Right = "See people, their access and progress"
	ChangePeople   Right = "Change people and their access"
	ErasePeople    Right = "Erase people, and hand over their data"
	SeeProducts    Right = "See products, plans and coupons"
	ChangeProducts Right = "Change products, plans and coupons"
	Moderate       Right = "Moderate comments"
	ChangeInBulk   Right = "Change many people at once"
	UseKeys        Right = "Create API keys of their own"
	Configure      Right = "Change settings, emails, apps and webhooks"
	ManageStaff    Right = "Decide who works here"
)

// Rights lists the rights.
func Rights() []Right {
	return []Right{
		Enter, SeeOwn, SeeReports, SeeSales, ExportSales, ChangeSales, SeePeople, ChangePeople, ErasePeople,
		SeeProducts, ChangeProducts, Moderate, ChangeInBulk, UseKeys, Configure, ManageStaff,
	}
}

// granted holds the rights of each role. An owner has all of them.
var granted = map[lyceum.StaffRole][]Right{
	lyceum.OwnerRole: Rights(),
	lyceum.ManagerRole: {
		Enter, SeeOwn, SeeReports, SeeSales, ExportSales, ChangeSales, SeePeople, ChangePeople, ErasePeople,
		SeeProducts, ChangeProducts, Moderate, ChangeInBulk, UseKeys, Configure,
	},
	lyceum.BookkeeperRole: {Enter, SeeReports, SeeSales, ExportSales, SeePeople, SeeProducts, UseKeys},
	lyceum.AuthorRole:     {Enter, SeeOwn},
	lyceum.SupportRole:    {Enter, SeeSales, SeePeople, ChangePeople, SeeProducts, Moderate, UseKeys},
}

// Holds reports whether a role has a right.
func Holds(role lyceum.StaffRole, right Right) bool { return slices.Contains(granted[role], right) }

// rightOf maps each door to the right that it needs.
var rightOf = sync.OnceValue(func() map[string]Right {
	all := map[string]Right{}
	for right, names := range doors {
		for _, door := range names {
			if other, twice := all[door]; twice {
				panic(fmt.Sprintf("%s needs both %q and %q", door, other, right))
			}
			all[door] = right
		}
	}
	return all
})

// Doors returns the right that each page and operation needs, keyed by its method and path
// pattern.
func Doors() map[string]Right { return rightOf() }

// May reports whether a role may use a door, such as "GET /admin/sales/{id}". A door that is
// not in the table stays closed.
func May(role lyceum.StaffRole, door string) bool {
	right, known := rightOf()[door]
	return known && Holds(role, right)
}

// mostlyRead are the pages about keys, apps and webhooks that only show them.
var mostlyRead = []string{
	"GET /admin/settings/oauth-apps", "GET /admin/settings/api-keys", "GET /admin/settings/webhooks",
	"GET /admin/settings/webhooks/{id}", "GET /admin/settings/webhooks/{id}/deliveries/{delivery}",
}

// WantsFresh reports whether a door requires that the person has recently proved who they are:
// this applies to keys, apps, webhooks, roles, erasing, and links to set a password, with which
// the proof could be given. The page with a form requires it too, so that they confirm before
// they type anything.
func WantsFresh(door string) bool {
	if door == "POST /admin/people" { // creates a link to set a password
		return true
	}
	_, path, _ := strings.Cut(door, " ")
	if strings.HasPrefix(path, "/admin/people/") {
		_, deed, _ := strings.Cut(strings.TrimPrefix(path, "/admin/people/"), "/")
		return slices.Contains([]string{"erase", "data", "second-factor"}, deed)
	}
	for _, room := range []string{"oauth-apps", "api-keys", "webhooks", "staff"} {
		if path == "/admin/settings/"+room || strings.HasPrefix(path, "/admin/settings/"+room+"/") {
			return !slices.Contains(mostlyRead, door)
		}
	}
	return false
}

// PermitPartners fails with Forbidden if the caller's role does not allow deciding who is an
// author or an affiliate, and with which share.
func PermitPartners(by lyceum.By) error {
	if by.Staff == "" || Holds(by.Staff, ChangeProducts) {
		return nil
	}
	return lyceum.Errorf(lyceum.Forbidden, "the person who made this API key has the role %s, which does not allow "+
		"making somebody an author or an affiliate, or changing their share; an owner of the school can change the role",
		by.Staff)
}

// PermitDoor fails with Forbidden if the caller's role does not open a door. The school itself,
// which has no role, can use all doors.
func PermitDoor(by lyceum.By, door string) error {
	if by.Staff == "" || May(by.Staff, door) {
		return nil
	}
	return lyceum.Errorf(lyceum.Forbidden, "the person who made this API key has the role %s, which does not allow "+
		"this request; an owner of the school can change the role", by.Staff)
}

package access

import (
	"maps"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The bounds of wrong passwords (security rows R11, R33 and R34). A try counts
// when its hash is begun.
var (
	// fromBounds are those of one account from one address.
	fromBounds = Bounds{Minute: 10, Hour: 30}
	// accountBounds are those of one account from everywhere (OWASP ASVS 5.0,
	// 6.3, has 100 an hour).
	accountBounds = Bounds{Minute: 30, Hour: 100}
	// deviceBounds are those of one account on a device that signed in to it
	// before. No other bound holds for such a device.
	deviceBounds = Bounds{Minute: 10, Hour: 30}
	// addressBounds are those of one address over all accounts.
	addressBounds = Bounds{Minute: 30, Hour: 300}
)

// addressesKept is how many addresses have a count at a time.
const addressesKept = 1 << 16

// guard decides whether a password may be tried. It is safe for concurrent use.
type guard struct {
	clock func() time.Time

	mu        sync.Mutex
	addresses *shelf[netip.Prefix, tries]
	schools   map[lyceum.SchoolID]*shelf[triesName, accountTries]
}

// accountTries are those of one account. From has as many origins as the bound
// of the account lets count, and the known devices.
type accountTries struct {
	whole tries
	from  map[origin]*tries
}

// origin is where tries of an account come from: an address, or a known device.
type origin struct {
	address netip.Prefix
	device  string
}

// String names the origin for the queue in which people wait.
func (o origin) String() string {
	if o.device != "" {
		return o.device
	}
	return o.address.String()
}

// claim is who wants to be let in, and from where.
type claim struct {
	school lyceum.SchoolID
	name   string // of the account, in small letters
	from   netip.Prefix
	device string // that signed in to the account before, or empty
}

func newGuard(clock func() time.Time) *guard {
	return &guard{
		clock: clock, addresses: newShelf[netip.Prefix, tries](addressesKept),
		schools: map[lyceum.SchoolID]*shelf[triesName, accountTries]{},
	}
}

var (
	errAccountTries = &lyceum.Error{
		Kind: lyceum.RateLimited, Detail: "Too many attempts to sign in to this account. Wait a while and try again, " +
			"or request a link to set a new password, which works at once.",
	}
	errAddressTries = &lyceum.Error{
		Kind:   lyceum.RateLimited,
		Detail: "Too many wrong passwords from your network. Wait a minute and try again.",
	}
)

func (c *claim) origin() origin {
	if c.device != "" {
		return origin{device: c.device}
	}
	return origin{address: c.from}
}

// allowed says why a password may not be tried now, and counts nothing.
func (g *guard) allowed(c claim) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.check(c, g.clock())
}

// begin counts a try, unless it may not be made.
func (g *guard) begin(c claim) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock()
	if err := g.check(c, now); err != nil {
		return err
	}
	account := g.school(c.school).take(triesNameOf(c.name))
	maps.DeleteFunc(account.from, func(_ origin, kept *tries) bool {
		kept.turn(now)
		return kept.hour.used == 0
	})
	if account.from == nil {
		account.from = map[origin]*tries{}
	}
	if account.from[c.origin()] == nil {
		account.from[c.origin()] = &tries{}
	}
	account.from[c.origin()].count(now)
	if c.device == "" {
		account.whole.count(now)
		g.addresses.take(c.from).count(now)
	}
	return nil
}

func (g *guard) check(c claim, now time.Time) error {
	if kept := g.addresses.look(c.from); c.device == "" && kept != nil && !kept.left(addressBounds, now) {
		return errAddressTries
	}
	account := g.school(c.school).look(triesNameOf(c.name))
	if account == nil {
		return nil
	}
	bounds := deviceBounds
	if c.device == "" {
		if bounds = fromBounds; !account.whole.left(accountBounds, now) {
			return errAccountTries
		}
	}
	if kept := account.from[c.origin()]; kept != nil && !kept.left(bounds, now) {
		return errAccountTries
	}
	return nil
}

// succeeded clears the account's count. The address gets back this try alone:
// who knows one password must not try those of others the more often for it.
func (g *guard) succeeded(c claim) {
	g.clear(c.school, c.name)
	g.mu.Lock()
	defer g.mu.Unlock()
	if kept := g.addresses.look(c.from); c.device == "" && kept != nil {
		kept.giveBack()
	}
}

// clear forgets what was counted of an account.
func (g *guard) clear(school lyceum.SchoolID, email string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.school(school).drop(triesNameOf(strings.ToLower(email)))
}

func (g *guard) school(id lyceum.SchoolID) *shelf[triesName, accountTries] {
	kept := g.schools[id]
	if kept == nil {
		kept = newShelf[triesName, accountTries](triesKept)
		g.schools[id] = kept
	}
	return kept
}

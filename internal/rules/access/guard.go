package access

import (
	"context"
	"net/netip"
	"strings"
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
type guard struct{ counter counter }

// claim is who wants to be let in, and from where.
type claim struct {
	school lyceum.SchoolID
	name   string // of the account, in small letters
	from   netip.Prefix
	device string // that signed in to the account before, or empty
	taken  receipt
}

func newGuard(store lyceum.Store, clock func() time.Time) *guard {
	return &guard{newCounter(store, clock, keptTopics{triesKept, addressesKept})}
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

// origin names where the tries of an account come from, for the queue in which people
// wait: an address, or a known device.
func (c *claim) origin() string {
	if c.device != "" {
		return c.device
	}
	return c.from.String()
}

func accountTopic(name string) lyceum.TallyName { return nameOf("account " + strings.ToLower(name)) }

// counts are what the tries of a claim are counted of.
func (c *claim) counts() []counted {
	account := accountTopic(c.name)
	from := counted{c.school, account, nameOf("from " + c.origin()), fromBounds, errAccountTries}
	if c.device != "" {
		from.bounds = deviceBounds
		return []counted{from}
	}
	return []counted{
		{topic: nameOf("address " + c.from.String()), bounds: addressBounds, spent: errAddressTries},
		{school: c.school, topic: account, bounds: accountBounds, spent: errAccountTries},
		from,
	}
}

// allowed says why a password may not be tried now, and counts nothing.
func (g *guard) allowed(ctx context.Context, c *claim) error { return g.counter.check(ctx, c.counts()) }

// begin counts a try, unless it may not be made.
func (g *guard) begin(ctx context.Context, c *claim) (err error) {
	c.taken, err = g.counter.take(ctx, c.counts())
	return err
}

// succeeded clears the account's count. The address gets back this try alone:
// who knows one password must not try those of others the more often for it.
func (g *guard) succeeded(ctx context.Context, c *claim) error {
	if err := g.clear(ctx, c.school, c.name); err != nil || c.device != "" {
		return err
	}
	address := receipt{of: c.taken.of[:1]}
	if c.taken.tallies != nil {
		address.tallies = c.taken.tallies[:1]
	}
	return g.counter.giveBack(ctx, address)
}

// clear forgets what was counted of an account.
func (g *guard) clear(ctx context.Context, school lyceum.SchoolID, email string) error {
	return g.counter.forget(ctx, school, accountTopic(email))
}

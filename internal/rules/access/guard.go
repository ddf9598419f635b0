package access

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// The limits for wrong passwords (security rows R11, R33 and R34). An attempt is counted when
// its hash is started.
var (
	// fromBounds limits attempts on one account from one address.
	fromBounds = Bounds{Minute: 10, Hour: 30}
	// accountBounds limits attempts on one account from everywhere (OWASP ASVS 5.0, 6.3, has
	// 100 an hour).
	accountBounds = Bounds{Minute: 30, Hour: 100}
	// deviceBounds limits attempts on one account from a device that signed in to it before. No
	// other limit applies to such a device.
	deviceBounds = Bounds{Minute: 10, Hour: 30}
	// addressBounds limits attempts from one address on all accounts.
	addressBounds = Bounds{Minute: 30, Hour: 300}
)

// addressesKept is the most addresses that are counted at a time.
const addressesKept = 1 << 16

// guard decides whether a password may be tried. It is safe for concurrent use.
type guard struct{ counter counter }

// claim is an attempt to sign in: to which account, and from where.
type claim struct {
	school lyceum.SchoolID
	name   string // of the account, in lowercase
	from   netip.Prefix
	device string // that signed in to the account before, or ""
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

// origin identifies where the attempts on an account come from, for the queue in which people
// wait: an address, or a known device.
func (c *claim) origin() string {
	if c.device != "" {
		return c.device
	}
	return c.from.String()
}

func accountTopic(name string) lyceum.TallyName { return nameOf("account " + strings.ToLower(name)) }

// counts returns the counts that a claim adds to.
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

// allowed returns why a password may not be tried now, without counting anything.
func (g *guard) allowed(ctx context.Context, c *claim) error { return g.counter.check(ctx, c.counts()) }

// begin counts an attempt, or fails if it may not be made.
func (g *guard) begin(ctx context.Context, c *claim) (err error) {
	c.taken, err = g.counter.take(ctx, c.counts())
	return err
}

// succeeded clears the account's count. The address only gets back this one attempt: knowing
// one password must not allow anyone to try those of other accounts more often.
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

// clear removes the counts of an account.
func (g *guard) clear(ctx context.Context, school lyceum.SchoolID, email string) error {
	return g.counter.forget(ctx, school, accountTopic(email))
}

package webhook

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/rules/events"
)

// SendInOrder dispatches the events of a school and sends what is due, one message after the
// other, by webhook and then by delivery. Call it only while the courier rests. It returns how
// many attempts got a 2xx response, and how many did not.
func (c *Courier) SendInOrder(ctx context.Context, school lyceum.SchoolID, by *Sender) (sent, failed int, err error) {
	for more := true; more; {
		if more, err = c.Events.Dispatch(ctx, school); err != nil {
			return sent, failed, err
		}
	}
	for {
		due, err := c.Events.Due(ctx)
		if err != nil {
			return sent, failed, err
		}
		due = slices.DeleteFunc(due, func(d lyceum.DueWebhook) bool { return d.School != school })
		before := sent + failed
		for _, hook := range due {
			delivered, all, err := c.sendTo(ctx, hook, by)
			sent, failed = sent+delivered, failed+all-delivered
			if err != nil {
				return sent, failed, err
			}
		}
		if sent+failed == before {
			return sent, failed, ctx.Err()
		}
	}
}

// sendTo sends the next due messages to a webhook.
func (c *Courier) sendTo(
	ctx context.Context, hook lyceum.DueWebhook, by *Sender,
) (delivered, all int, err error) {
	parcels, err := c.Events.Claim(ctx, hook, perWebhook)
	if err != nil {
		return 0, 0, err
	}
	slices.SortFunc(parcels, func(a, b events.Parcel) int { return cmp.Compare(a.ID, b.ID) })
	for i := range parcels {
		o := c.send(ctx, by, &parcels[i], time.Now())
		if ctx.Err() != nil {
			return delivered, all, ctx.Err()
		}
		if all++; o.Delivered {
			delivered++
			c.delivered.Add(1)
		} else {
			c.failed.Add(1)
		}
		if err := c.Events.Report(ctx, &parcels[i], o); err != nil {
			return delivered, all, err
		}
	}
	return delivered, all, nil
}

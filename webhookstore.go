package lyceum

import (
	"context"
	"time"
)

// WebhookReader is the part of a reader that knows what is sent to webhooks.
// Single things that are not in the school are NotFound.
type WebhookReader interface {
	GetDelivery(ctx context.Context, school SchoolID, id WebhookEventID) (WebhookEvent, error)
	// FindAttempts gives the attempts of a delivery with a number above after,
	// in order. They end at AnswerBytes; more tells that there are others.
	FindAttempts(ctx context.Context, school SchoolID, id WebhookEventID, after int32) (attempts []Attempt, more bool, err error)
	// FindPayloads gives those of numbers that are kept.
	FindPayloads(ctx context.Context, school SchoolID, numbers []int64) (map[int64]EventPayload, error)
	// GetCursor gives the number up to which a school's journal was read under
	// a name; 0 at first.
	GetCursor(ctx context.Context, school SchoolID, name string) (int64, error)
	// FindUndispatched gives the schools whose journal has an event after the
	// cursor of a name.
	FindUndispatched(ctx context.Context, cursor string) ([]SchoolID, error)
	// FindDue gives the receivers for whom something is to be sent by now, and
	// who have not been sent all they may be in this minute.
	FindDue(ctx context.Context, now time.Time) ([]DueWebhook, error)
}

// WebhookTx is the part of a transaction that keeps what is sent to webhooks.
// Of these changes nothing stands in the journal.
type WebhookTx interface {
	// GetCursor is Reader's inside the transaction.
	GetCursor(name string) (int64, error)
	// MoveCursor tells whether the cursor stood at from, and moves it if so.
	MoveCursor(name string, from, to int64) (bool, error)
	// LastEntry gives the number of the school's last entry before this change.
	LastEntry() (int64, error)
	// TakeIDs takes n ids and gives the first.
	TakeIDs(seq Sequence, n int) (int32, error)
	CreatePayloads(payloads []EventPayload) error
	// CreateDeliveries also raises the counts of the webhooks.
	CreateDeliveries(deliveries []WebhookEvent) error
	// ClaimDeliveries gives up to limit deliveries of a webhook that are due,
	// and puts them off until a moment: whoever claimed them and is gone has
	// not delivered them. No delivery is given to two.
	ClaimDeliveries(webhook WebhookID, now, until time.Time, limit int) ([]WebhookEvent, error)
	// FindLiveWebhooks gives the webhooks that this school sends to, by id.
	FindLiveWebhooks() ([]Webhook, error)
	GetDelivery(id WebhookEventID) (WebhookEvent, error)
	UpdateDelivery(d WebhookEvent) error
	// CountSent adds messages to those that a webhook was sent in the minute of
	// a moment, and gives the sum.
	CountSent(webhook WebhookID, now time.Time, messages int) (int, error)
	// CountKept adds bytes to those of a webhook's answers on the day of a
	// moment, in UTC, and gives the sum.
	CountKept(webhook WebhookID, now time.Time, bytes int) (int64, error)
	CreateAttempt(a Attempt) error
	// CancelDeliveries gives up what waits for a webhook, the next 500, as if it
	// had answered 410.
	CancelDeliveries(webhook WebhookID) error
	// ReplayDeliveries begins deliveries anew, up to limit of those that come
	// after one by creation and id, and gives them in that order.
	ReplayDeliveries(f ResendFilter, after Opt[WebhookEvent], limit int, at time.Time) ([]WebhookEvent, error)
	FindPayloads(numbers []int64) (map[int64]EventPayload, error)
	// Note appends an entry that is about no row that was saved.
	Note(entry EntryType, id int32)
}

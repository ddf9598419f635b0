package templates

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"time"

	"github.com/lyceum-school/lyceum"
)

const (
	// linkLifetime is how long the links in emails are valid.
	linkLifetime = 48 * time.Hour

	receiverErased = "its receiver was erased"
	sealingEmail   = "email"
	queueActor     = "emails"
)

// pauses are the pauses between attempts to send an email, 40 hours in all. Each is up to a
// fifth shorter or longer.
var pauses = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
	4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 12 * time.Hour,
}

// Outgoing is an email that a change causes.
type Outgoing struct {
	Name   EmailName
	User   lyceum.Opt[lyceum.UserID] // the recipient, if they are a user
	To     lyceum.Opt[string]        // absent: the user's address at the time of sending
	About  lyceum.Opt[int32]         // the transaction, failed payment, sale or order, depending on the kind of email
	Values Values                    // in addition to those of the school, the user and About
}

// Notify queues an email about something that was sold.
func (s *Service) Notify(tx lyceum.Tx, stored lyceum.EmailKind, user lyceum.Opt[lyceum.UserID], about int32) error {
	return s.Queue(tx, Outgoing{Name: NameOf(stored), User: user, About: lyceum.Some(about)})
}

// Queue saves an email as part of a change, to be sent after the commit. If the server has no
// mail server, or the school has turned the email off, it does nothing.
func (s *Service) Queue(tx lyceum.Tx, o Outgoing) error {
	if !s.Sends() {
		return nil
	}
	k, err := kindOf(o.Name)
	if err != nil {
		return err
	}
	if k.optional {
		school, err := tx.GetSchool()
		if err != nil || !school.Emails.Has(k.stored) {
			return err
		}
	}
	row := lyceum.QueuedEmail{
		Kind: k.stored, UserID: o.User, Address: o.To, About: o.About, MessageID: rand.Text(),
		State: lyceum.EmailWaiting, CreatedAt: tx.At(), NextAttemptAt: lyceum.Some(tx.At()),
	}
	if row.Values, err = s.pack(k, o.Values); err != nil {
		return err
	}
	if row.ID, err = tx.Emails.NextID(tx); err != nil {
		return err
	}
	_, err = tx.Emails.Save(tx, row)
	return err
}

// pack encodes values for storage, and seals secret ones.
func (s *Service) pack(k *kind, values Values) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	text, err := json.Marshal(values)
	if err != nil || !k.secret() {
		return string(text), err
	}
	sealed, ok := s.o.Ring.Seal(sealingEmail, string(text))
	if !ok {
		return "", lyceum.Errorf(lyceum.Conflict, "the server has no secret key, so it cannot send links by email")
	}
	return sealed, nil
}

// unpack decodes the output of pack.
func (s *Service) unpack(k *kind, packed string) (Values, error) {
	values := Values{}
	if packed == "" {
		return values, nil
	}
	if k.secret() {
		var err error
		if packed, err = s.o.Ring.Open(sealingEmail, packed); err != nil {
			return nil, err
		}
	}
	return values, json.Unmarshal([]byte(packed), &values)
}

// Due returns the schools that have emails to send.
func (s *Service) Due(ctx context.Context) ([]lyceum.SchoolID, error) {
	return s.store.FindEmailing(ctx, s.clock())
}

// Claimed is an email to send now.
type Claimed struct {
	lyceum.QueuedEmail

	School lyceum.SchoolID
}

// Claim claims up to limit emails of a school that are due. The caller must send them and call
// Report, and until then renew the claim; otherwise they are due again after
// lyceum.ClaimLifetime.
func (s *Service) Claim(ctx context.Context, school lyceum.SchoolID, limit int) ([]Claimed, error) {
	now := s.clock()
	var claimed []Claimed
	err := s.store.Write(ctx, lyceum.Stamp{School: school, At: now, Actor: queueActor}, func(tx lyceum.Tx) error {
		rows, err := tx.ClaimEmails(now, now.Add(lyceum.ClaimLifetime), limit)
		claimed = make([]Claimed, len(rows))
		for i := range rows {
			claimed[i] = Claimed{rows[i], school}
		}
		return err
	})
	return claimed, err
}

// Renew renews the claims of emails. It skips those that were erased or claimed again meanwhile.
func (s *Service) Renew(ctx context.Context, claimed []*Claimed) error {
	of := map[lyceum.SchoolID]map[lyceum.EmailID]*Claimed{}
	for _, c := range claimed {
		if of[c.School] == nil {
			of[c.School] = map[lyceum.EmailID]*Claimed{}
		}
		of[c.School][c.ID] = c
	}
	now := s.clock()
	until := lyceum.Microsecond(now.Add(lyceum.ClaimLifetime))
	for school, emails := range of {
		rows := make([]lyceum.QueuedEmail, 0, len(emails))
		for _, c := range emails {
			rows = append(rows, c.QueuedEmail)
		}
		var renewed []lyceum.EmailID
		stamp := lyceum.Stamp{School: school, At: now, Actor: queueActor}
		err := s.store.Write(ctx, stamp, func(tx lyceum.Tx) (err error) {
			renewed, err = tx.RenewEmails(rows, until)
			return err
		})
		if err != nil {
			return err
		}
		for _, id := range renewed {
			emails[id].NextAttemptAt = lyceum.Some(until)
		}
	}
	return nil
}

// Holds reports whether the claim of an email is still valid. If it is not, because the process
// was paused, another process may have sent the email.
func (s *Service) Holds(c *Claimed) bool { return s.clock().Before(c.NextAttemptAt.Value) }

// Make renders a claimed email. If there is no longer a reason to send it, it returns why.
func (s *Service) Make(ctx context.Context, c *Claimed) (m Message, canceled string, err error) {
	k, err := storedKind(c.Kind)
	if err != nil {
		return m, "", err
	}
	if k.secret() && s.clock().Sub(c.CreatedAt) >= linkLifetime {
		return m, "its link is no longer valid", nil
	}
	own, err := s.unpack(k, c.Values)
	if err != nil {
		return m, "", err
	}
	v := s.store.In(ctx, c.School)
	school, err := v.GetSchool()
	if err != nil {
		return m, "", err
	}
	values, to := Values{"school.name": s.o.Name(school.Name)}, c.Address.Value
	if c.UserID.Present {
		users, err := v.Users.Find(v, c.UserID.Value)
		user, there := users[c.UserID.Value]
		switch {
		case err != nil:
			return m, "", err
		case !there:
			return m, receiverErased, nil
		}
		values["user.name"], values["user.email"] = s.o.Name(user.Name.Value), user.Email
		to = cmp.Or(to, user.Email)
	}
	if k.optional {
		f := facts{View: v, school: school, values: values, name: s.o.Name, now: s.clock(), to: to}
		if canceled, err = f.find(k, c.About.Value); err != nil || canceled != "" {
			return m, canceled, err
		}
		to = f.to
	}
	maps.Copy(values, own)
	made, err := s.Compose(ctx, c.School, k.name, values)
	return Message{ID: c.MessageID, To: to, Subject: made.Subject, Text: made.Text}, "", err
}

// Outcome is the outcome of an attempt to send an email.
type Outcome struct {
	Canceled string // why it should not be sent, if so
	Problem  string // what went wrong, in words for the school's owner; empty: it was sent
	ForGood  bool   // further attempts would not help
}

// Report saves the outcome of an attempt. An email that was not sent is tried twelve times
// within 40 hours, and then given up; failed reports whether it was given up.
func (s *Service) Report(ctx context.Context, c *Claimed, o Outcome) (failed bool, err error) {
	now := s.clock()
	err = s.store.Write(ctx, lyceum.Stamp{School: c.School, At: now, Actor: queueActor}, func(tx lyceum.Tx) error {
		failed = false
		found, err := tx.Emails.Find(tx, c.ID)
		row, there := found[c.ID]
		if err != nil || !there || row.State != lyceum.EmailWaiting { // erased, or sent by another process
			return err
		}
		switch {
		case o.Canceled != "":
			row.Problem = lyceum.Some(o.Canceled)
			row.Close(lyceum.EmailCanceled, now)
		case o.Problem == "":
			row.Tries++
			row.Problem = lyceum.None[string]()
			row.Close(lyceum.EmailSent, now)
		case row.NextAttemptAt != c.NextAttemptAt: // another process has claimed it
			return nil
		default:
			row.Tries++
			row.Problem = lyceum.Some(o.Problem)
			if failed = o.ForGood || int(row.Tries) > len(pauses); failed {
				row.Close(lyceum.EmailFailed, now)
				tx.Note(lyceum.EmailFailedEntry, int32(row.ID))
			} else {
				row.NextAttemptAt = lyceum.Some(now.Add(pauseAfter(&row)))
			}
		}
		return tx.Emails.Update(tx, row)
	})
	return failed, err
}

// pauseAfter returns the pause between an attempt and the next one.
func pauseAfter(e *lyceum.QueuedEmail) time.Duration {
	sum := fnv.New64a()
	_, _ = fmt.Fprintf(sum, "%s/%d", e.MessageID, e.Tries)
	spread := float64(sum.Sum64()>>11) / (1 << 53) // 0 to 1, always the same for the same email and attempt
	pause := pauses[e.Tries-1]
	return pause + time.Duration((spread-0.5)*0.4*float64(pause))
}

// Queued lists the emails that were sent or are waiting, newest first.
func (s *Service) Queued(
	ctx context.Context, by lyceum.By, f lyceum.EmailFilter, p lyceum.Page,
) (lyceum.Listing[lyceum.QueuedEmail], error) {
	v := s.store.In(ctx, by.School)
	return v.Emails.List(v, f, p)
}

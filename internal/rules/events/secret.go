package events

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lyceum-school/lyceum"
)

// secretOf derives the secret of a webhook for one of its generations. Secrets are not stored,
// so a stolen database or backup cannot be used to sign anything.
func secretOf(key lyceum.SecretKey, school lyceum.SchoolID, id lyceum.WebhookID, generation int32) []byte {
	return key.MAC(fmt.Sprintf("webhook %d %d %d", school, id, generation))
}

// Secret returns the secret of a webhook for one of its generations, derived from the given key.
// It fails with Unavailable if this process does not have the key.
func (s *Service) Secret(
	school lyceum.SchoolID, id lyceum.WebhookID, generation int32, key lyceum.SecretKeyID,
) ([]byte, error) {
	found, there := s.Ring.Find(key)
	if !there {
		return nil, &lyceum.Error{Kind: lyceum.Unavailable, Detail: fmt.Sprintf("the secret of webhook %d of school %d "+
			"was derived from the secret key %q, which is not in this server's secret key file; put that key back, or "+
			"rotate the webhook's secret", id, school, key)}
	}
	return secretOf(found, school, id, generation), nil
}

// NeededKeys counts the webhooks that are sent to, by the secret key that they need. The oldest
// key is counted under its own id, if the ring has it.
func (s *Service) NeededKeys(ctx context.Context) (map[lyceum.SecretKeyID]int, error) {
	schools, err := s.store.FindSchools(ctx)
	if err != nil {
		return nil, err
	}
	needed := map[lyceum.SecretKeyID]int{}
	for _, school := range schools {
		v := s.store.In(ctx, school.ID)
		all, err := lyceum.All(v.Webhooks, v, live)
		if err != nil {
			return nil, err
		}
		for i := range all {
			for _, id := range s.keysOf(&all[i]) {
				needed[id]++
			}
		}
	}
	return needed, nil
}

// keysOf returns the keys that a live webhook is signed with now.
func (s *Service) keysOf(w *lyceum.Webhook) []lyceum.SecretKeyID {
	ids := []lyceum.SecretKeyID{w.SecretKey}
	if w.OldSecretUntil.Present && s.clock().Before(w.OldSecretUntil.Value) {
		ids = append(ids, w.OldSecretKey)
	}
	for i, id := range ids {
		if key, there := s.Ring.Find(id); there {
			ids[i] = key.ID()
		}
	}
	return slices.Compact(ids)
}

// secrets returns the secrets that sign for a webhook at the given time, the newest first.
func (s *Service) secrets(school lyceum.SchoolID, w *lyceum.Webhook, now time.Time) ([][]byte, error) {
	secret, err := s.Secret(school, w.ID, w.SecretGeneration, w.SecretKey)
	if err != nil {
		return nil, err
	}
	all := [][]byte{secret}
	if w.OldSecretUntil.Present && now.Before(w.OldSecretUntil.Value) && w.SecretGeneration > 0 {
		if old, there := s.Ring.Find(w.OldSecretKey); there {
			all = append(all, secretOf(old, school, w.ID, w.SecretGeneration-1))
		}
	}
	return all, nil
}

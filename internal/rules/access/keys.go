package access

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
)

// keyMemory is how long a key that was found valid is trusted without querying the store again.
// A key revoked in this process is rejected immediately, one revoked in another process within
// this time.
const keyMemory = 5 * time.Second

// Keys issues, checks and revokes API keys. It is safe for concurrent use.
type Keys struct {
	store lyceum.Store
	clock func() time.Time

	mu      sync.RWMutex
	known   map[lyceum.KeyHash]knownKey
	revokes int // how often a key was revoked in this process

	useMu sync.Mutex
	uses  map[keyName]time.Time
}

type knownKey struct {
	by    lyceum.By
	since time.Time // when the store was queried
	entry int64     // of the school's journal, which the store had reached then
}

// trusted reports whether what the store said at a time still counts. It does not if the clock was
// set back since: otherwise it would count until the clock is there again.
func trusted(since, now time.Time) bool {
	return !now.Before(since) && now.Before(since.Add(keyMemory))
}

type keyName struct {
	school lyceum.SchoolID
	key    lyceum.APIKeyID
}

// NewKeys returns a Keys for a store.
func NewKeys(store lyceum.Store, clock func() time.Time) *Keys {
	return &Keys{store: store, clock: clock, known: map[lyceum.KeyHash]knownKey{}, uses: map[keyName]time.Time{}}
}

// The errors for keys, in the wording of the contract.
var (
	errNoKey  = lyceum.Errorf(lyceum.Unauthenticated, "No API key found in request")
	errBadKey = lyceum.Errorf(lyceum.Unauthenticated, "Invalid authentication credentials")
)

// Check returns whose key was presented. Unknown, mistyped and revoked keys fail alike.
func (k *Keys) Check(ctx context.Context, presented string) (lyceum.By, error) {
	return k.CheckSince(ctx, presented, 0)
}

// CheckSince is Check for a caller that has seen an entry of the school's journal: what was
// cached about the key before that entry does not count.
func (k *Keys) CheckSince(ctx context.Context, presented string, entry int64) (lyceum.By, error) {
	if presented == "" {
		return lyceum.By{}, errNoKey
	}
	school, ok := schoolOf(keyPrefix, presented)
	if !ok {
		return lyceum.By{}, errBadKey
	}
	hash := HashSecret(presented)
	now := k.clock()
	k.mu.RLock()
	known, ok := k.known[hash]
	k.mu.RUnlock()
	if !ok || !trusted(known.since, now) || known.entry < entry {
		var err error
		if known, err = k.look(ctx, school, hash, now, entry); err != nil {
			return lyceum.By{}, err
		}
	}
	k.used(known.by, now)
	return known.by, nil
}

func (k *Keys) look(
	ctx context.Context, school lyceum.SchoolID, hash lyceum.KeyHash, now time.Time, entry int64,
) (knownKey, error) {
	k.mu.RLock()
	before := k.revokes
	k.mu.RUnlock()
	v := k.store.In(ctx, school)
	key, found, err := v.APIKeys.First(v, lyceum.APIKeyFilter{Hash: lyceum.Some(hash)})
	if err != nil {
		return knownKey{}, err
	}
	role, good, err := lyceum.RoleOfKey(v.Tables, v, &key)
	if err != nil {
		return knownKey{}, err
	}
	if !found || !good {
		k.forget(hash)
		return knownKey{}, errBadKey
	}
	settings, err := v.GetSchool()
	if err != nil {
		return knownKey{}, err
	}
	known := knownKey{
		by: lyceum.By{
			School: school, Actor: keyActor(key.ID), Key: key.ID, Permissions: key.Permissions, Staff: role,
			Person: key.UserID.Value, V2: !settings.V2Disabled,
		},
		since: now, entry: entry,
	}
	k.mu.Lock()
	if k.revokes == before { // otherwise this key may have been revoked meanwhile
		k.known[hash] = known
	}
	k.mu.Unlock()
	return known, nil
}

// forgetAll evicts all keys from the cache, and prevents one that is being looked up at the
// moment from being cached.
func (k *Keys) forgetAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revokes++
	clear(k.known)
}

func (k *Keys) forget(hash lyceum.KeyHash) {
	k.mu.Lock()
	delete(k.known, hash)
	k.mu.Unlock()
}

// keyActor returns the actor for a key's journal entries.
func keyActor(id lyceum.APIKeyID) string { return "api_key:" + strconv.Itoa(int(id)) }

// used records when a key was used, to the second.
func (k *Keys) used(by lyceum.By, at time.Time) {
	name := keyName{by.School, by.Key}
	at = lyceum.Second(at)
	k.useMu.Lock()
	if k.uses[name].Before(at) {
		k.uses[name] = at
	}
	k.useMu.Unlock()
}

// Uses returns the uses since the last call, to be stored.
func (k *Keys) Uses() []lyceum.KeyUse {
	k.useMu.Lock()
	uses := k.uses
	k.uses = map[keyName]time.Time{}
	k.useMu.Unlock()
	var list []lyceum.KeyUse
	for name, at := range uses {
		list = append(list, lyceum.KeyUse{School: name.school, Key: name.key, At: at})
	}
	return list
}

// maxNameLength limits the name of a key or an app, in characters.
const maxNameLength = 100

// maxKeys is the most API keys that a school can have, not counting revoked ones.
const maxKeys = 1000

// roomForKey rejects a key beyond maxKeys.
func roomForKey(tx lyceum.Tx) error {
	kept, err := lyceum.All(tx.APIKeys, tx, lyceum.APIKeyFilter{Unrevoked: true})
	if err == nil && len(kept) >= maxKeys {
		err = lyceum.Errorf(lyceum.Conflict,
			"A school can have at most %d API keys that are not revoked. Revoke one first.", maxKeys)
	}
	return err
}

// Create creates a key from e and returns it with its text, which is not stored and cannot be
// retrieved again.
func (k *Keys) Create(
	ctx context.Context, by lyceum.By, name string, p lyceum.Permissions, e Entropy,
) (lyceum.APIKey, string, error) {
	name = strings.TrimSpace(name)
	if message := lyceum.CheckText(name, 1, maxNameLength); message != "" {
		return lyceum.APIKey{}, "", lyceum.InvalidFields(lyceum.FieldError{Field: "name", Message: message})
	}
	if p == 0 {
		return lyceum.APIKey{}, "", lyceum.InvalidFields(lyceum.FieldError{
			Field:   "permissions",
			Message: lyceum.PermissionsTaken,
		})
	}
	if _, err := k.store.In(ctx, by.School).GetSchool(); err != nil {
		return lyceum.APIKey{}, "", err
	}
	text := KeyText(by.School, e)
	now := k.clock()
	key := lyceum.APIKey{
		Name: name, Permissions: p, Hash: HashSecret(text),
		LastFour: text[len(text)-4:], CreatedAt: lyceum.Second(now), UserID: maker(by),
	}
	key, err := lyceum.Change(ctx, k.store, by.Stamp(now), func(tx lyceum.Tx) (lyceum.APIKey, error) {
		if err := roomForKey(tx); err != nil {
			return key, err
		}
		id, err := tx.APIKeys.NextID(tx)
		if err != nil {
			return key, err
		}
		key.ID = id
		return key, tx.APIKeys.Insert(tx, key)
	})
	if err != nil {
		return lyceum.APIKey{}, "", err
	}
	return key, text, nil
}

// maker returns the member of staff that the caller's keys belong to; if absent, they belong to
// the school.
func maker(by lyceum.By) lyceum.Opt[lyceum.UserID] {
	if by.Staff == "" || by.Staff == lyceum.OwnerRole {
		return lyceum.None[lyceum.UserID]()
	}
	return lyceum.Some(by.Person)
}

// List returns a school's keys, including revoked ones, oldest first. Staff who may not change
// settings only see their own.
func (k *Keys) List(ctx context.Context, by lyceum.By) ([]lyceum.APIKey, error) {
	v := k.store.In(ctx, by.School)
	if _, err := v.GetSchool(); err != nil {
		return nil, err
	}
	return lyceum.All(v.APIKeys, v, lyceum.APIKeyFilter{User: seenBy(by)})
}

func seenBy(by lyceum.By) lyceum.Opt[lyceum.UserID] {
	if Holds(by.Staff, Configure) {
		return lyceum.None[lyceum.UserID]()
	}
	return maker(by)
}

// Revoke permanently revokes a key. Revoking a revoked key changes nothing.
func (k *Keys) Revoke(ctx context.Context, by lyceum.By, id lyceum.APIKeyID) error {
	now := k.clock()
	err := k.store.Write(ctx, by.Stamp(now), func(tx lyceum.Tx) error {
		key, err := tx.APIKeys.Get(tx, id)
		if own := seenBy(by); err == nil && own.Present && key.UserID != own {
			err = lyceum.Errorf(lyceum.NotFound, "not theirs")
		}
		if lyceum.KindOf(err) == lyceum.NotFound {
			return lyceum.Errorf(lyceum.NotFound, "there is no API key %d in school %d", id, by.School)
		}
		if err != nil {
			return err
		}
		return revokeKeys(tx, now, key)
	})
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revokes++
	for hash, known := range k.known {
		if known.by.School == by.School && known.by.Key == id {
			delete(k.known, hash)
		}
	}
	return nil
}

// revokeKeys revokes those of the given keys that are not revoked yet.
func revokeKeys(tx lyceum.Tx, now time.Time, keys ...lyceum.APIKey) error {
	for _, key := range keys {
		if key.RevokedAt.Present {
			continue
		}
		key.RevokedAt = lyceum.Some(lyceum.Second(now))
		if err := tx.APIKeys.Update(tx, key); err != nil {
			return err
		}
	}
	return nil
}

package server

import (
	"bytes"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

const (
	// maxCached is the largest response that is cached, in bytes.
	maxCached = 64 << 10
	// cacheOverhead is roughly how much memory a cached response takes in addition to its text,
	// tag, path and query, in bytes.
	cacheOverhead = 256
)

// Cache stores responses to the programs of schools. A response is valid as long as nothing was
// committed to the database and the clock shows the same second: until then, a new response
// would consist of the same bytes. A Cache is safe for concurrent use.
type Cache struct {
	revision     func(lyceum.SchoolID) (r lyceum.Revision, known bool)
	most         int // in bytes
	now          func() time.Time
	hits, misses atomic.Int64

	mu       sync.RWMutex
	database int64 // the state of the database that all cached responses are of
	bytes    int
	made     map[cacheKey]cached
}

// NewCache returns a cache of at most the given number of bytes for responses that are read
// from a store. A cache of 0 bytes caches nothing.
func NewCache(store lyceum.Reader, most int64, now func() time.Time) *Cache {
	return &Cache{revision: store.Revision, most: int(most), now: now, made: map[cacheKey]cached{}}
}

// CacheStats are the hits and misses of a cache, and its size in bytes.
type CacheStats struct{ Hits, Misses, Bytes int64 }

// Stats returns the hits and misses of the cache since it was created, and its current size.
func (c *Cache) Stats() CacheStats {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return CacheStats{c.hits.Load(), c.misses.Load(), int64(c.bytes)}
}

// cacheKey identifies a request. Two keys of a school may be allowed to see different things.
// The path is as it was sent: an encoded slash belongs to an id, and such a path belongs to
// another operation.
type cacheKey struct {
	school      lyceum.SchoolID
	key         lyceum.APIKeyID
	path, query string
}

type cached struct {
	at   cacheMoment
	body wire.Encoded
}

// cacheMoment is the state of the database and the second that a response was made for.
type cacheMoment struct {
	lyceum.Revision

	second int64
}

// uncached is a request whose response is to be cached.
type uncached struct {
	cache *Cache // nil: the response is not to be cached
	key   cacheKey
	at    cacheMoment
}

// find returns the cached response to a request. If there is none, it returns under what to
// store the response once it is made: the moment is taken before the response is made, so that
// a commit in the meantime makes the stored response stale.
func (c *Cache) find(x *exchange, r *http.Request) (body wire.Body, otherwise uncached) {
	if c == nil || c.most == 0 || !x.op.Cached || x.who.By.Key == 0 || x.body != nil && x.body != http.NoBody {
		return nil, uncached{}
	}
	revision, known := c.revision(x.school())
	if !known {
		return nil, uncached{}
	}
	key := cacheKey{x.school(), x.who.By.Key, r.URL.EscapedPath(), r.URL.RawQuery}
	at := cacheMoment{revision, c.now().Unix()}
	c.mu.RLock()
	made, found := c.made[key]
	c.mu.RUnlock()
	if found && made.at == at {
		c.hits.Add(1)
		return made.body, uncached{}
	}
	c.misses.Add(1)
	return nil, uncached{c, key, at}
}

// Keep implements wire.Keeper.
func (x *exchange) Keep(text []byte, tag string) {
	if x.uncached.cache != nil && len(text) <= maxCached {
		x.uncached.cache.keep(x.uncached.key, cached{x.uncached.at, wire.Encoded{Text: bytes.Clone(text), Tag: tag}})
	}
}

// keep adds a response. It first drops all others if they are of an older state of the
// database, or if the cache would become too large.
func (c *Cache) keep(key cacheKey, made cached) {
	size := made.size(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if made.at.Database < c.database || size > c.most {
		return
	}
	if before, there := c.made[key]; there {
		c.bytes -= before.size(key)
	}
	if made.at.Database > c.database || c.bytes+size > c.most {
		clear(c.made)
		c.bytes, c.database = 0, made.at.Database
	}
	c.made[key] = made
	c.bytes += size
}

func (c *cached) size(key cacheKey) int {
	return len(c.body.Text) + len(c.body.Tag) + len(key.path) + len(key.query) + cacheOverhead
}

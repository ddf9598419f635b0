package salesindex

import (
	"sync"
	"unsafe"

	"github.com/lyceum-school/lyceum"
)

// cacheSets and cacheBytes limit the cached intersections.
const (
	cacheSets  = 256
	cacheBytes = 16 << 20
)

// cache keeps intersections of filter sets for the next page. It belongs to one main part and is
// discarded with it.
type cache struct {
	mu    sync.Mutex
	sets  map[setKey]set
	order []setKey // oldest first
	bytes int64
}

// setKey is a filter without its period, and the range of places that the period covers.
type setKey struct {
	filter lyceum.TransactionFilter
	lo, hi place
}

func cacheKey(f *lyceum.TransactionFilter, lo, hi place) setKey {
	k := setKey{*f, lo, hi}
	k.filter.Created = lyceum.Period{}
	return k
}

// get returns a cached set, or builds and caches it. It does not hold the lock meanwhile; if two
// goroutines miss the same set, both build it.
func (c *cache) get(k setKey, build func() set) set {
	c.mu.Lock()
	s, kept := c.sets[k]
	c.mu.Unlock()
	if kept {
		return s
	}
	s = build()
	size := setBytes(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, kept := c.sets[k]; kept || size > cacheBytes {
		return s
	}
	for len(c.order) >= cacheSets || (len(c.order) > 0 && c.bytes+size > cacheBytes) {
		c.bytes -= setBytes(c.sets[c.order[0]])
		delete(c.sets, c.order[0])
		c.order = c.order[1:]
	}
	if c.sets == nil {
		c.sets = map[setKey]set{}
	}
	c.sets[k] = s
	c.order = append(c.order, k)
	c.bytes += size
	return s
}

func (c *cache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// setBytes returns the size of a cached set with its key.
func setBytes(s set) int64 {
	const keyBytes = 512
	switch s := s.(type) {
	case listed:
		return keyBytes + 4*int64(cap(s.list))
	case *crossed:
		return keyBytes + int64(unsafe.Sizeof(crossing{})) + 4*int64(cap(s.before))
	default:
		return keyBytes
	}
}

package sqlstore

import (
	"cmp"

	"github.com/lyceum-school/lyceum"
)

// entriesAtOnce is how many journal entries are read at a time.
const entriesAtOnce = 1000

// objectsAtOnce is the size in bytes that the objects read at a time may have.
const objectsAtOnce = 8 << 20

// hugeObject is the assumed size in bytes of an object whose noun sets no limit.
const hugeObject = 64 << 10

// affordable returns how many of the first entries can have their objects read at the same time,
// at least one. entries must not be empty.
func affordable(entries []lyceum.ChangeRecord) int {
	bytes := 0
	for i := range entries {
		if bytes += cmp.Or(feedObjects()[nounOf(entries[i].Type)].largest, hugeObject); bytes > objectsAtOnce && i > 0 {
			return i
		}
	}
	return len(entries)
}

// Sizes in bytes, as JSON, of a change and of an object without its texts.
const (
	bareChange      = 200
	bareObject      = 450
	bareTransaction = 560
)

// weigh returns the largest size in bytes of a change as JSON.
func weigh(c *lyceum.ChangeRecord) int {
	bytes := bareChange + lyceum.Weight(c.Actor)
	if c.Object != nil {
		bytes += feedObjects()[nounOf(c.Type)].weigh(c.Object)
	}
	return bytes
}

func weighSchool(school any) int { return bareObject + lyceum.Weight(school.(lyceum.School).Name) }

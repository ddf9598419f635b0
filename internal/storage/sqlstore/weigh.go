package sqlstore

import (
	"cmp"

	"github.com/lyceum-school/lyceum"
)

// entriesAtOnce is how many entries of a journal are read at a time.
const entriesAtOnce = 1000

// objectsAtOnce is how many bytes the objects may have that are read at a time.
const objectsAtOnce = 8 << 20

// hugeObject is how many bytes an object takes whose noun names no bound.
const hugeObject = 64 << 10

// affordable gives how many of the first entries, of which there is one, can
// have their objects read at a time.
func affordable(entries []lyceum.ChangeRecord) int {
	bytes := 0
	for i := range entries {
		if bytes += cmp.Or(feedObjects()[nounOf(entries[i].Type)].largest, hugeObject); bytes > objectsAtOnce && i > 0 {
			return i
		}
	}
	return len(entries)
}

// The bytes that a change, and an object without its texts, take in JSON.
const (
	bareChange      = 200
	bareObject      = 450
	bareTransaction = 560
)

// weigh returns how many bytes a change takes in JSON at most.
func weigh(c *lyceum.ChangeRecord) int {
	bytes := bareChange + lyceum.Weight(c.Actor)
	if c.Object != nil {
		bytes += feedObjects()[nounOf(c.Type)].weigh(c.Object)
	}
	return bytes
}

func weighSchool(school any) int { return bareObject + lyceum.Weight(school.(lyceum.School).Name) }

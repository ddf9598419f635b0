package sales

import "github.com/lyceum-school/lyceum"

// idSet is a set of ids: a bit for each of those that share their upper bits.
type idSet map[int32]*[1 << 16 / 64]uint64

func (s idSet) has(id int32) bool {
	bits := s[id>>16]
	return bits != nil && bits[uint16(id)/64]>>(uint16(id)%64)&1 == 1
}

func (s idSet) add(id int32) {
	bits := s[id>>16]
	if bits == nil {
		bits = new([1 << 16 / 64]uint64)
		s[id>>16] = bits
	}
	bits[uint16(id)/64] |= 1 << (uint16(id) % 64)
}

// checkedIDs are the users and pricing plans that a check found. They need no second look:
// neither is ever deleted, and the store refuses a transaction without them.
type checkedIDs map[lyceum.Sequence]idSet

// besides asks only for the ids that are not in c.
func (c checkedIDs) besides(known knower) knower {
	return func(seq lyceum.Sequence, ids []int32) (found []int32, err error) {
		var open []int32
		for _, id := range ids {
			if c[seq].has(id) {
				found = append(found, id)
			} else {
				open = append(open, id)
			}
		}
		if len(open) == 0 {
			return found, nil
		}
		others, err := known(seq, open)
		return append(found, others...), err
	}
}

// keep adds what is found.
func (c checkedIDs) keep(known knower) knower {
	return func(seq lyceum.Sequence, ids []int32) ([]int32, error) {
		found, err := known(seq, ids)
		if c[seq] == nil {
			c[seq] = idSet{}
		}
		for _, id := range found {
			c[seq].add(id)
		}
		return found, err
	}
}

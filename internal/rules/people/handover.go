package people

import (
	"context"

	"github.com/lyceum-school/lyceum"
)

// HandOver calls visit with everything that the school has stored about a person, as
// lyceum.Reads.EachPersonal does, all from one snapshot, and notes in the journal that it was
// handed over. It fails with NotFound.
func (s *Service) HandOver(
	ctx context.Context, by lyceum.By, id lyceum.UserID, visit func(noun string, row []byte) error,
) error {
	err := s.store.Write(ctx, by.Stamp(s.clock()), func(tx lyceum.Tx) error {
		_, err := tx.Users.Get(tx, id)
		tx.Note(lyceum.DataHandedOver, int32(id))
		return err
	})
	if err != nil {
		return err
	}
	return s.store.AtOnce(ctx, by.School, func(v lyceum.View) error { return v.EachPersonal(id, visit) })
}

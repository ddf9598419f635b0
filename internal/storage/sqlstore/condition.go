package sqlstore

// Condition is how the storage of a database does.
type Condition struct {
	Moved bool // files of SQLite are no longer those that are open
}

// Condition returns how the storage does, as of the last look.
func (s *Store) Condition() Condition {
	return Condition{Moved: s.files != nil && s.files.moved.Load()}
}

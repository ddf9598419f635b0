package main

import (
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// measureStorage adds metrics about problems of the storage.
func measureStorage(m *server.Metrics, store *sqlstore.Store) {
	type condition = sqlstore.Condition
	server.Measure(m, store.Condition, []server.Figure[condition]{
		{
			Name:  "lyceum_storage_moved",
			Help:  "1 while the database files were moved or replaced, and changes are refused.",
			Value: func(c condition) int64 { return oneIf(c.Moved) },
		},
		{
			Name:  "lyceum_storage_full",
			Help:  "1 while the database's disk is full or failing.",
			Value: func(c condition) int64 { return oneIf(c.Full) },
		},
		{
			Name: "lyceum_storage_damaged", Help: "1 after damaged data was read from the database, until the process ends.",
			Value: func(c condition) int64 { return oneIf(c.Damaged) },
		},
	})
}

func oneIf(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

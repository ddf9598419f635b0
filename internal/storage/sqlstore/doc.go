// Package sqlstore keeps schools in SQLite or PostgreSQL with one SQL text.
//
// It owns the schema, its migrations, the transactions and the numbering of
// the journal. It must not know what may or must be done to a school, nor any
// file format or address. Statements are written with $1, $2, …; whatever the
// engines do not share is a field of dialect.
//
// A write waits with others for one commit: a writer takes what has gathered,
// runs each change under its own savepoint and commits once, so that a change
// that fails does not touch its neighbours and none is answered before it is
// on disk. The schools that wait take turns. SQLite has one writer;
// PostgreSQL has two, and a school is in the hands of one at a time.
//
// Limits: totals of filtered lists are counted, and deep pages skipped over,
// at a cost that grows with the school.
package sqlstore

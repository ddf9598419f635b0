// Package sqlstore stores schools in SQLite or PostgreSQL, with the same SQL for both.
//
// It owns the schema, its migrations, the transactions and the numbering of the journal. It
// must not know what may or must be done to a school, nor any file format or URL. Statements
// use the placeholders $1, $2, …; everything that differs between the engines is a field of
// dialect.
//
// Writes share commits: a writer takes the changes that are waiting, runs them one after the
// other and commits once. A change that fails is rolled back without affecting the others,
// under a savepoint if necessary, and no change is acknowledged before it is on disk. Waiting
// schools take turns. SQLite has one writer and PostgreSQL two; see queue for when both may
// work on the same school.
//
// Limits: where no index in memory applies (see listIndex), totals of filtered lists are
// counted and deep pages skip over the rows before them, at a cost that grows with the school.
package sqlstore

// Package salesindex answers lists of sales from memory, at a cost that does not
// grow with the school, with what another store would answer.
//
// It owns the form that sales have in memory and the form of a snapshot. It
// must not know SQL, who may see sales, any other file format or any address.
//
// An Index is the sales of one school: records of 64 bytes under handles that
// never move, blocks of at most 32,768 handles in list order (created_at, id),
// and for each value that a filter can name the handles that have it, as a list
// in list order or, when they are many, as a bitmap of offsets per block.
//
// Sums are made of those of each block, which are kept from the first time that they
// were asked for: of all sales, and of those with one value or flag.
//
// What readers see is immutable: a version of a main part and a tail of at
// most a few hundred sales that came since. A write copies what it changes and
// publishes the next version by one pointer, so that an answer's rows and
// total belong to one moment and no reader waits for a writer. When the tail
// is long, each write also moves the part of it that belongs to one block into
// the main part.
//
// A snapshot keeps the sales of one version in a file, with a checksum for
// every stretch of it, so that an index comes back without its store.
//
// A Store stands over another store and builds an index for each school that is
// asked for, within a bound of memory. An index follows the school's journal:
// after each change of this process before Write returns, and twice a second
// for the others. Where it is not there, is behind or cannot be, the store
// below answers.
//
// Limits: one writer at a time; sales are never deleted; amounts must fit an
// int32, and times be whole seconds of the years 1 to 9999. A change of
// created_at leaves 64 bytes behind until the next build.
package salesindex

// Package salesindex serves lists of sales from memory, with the same results as the underlying
// store, at a cost that does not grow with the school.
//
// It owns the in-memory format of sales and the snapshot format. It must not know SQL, who may
// see sales, or any other file format or address.
//
// An Index holds the sales of one school: records of 64 bytes, identified by handles that never
// change; blocks of at most 32,768 handles in list order (created_at, id); and for each value by
// which a filter can select, the handles of the sales that have it, as a list in list order or,
// if they are many, as a bitmap of offsets per block.
//
// Sums are computed from the sums of each block. These are kept from the first time they are
// needed, for all sales and for those with one value or flag.
//
// What readers see is immutable: a version, which consists of a main part and a tail of at most a
// few hundred newer sales. A write copies what it changes and publishes the next version with one
// pointer, so that the rows and the total of a response come from the same version and no reader
// waits for a writer. When the tail is long, each write also moves its sales of one block into
// the main part.
//
// A snapshot stores the sales of one version in a file, with a checksum for each section, so that
// an index can be loaded without reading the underlying store.
//
// A Store wraps another store and builds an index for each school that is queried, within a
// memory limit. An index follows the school's journal: after each change of this process, before
// Write returns, and twice a second for changes of other processes. If the index is missing, is
// behind or cannot exist, the underlying store is queried.
//
// Limits: there is one writer at a time; sales are never deleted; amounts must fit an int32, and
// times must be whole seconds of the years 1 to 9999. A change of created_at wastes 64 bytes
// until the next build.
package salesindex

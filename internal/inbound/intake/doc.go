// Package intake owns the file formats by which a school's rows come in and go
// out: CSV, JSON Lines, the API's own list answers, and gzip around them. It
// reads a file into rows and problems, runs an import on top of that, and
// writes rows back.
//
// It decides nothing about a school: whether a user exists or a plan may
// change is the business of the Sink it is given. It knows no SQL and no HTTP.
//
// # Formats
//
// A file that begins with { or [ is JSON, anything else is CSV; gzip is known
// by its magic number. An empty file is neither. Text is UTF-8, with or
// without a byte order mark.
//
// CSV is RFC 4180: the first line names the columns, in any order; cells may
// be quoted and then hold line ends; lines end in \n, \r\n or \r. JSON is one
// object a line, or list answers ({"transactions":[...],"meta":{...}}) one
// after another, or arrays of objects.
//
// # Empty and null
//
// In CSV an empty cell is null and "" is the empty text, so that what is
// exported comes back as it was. In a column that is not text both are null.
//
// # Spreadsheets
//
// A text cell that a spreadsheet would run as a formula is exported with an
// apostrophe before it and quoted. The reader takes one such apostrophe away
// again. Numbers are never touched, and neither is JSON.
//
// # Bounds
//
// A cell holds at most 64 KiB, a CSV record, a JSON line or a JSON object at
// most 1 MiB, JSON nests at most 32 deep. Memory is bounded by these whatever
// the file holds; an import adds about two bytes for each row's id and for each
// pair of ids that may not repeat, and a 64-bit hash for each other such key,
// as the address of a user.
package intake

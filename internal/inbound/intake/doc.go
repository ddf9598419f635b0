// Package intake owns the file formats in which a school's rows are imported and exported:
// CSV, JSON Lines, the API's own list responses, and gzip around them. It parses a file
// into rows and problems, runs imports on top of that, and writes rows.
//
// It decides nothing about a school: the Sink decides whether a user exists or a plan may
// change. It knows no SQL and no HTTP.
//
// # Formats
//
// A file that begins with { or [ is JSON, anything else is CSV; gzip is recognized by its
// magic number. An empty file is neither. Text is UTF-8, with or without a byte order
// mark.
//
// CSV is RFC 4180: the first line names the columns, in any order; quoted cells may
// contain line ends; lines end in \n, \r\n or \r. JSON is one object a line, or list
// responses ({"transactions":[...],"meta":{...}}) one after another, or arrays of objects.
//
// # Empty and null
//
// In CSV an empty cell is null and "" is the empty string, so that exports can be imported
// without loss. In a column that is not text both are null.
//
// # Spreadsheets
//
// A text cell that a spreadsheet would evaluate as a formula is exported quoted and with a
// leading apostrophe. The reader removes one such apostrophe. Numbers and JSON are never
// changed.
//
// # Limits
//
// A cell has at most 64 KiB, a CSV record, a JSON line or a JSON object at most 1 MiB, and
// JSON nests at most 32 levels deep. These bound the memory of a reader; an import adds
// about two bytes for each row's id and for each pair of ids that must be unique, and a
// 64-bit hash for each other unique key, such as a user's email address.
package intake

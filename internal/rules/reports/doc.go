// Package reports decides which periods a school's sales are added up for, what the
// sums are kept apart by, and what stands beside them. The sums are the store's, and
// docs/glossary.md defines the figures.
//
// It must not know HTTP, SQL or a file format.
package reports

// Package reports decides which periods a school's sales are added up for, how the sums are
// grouped, and what they are compared with. The store computes the sums, and docs/glossary.md
// defines the figures.
//
// It must not know HTTP, SQL or a file format.
package reports

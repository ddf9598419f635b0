// Package templates decides what a school's emails say: either Lyceum's own texts, or those that
// the school wrote. Both are Liquid (https://shopify.github.io/liquid/) with the contract's
// filter hmac_sha256, and no template can run for long or produce much output.
//
// It must not know HTTP, SQL or SMTP.
package templates

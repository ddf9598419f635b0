// Package templates decides what a school's emails say: Lyceum's own texts, or those
// that the school wrote. Both are Liquid (https://shopify.github.io/liquid/) with the
// contract's filter hmac_sha256, and no template can run for long or make much.
//
// It must not know HTTP, SQL or SMTP.
package templates

// Package templates decides what the templates of a school may do: they are Liquid
// (https://shopify.github.io/liquid/) with the contract's filter hmac_sha256, and no
// template can run for long or make much of anything.
package templates

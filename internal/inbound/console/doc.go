// Package console serves the rooms at /admin in which a school's owner looks
// after it: the sales with their refunds, the OAuth apps, the API keys, and
// links to set a password with.
//
// It owns the pages, who is shown in, and that a form which shows a secret
// takes effect once. What a name or a Redirect URL may be, and what a secret
// is, rules/access decides, and what may be refunded or cancelled rules/sales;
// the console must not know SQL. That a form which shows a secret was sent is
// known to this process alone: in another, or after a restart, a page that is
// sent again takes effect again. A refund and a cancellation happen once
// wherever they are sent again: the database keeps their key.
package console

// Package console serves the pages at /admin, where the staff run their school: sales with
// their refunds, people and their access, reports, OAuth apps, API keys, webhooks and settings.
//
// It owns the pages, admits users according to their role, and ensures that a form that shows a
// secret, refunds or cancels takes effect only once, even if it is submitted again in another
// process or after a restart: the database stores its key. Package rules/access decides what a
// role may open, what a name or a Redirect URL may be and what a secret is, and rules/sales
// what may be refunded or cancelled; the console must not know SQL.
package console

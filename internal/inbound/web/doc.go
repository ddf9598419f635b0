// Package web is what all pages for people share: the layout, the style, the
// headers that keep a page from being framed, read along or made to load
// foreign things, and the cookie of a session.
//
// It must not know any page, nor decide who may see one. It stands apart, as
// wire does, because packages of the inbound room do not import each other.
//
// # What a page is made of
//
// A page defines the templates "title" and "main"; "head", "header" and
// "scripts" may be defined. The layout gives the rest: the style, the icon and
// the link past the header. "main" holds exactly one main element with exactly
// one h1; the layout puts neither.
//
// A small page, such as the sign-in, is one narrow card:
//
//	{{define "title"}}Sign in · Northwind Academy{{end}}
//	{{define "main"}}<main class="card">
//	<p class="school">Northwind Academy</p>
//	<h1>Sign in</h1>
//	<p class="lead">Ledger wants to know who you are.</p>
//	<p class="error" role="alert">Wrong email address or password.</p>
//	<form class="stack" method="post">
//	<label>Email <input name="email" type="email" autocomplete="username" required></label>
//	<button class="primary">Sign in</button>
//	</form>
//	<p class="quiet"><a href="…">I forgot my password</a></p>
//	</main>{{end}}
//
// The classes that a small page may use, each on the element that is named:
//
//   - main.card, and main.card.wide where it holds a table
//   - p.school: whose page it is, above the h1
//   - p.lead, p.quiet: the first sentence, and what is beside the point
//   - form.stack: labels that hold their input, one below the other; small in a
//     label is a hint; a button that is the form's own child is as wide as it
//   - button or a, .primary, .plain and .danger: what is meant, what else is
//     possible, what cannot be undone
//   - .actions: a row of buttons, or of forms with one button each
//   - ul.scopes: what an app asks for; a li is text and gets a tick, or holds
//     <label><input type="checkbox"> text</label> where there is a choice
//   - .notice with role="status", .error with role="alert"
//   - input[aria-invalid=true] with p.field-error, which its aria-describedby names
//   - table.list: becomes cards on a phone; there td[data-label] says the
//     column, and the table and its parts give their role (table, rowgroup,
//     row, columnheader, rowheader, cell), which display: block takes away
//   - .badge, .badge-on, .badge-off: a state in a word
//   - .visually-hidden: for screen readers alone
//
// Everything else in style.css is the console's.
package web

// Package web has what all HTML pages share: the layout, the style, the headers that prevent a
// page from being framed, intercepted or made to load foreign content, and the session cookie.
//
// It must not know any page, nor decide who may see one. It is a separate package, as wire is,
// because other packages of inbound do not import each other.
//
// # What a page consists of
//
// A page defines the templates "title" and "main", and optionally "head", "header" and
// "scripts". The layout adds the rest: the style, the icon and the link that skips the header.
// "main" contains exactly one main element with exactly one h1; the layout has neither.
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
//   - main.card, and main.card.wide if it contains a table
//   - p.school: whose page it is, above the h1
//   - p.lead, p.quiet: the first sentence, and secondary information
//   - form.stack: labels that contain their input, one below the other; small in a
//     label is a hint; a button that is a direct child of the form has its full width
//   - button or a, .primary, .plain and .danger: the main action, other actions, and
//     what cannot be undone
//   - .actions: a row of buttons, or of forms with one button each
//   - ul.scopes: what an app requests; a li is text and gets a tick, or contains
//     <label><input type="checkbox"> text</label> if there is a choice
//   - .notice with role="status", .error with role="alert"
//   - input[aria-invalid=true] with p.field-error, which its aria-describedby names
//   - table.list: becomes cards on a phone; there td[data-label] names the column, and
//     the table and its parts state their role (table, rowgroup, row, columnheader,
//     rowheader, cell), which display: block removes
//   - .badge, .badge-on, .badge-off: a state in a word
//   - .visually-hidden: only for screen readers
//
// Everything else in style.css is for the console.
package web

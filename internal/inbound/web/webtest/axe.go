package webtest

import (
	"context"
	_ "embed" // axe-core
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

//go:embed testdata/axe/axe.min.js
var axe string

// violations runs axe with the given options, and returns a line for each violation.
const violations = `axe.run(document, {resultTypes: ["violations"]%s}).then(r => r.violations.flatMap(v =>
	v.nodes.map(n => v.impact + " " + v.id + ": " + v.help + "\n\t" + n.html.slice(0, 200) + "\n\t" +
		(n.failureSummary ?? "").replaceAll("\n", " "))))`

// Axe fails for every violation that axe-core finds on the page in the tab, of the Web Content
// Accessibility Guidelines and of best practices. What it checks visually, such as contrast,
// applies to the current window. The page's content security policy stays in force.
func Axe(t testing.TB, tab context.Context) {
	t.Helper()
	audit(t, tab, "")
}

// Colors is Axe for only the rules about colours. It is for a page that passed Axe, which takes
// far longer, in another colour scheme.
func Colors(t testing.TB, tab context.Context) {
	t.Helper()
	audit(t, tab, `, runOnly: ["color-contrast", "link-in-text-block"]`)
}

func audit(t testing.TB, tab context.Context, rules string) {
	t.Helper()
	if !Eval[bool](t, tab, "typeof axe === 'object'") {
		if _, err := chromedp.Run(tab, chromedp.Evaluate[chromedp.Void](axe)); err != nil {
			t.Fatal(err)
		}
	}
	for _, each := range Eval[[]string](t, tab, fmt.Sprintf(violations, rules)) {
		t.Errorf("%s: %s", Eval[string](t, tab, "location.pathname"), each)
	}
}

// EachAppearance calls check for the page in the tab at every width, light and dark. audit is
// Axe or, in dark mode, Colors. After an appearance with errors, the test ends.
func EachAppearance(
	t testing.TB, tab context.Context, check func(audit func(testing.TB, context.Context)),
) {
	t.Helper()
	for _, width := range []int64{Desktop, Phone, 320} {
		for _, dark := range []bool{false, true} {
			audit := Axe
			if dark {
				audit = Colors
			}
			Look(t, tab, width, 800, dark)
			check(audit)
			if t.Failed() {
				t.Fatalf("at width %d, dark %t", width, dark)
			}
		}
	}
}

// broken returns problems with the structure of a page that axe has no rule for.
const broken = `(() => {
	const wrong = [];
	const least = innerWidth <= 640 || matchMedia("(pointer: coarse)").matches ? 44 : 36;
	const small = e => {
		const b = e.getBoundingClientRect();
		return b.width > 0 && b.height > 0 && (b.width < least || b.height < least);
	};
	const wide = document.documentElement.scrollWidth > innerWidth && [...document.querySelectorAll("body *")]
		.filter(e => e.getBoundingClientRect().right > innerWidth + 1)
		.map(e => e.tagName + "." + e.className).slice(0, 5).join(" ");
	if (wide) wrong.push("wider than the window: " + wide);
	for (const panel of document.querySelectorAll(".panel, main.card")) {
		const right = panel.getBoundingClientRect().right;
		const seen = e => e === panel || getComputedStyle(e).overflowX === "visible" && seen(e.parentElement);
		const out = [...panel.querySelectorAll("*")]
			.find(e => e.getBoundingClientRect().right > right + 1 && seen(e.parentElement));
		if (out) wrong.push("sticks out of its panel: " + out.outerHTML.slice(0, 120));
	}
	if (document.querySelectorAll("h1").length !== 1) wrong.push("there is not one h1");
	if (document.querySelectorAll("main").length !== 1) wrong.push("there is not one main");
	let level = 1;
	for (const h of document.querySelectorAll("h1,h2,h3,h4")) {
		if (+h.tagName[1] > level + 1) wrong.push("a heading is left out before " + h.textContent);
		level = +h.tagName[1];
	}
	for (const e of document.querySelectorAll("[aria-labelledby],[aria-describedby],label[for]"))
		for (const name of ["aria-labelledby", "aria-describedby", "for"])
			for (const id of (e.getAttribute(name) ?? "").split(" ").filter(Boolean))
				if (!document.getElementById(id)) wrong.push(name + " leads to no " + id);
	const targets = "button,input:not([type=hidden],[type=checkbox],[type=radio]),select," +
		"a.primary,a.plain,a.danger,nav a,label:has(input[type=checkbox],input[type=radio])";
	for (const e of document.querySelectorAll(targets))
		if (small(e)) wrong.push("smaller than " + least + " pixels: " + e.outerHTML.slice(0, 120));
	return wrong;
})()`

// Sound fails for a page that is wider than the window or one of its panels, whose headings or
// references are broken, or whose buttons and inputs are smaller than 36 pixels, or 44 on a
// phone.
func Sound(t testing.TB, tab context.Context) {
	t.Helper()
	for _, each := range Eval[[]string](t, tab, broken) {
		t.Errorf("%s: %s", Eval[string](t, tab, "location.pathname"), each)
	}
}

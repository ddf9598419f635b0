package server_test

// clockRows are derived from contract/lyceum/clock.yaml. The clock is at storetest.Begin, and
// nothing in the school depends on it.
var clockRows = slicesOf(
	own("showClock",
		asking{name: "before a move", says: `"is_standing":true`},
	),
	own("moveClock",
		asking{name: "by minutes", body: `{"advance":"90m"}`, golden: "lyceum/move.json"},
		asking{name: "by a month", body: `{"advance":"1 month"}`, says: `"failed_delivery_count":0`},
		asking{name: "by two months", body: `{"advance":"2months"}`, says: `"delivery_count":0`},
		asking{name: "nowhere", body: `{"advance":"0s"}`, says: `"events":[]`},
		asking{name: "to a day", body: `{"to":"2033-02-01"}`, says: `"to":"2033-02-01T00:00:00Z","at":"2033-02-01T00:00:00Z"`},
		asking{name: "backwards", body: `{"to":"2023-02-01T00:00:00Z"}`, status: 400, says: `"field":"to","message":"must not be before 2033-02-01T00:00:00Z`},
		asking{name: "too far", body: `{"advance":"11y"}`, status: 400, says: `"field":"advance","message":"must be a number with a unit, such as 90s, 15m, 12h, 31d, 2 weeks, 1 month or 1 year"`},
		asking{name: "more than ten years", body: `{"advance":"11 years"}`, status: 400, says: `"field":"advance","message":"must not be more than ten years ahead of what the clock shows; move it several times"`},
		asking{name: "a negative number", body: `{"advance":"-1d"}`, status: 400, says: "must be a number with a unit"},
		asking{name: "both", body: `{"advance":"1d","to":"2034-02-01"}`, status: 400, says: `"field":"to","message":"must not be sent together with advance"`},
		asking{name: "neither", body: `{}`, status: 400, says: `"field":"advance","message":"or to is required"`},
		asking{name: "no time", body: `{"to":"2026-02-30"}`, status: 400, says: `"field":"to"`},
		asking{name: "an unknown time zone", body: `{"to":"2034-01-01T00:00:00 Europe/Nowhere"}`, status: 400, says: `"field":"to"`},
		asking{name: "another field", body: `{"advance":"1d","by":1}`, status: 400, says: `"field":"by"`},
	),
	own("showClock",
		asking{name: "after moves", golden: "lyceum/clock.json"},
	),
)

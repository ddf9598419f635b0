package server_test

// clockRows are derived from contract/lyceum/clock.yaml. The clock is at storetest.Begin, and
// nothing in the school depends on it.
var clockRows = slicesOf(
	own("showClock",
		requestCase{name: "before a move", says: `"is_standing":true`},
	),
	own("moveClock",
		requestCase{name: "by minutes", body: `{"advance":"90m"}`, golden: "lyceum/move.json"},
		requestCase{name: "by a month", body: `{"advance":"1 month"}`, says: `"failed_delivery_count":0`},
		requestCase{name: "by two months", body: `{"advance":"2months"}`, says: `"delivery_count":0`},
		requestCase{name: "nowhere", body: `{"advance":"0s"}`, says: `"events":[]`},
		requestCase{name: "to a day", body: `{"to":"2033-02-01"}`, says: `"to":"2033-02-01T00:00:00Z","at":"2033-02-01T00:00:00Z"`},
		requestCase{name: "backwards", body: `{"to":"2023-02-01T00:00:00Z"}`, status: 400, says: `"field":"to","message":"must not be before 2033-02-01T00:00:00Z`},
		requestCase{name: "too far", body: `{"advance":"11y"}`, status: 400, says: `"field":"advance","message":"must be a number with a unit, such as 90s, 15m, 12h, 31d, 2 weeks, 1 month or 1 year"`},
		requestCase{name: "more than ten years", body: `{"advance":"11 years"}`, status: 400, says: `"field":"advance","message":"must not be more than ten years ahead of what the clock shows; move it several times"`},
		requestCase{name: "a negative number", body: `{"advance":"-1d"}`, status: 400, says: "must be a number with a unit"},
		requestCase{name: "both", body: `{"advance":"1d","to":"2034-02-01"}`, status: 400, says: `"field":"to","message":"must not be sent together with advance"`},
		requestCase{name: "neither", body: `{}`, status: 400, says: `"field":"advance","message":"or to is required"`},
		requestCase{name: "a null and a distance", body: `{"advance":"0s","to":null}`, says: `"events":[]`},
		requestCase{name: "nulls", body: `{"advance":null,"to":null}`, status: 400, says: `{"code":"invalid_request","message":"advance or to is required",`},
		requestCase{name: "an empty distance", body: `{"advance":""}`, status: 400, says: `{"code":"invalid_request","message":"advance must not be empty",`},
		requestCase{name: "an invalid time and a distance", body: `{"advance":"","to":"2034-02-01"}`, status: 400, says: "to must not be sent together with advance"},
		requestCase{name: "no time", body: `{"to":"2026-02-30"}`, status: 400, says: `"field":"to"`},
		requestCase{name: "an unknown time zone", body: `{"to":"2034-01-01T00:00:00 Europe/Nowhere"}`, status: 400, says: `"field":"to"`},
		requestCase{name: "another field", body: `{"advance":"1d","by":1}`, status: 400, says: `"field":"by"`},
	),
	own("showClock",
		requestCase{name: "after moves", golden: "lyceum/clock.json"},
	),
)

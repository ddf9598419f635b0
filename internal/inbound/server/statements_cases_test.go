package server_test

// statementRows are derived from contract/lyceum/statements.yaml, after shopRows in their
// school.
var statementRows = slicesOf(
	own("createSale", requestCase{name: "with an author's part", body: `{"user_id":3,"pricing_plan_id":1,"tax_charge":380,"author_id":1,"author_fees":400}`, says: `"author_id":1,"author_fees":400`}),
	own("createRefund", requestCase{name: "of a half", values: "transaction_id=20", body: `{"amount":1000}`, says: `"author_fees":400,`}),
	own("showAuthorStatement",
		requestCase{name: "all of it", values: "author_id=1", golden: "lyceum/statement.json"},
		requestCase{name: "of its second", values: "author_id=1", query: "from=2024-01-10T12:00:00Z&until=2024-01-10T12:00:01Z", says: `{"statement":{"from":"2024-01-10T12:00:00Z","until":"2024-01-10T12:00:01Z","lines":[{"at":"2024-01-10T12:00:00Z","kind":"sale",`},
		requestCase{name: "until before it", values: "author_id=1", query: "until=2024-01-10T12:00:00Z", says: `{"statement":{"from":null,"until":"2024-01-10T12:00:00Z","lines":[],"sums":[],"more":false,"next":null}}`},
		requestCase{name: "the first line", values: "author_id=1", query: "limit=1", says: `"amount":400}],"sums":[{"currency":"USD","amount":400}],"more":true,"next":"1704888000.20.0"}}`},
		requestCase{name: "the others", values: "author_id=1", query: "limit=1&after=1704888000.20.0", says: `"movement_id":9,"currency":"USD","amount":-200}],"sums":[{"currency":"USD","amount":-200}],"more":false,"next":null}}`},
		requestCase{name: "of no time", values: "author_id=1", query: "from=2024-01-11&until=2024-01-11", status: 400, says: `{"field":"until","message":"must be after from"}`},
		requestCase{name: "mistakes", values: "author_id=1", query: "from=yesterday&until=2024-02-30&after=1.2&limit=10001", status: 400, says: "after must be the next of an earlier response; limit must be an integer from 1 to 10000"},
		requestCase{name: "unknown", values: "author_id=999", status: 404, says: "there is no author 999"},
	), badPaths("lyceum", "showAuthorStatement", "author_id", ""),
	own("showAffiliateStatement",
		requestCase{name: "nothing yet", values: "affiliate_id=1", says: `{"statement":{"from":null,"until":null,"lines":[],"sums":[],"more":false,"next":null}}`},
		requestCase{name: "unknown", values: "affiliate_id=999", status: 404, says: "there is no affiliate 999"},
		requestCase{name: "mistakes", values: "affiliate_id=1", query: "limit=0", status: 400, says: "limit must be an integer from 1 to 10000"},
	), badPaths("lyceum", "showAffiliateStatement", "affiliate_id", ""),
)

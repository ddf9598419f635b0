package server_test

// reportRows are derived from contract/lyceum/reports.yaml, after statementRows in their
// school.
var reportRows = slicesOf(
	own("showSalesReport",
		requestCase{name: "by course", query: "from=2024-01-01&until=2024-01-31&by=course", golden: "lyceum/report.json"},
		requestCase{name: "of a user", query: "from=2024-01-10&until=2024-01-10&user_id=999", says: `"figures":{"sales_count":0,"renewals_count":0,"new_buyers_count":0,"chargebacks_count":0,"charge":0,"revenue":0,"currencies":[]},"before":{"from":"2024-01-09","until":"2024-01-09",`},
		requestCase{name: "by month", query: "from=2023-12-31&until=2024-01-09&by=month&time_zone=Asia/Tokyo", says: `"time_zone":"Asia/Tokyo","by":"month",`},
		requestCase{name: "by week", query: "from=2024-01-06&until=2024-01-09&by=week&is_fully_refunded=true", says: `"groups":[{"id":null,"type":null,"name":null,"from":"2024-01-06","until":"2024-01-07",`},
		requestCase{name: "by product", query: "from=2024-01-10&until=2024-01-10&by=product", says: `"type":"course"`},
		requestCase{name: "by currency", query: "from=2024-01-10&until=2024-01-10&by=currency", says: `"name":"USD"`},
		requestCase{name: "by affiliate", query: "from=2024-01-10&until=2024-01-10&by=affiliate", says: `"groups":[{"id":`},
		requestCase{name: "this month", says: `{"report":{"from":"2024-01-01","until":"2024-01-`},
		requestCase{name: "mistakes", query: "from=2024-02-30&until=yesterday&by=hour&time_zone=Mars/Olympus&format=xml&user_id=x&is_chargeback=2", status: 400, says: "by must be day or week or month or course or product or plan or author or affiliate or coupon or currency"},
		requestCase{name: "backwards", query: "from=2024-02-02&until=2024-02-01", status: 400, says: "until must not be before from, which is 2024-02-02"},
		requestCase{name: "fifty years", query: "from=1974-01-11&until=2024-01-11", status: 400, says: "until must be less than 50 years after from: at the latest 2024-01-10"},
		requestCase{name: "days of fifty years", query: "from=1974-01-11&until=2024-01-10&by=day", status: 400, says: "by must be week or month for a period of 18262 days: a report has at most 10000 groups"},
		requestCase{name: "months of fifty years", query: "from=1974-01-11&until=2024-01-10&by=month", says: `"groups":[`},
		requestCase{name: "an unknown zone", query: "from=2024-01-10&until=2024-01-10&time_zone=Europe%2FBerlim", status: 400, says: "time_zone must be the IANA name of a time zone"},
		requestCase{name: "an empty zone", query: "from=2024-01-10&until=2024-01-10&time_zone=", status: 400, says: "time_zone must be the IANA name of a time zone"},
	),
)

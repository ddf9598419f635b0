package wire

import (
	"net/url"

	"github.com/lyceum-school/lyceum"
)

// salesParts are the parts of the sales list's filter other than its period. The list, the
// export and the console use them under these names. The filter is passed by value, which costs
// no allocation.
var salesParts = []struct {
	name string
	bind func(lyceum.TransactionFilter, Field) lyceum.TransactionFilter
}{
	{"user_id", func(f lyceum.TransactionFilter, p Field) lyceum.TransactionFilter {
		f.UserID = AnyInt[lyceum.UserID](p)
		return f
	}},
	{"affiliate_id", func(f lyceum.TransactionFilter, p Field) lyceum.TransactionFilter {
		f.AffiliateID = AnyInt[lyceum.AffiliateID](p)
		return f
	}},
	{"course_id", func(f lyceum.TransactionFilter, p Field) lyceum.TransactionFilter {
		f.CourseID = AnyInt[lyceum.CourseID](p)
		return f
	}},
	{"pricing_plan_id", func(f lyceum.TransactionFilter, p Field) lyceum.TransactionFilter {
		f.PricingPlanID = AnyInt[lyceum.PricingPlanID](p)
		return f
	}},
	{"is_fully_refunded", func(f lyceum.TransactionFilter, p Field) lyceum.TransactionFilter {
		f.FullyRefunded = p.Bool()
		return f
	}},
	{"is_chargeback", func(f lyceum.TransactionFilter, p Field) lyceum.TransactionFilter {
		f.Chargeback = p.Bool()
		return f
	}},
}

// SalesFilterNames returns the names of the parts of the sales list's filter, except start and
// end.
func SalesFilterNames() []string {
	names := make([]string, len(salesParts))
	for i, part := range salesParts {
		names[i] = part.name
	}
	return names
}

// BindSalesFilter binds the filter of the sales list.
func BindSalesFilter(in *Input) lyceum.TransactionFilter {
	f := bindSalesParts(in)
	f.Created = Period(in.Query("start"), in.Query("end"))
	return f
}

func bindSalesParts(in *Input) lyceum.TransactionFilter {
	var f lyceum.TransactionFilter
	for _, part := range salesParts {
		f = part.bind(f, in.Query(part.name))
	}
	return f
}

// SalesFilterOf parses the filter of the sales list from values that did not come from a query
// string, under the same names.
func SalesFilterOf(given url.Values) (lyceum.TransactionFilter, error) {
	query, err := ParseQuery(given.Encode())
	if err != nil {
		return lyceum.TransactionFilter{}, err
	}
	in := &Input{query: query}
	return BindSalesFilter(in), in.Err()
}

package wire

import (
	"net/url"

	"github.com/lyceum-school/lyceum"
)

// salesParts are the parts of the sales list's filter besides its period. The
// list, the export and the console all have them under these names.
var salesParts = []struct {
	name string
	bind func(Field, *lyceum.TransactionFilter)
}{
	{"user_id", func(p Field, f *lyceum.TransactionFilter) { f.UserID = AnyInt[lyceum.UserID](p) }},
	{"affiliate_id", func(p Field, f *lyceum.TransactionFilter) { f.AffiliateID = AnyInt[lyceum.AffiliateID](p) }},
	{"course_id", func(p Field, f *lyceum.TransactionFilter) { f.CourseID = AnyInt[lyceum.CourseID](p) }},
	{"pricing_plan_id", func(p Field, f *lyceum.TransactionFilter) { f.PricingPlanID = AnyInt[lyceum.PricingPlanID](p) }},
	{"is_fully_refunded", func(p Field, f *lyceum.TransactionFilter) { f.FullyRefunded = p.Bool() }},
	{"is_chargeback", func(p Field, f *lyceum.TransactionFilter) { f.Chargeback = p.Bool() }},
}

// SalesFilterNames returns the names of the parts of the sales list's filter,
// but for start and end.
func SalesFilterNames() []string {
	names := make([]string, len(salesParts))
	for i, part := range salesParts {
		names[i] = part.name
	}
	return names
}

// BindSalesFilter binds the filter of the sales list.
func BindSalesFilter(in *Input) lyceum.TransactionFilter {
	var f lyceum.TransactionFilter
	for _, part := range salesParts {
		part.bind(in.Query(part.name), &f)
	}
	f.Created = Period(in.Query("start"), in.Query("end"))
	return f
}

// SalesFilterOf reads the filter of the sales list from what was given
// elsewhere than in a query, by the same names.
func SalesFilterOf(given url.Values) (lyceum.TransactionFilter, error) {
	query, err := ParseQuery(given.Encode())
	if err != nil {
		return lyceum.TransactionFilter{}, err
	}
	in := &Input{query: query}
	return BindSalesFilter(in), in.Err()
}

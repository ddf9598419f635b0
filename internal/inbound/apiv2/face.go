package apiv2

import (
	"context"
	"net/http"
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// Face serves the operations of contract/v2.yaml.
type Face struct {
	learning *learning.Service
	sales    *sales.Service
	people   *people.Service
	doors    people.Doors
	accounts *access.Accounts
	tokens   []wire.Operation
	base     string // URL of the server
}

var _ wire.Face = (*Face)(nil)

// New returns a face that calls the given rules. Tokens are the operations with which apps
// obtain access tokens; they are the same in every version.
func New(r Rules, tokens []wire.Operation) *Face {
	return &Face{
		learning: r.Learning, sales: r.Sales, people: r.People, doors: r.Doors, accounts: r.Accounts, tokens: tokens,
		base: r.BaseURL,
	}
}

// Rules are the services that the face calls.
type Rules struct {
	Learning *learning.Service
	Sales    *sales.Service
	People   *people.Service
	Doors    people.Doors
	Accounts *access.Accounts
	BaseURL  string // URL of the server, without a trailing slash
}

func (f *Face) Name() string { return "v2" }

func (f *Face) Operations() []wire.Operation {
	return slices.Concat(
		wire.Caching(wire.Admitting(f.open, withBearerKeys(
			f.courses(), f.sections(), f.lectures(), f.attachments(), f.comments(), f.quizzes(),
			f.compliance(),
			f.digitalDownloads(), f.downloadAttachments(), f.pricingPlans(), f.productCollections(), f.coupons(),
			customizations(),
			f.purchases(), f.transactions(), f.courseEnrollments(), f.users(), f.userQuizResponses(), f.sessions(),
			f.downloadEnrollments(), f.collectionEnrollments(), f.completions(),
			f.products(), f.uploads(),
		)...)...),
		wire.ForLearners(lyceum.V2, slices.Concat(
			f.myself(), f.myCourses(), f.myLectures(), f.myQuizzes(), f.myComments(), f.myProducts(), f.myMemberships(),
			f.myPurchases(),
		)...),
		f.tokens,
	)
}

// withBearerKeys accepts the API key as a bearer token, too.
func withBearerKeys(groups ...[]wire.Operation) []wire.Operation {
	all := slices.Concat(groups...)
	for i := range all {
		all[i].BearerKey = true
	}
	return all
}

// open rejects the requests of programs to a school for which v2 is disabled.
func (f *Face) open(ctx context.Context, by lyceum.By) error {
	return f.learning.OpenV2(ctx, by)
}

// Failure responds with 422 if a rule rejects the request, and with 400 if it cannot be
// parsed.
func (f *Face) Failure(e *lyceum.Error, _ string) (int, wire.Body) {
	if e.Kind == lyceum.Invalid && e.Code != "" {
		return http.StatusUnprocessableEntity, wire.Coded(e)
	}
	return wire.Status(e.Kind), wire.Coded(e)
}

package apiv1

import (
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
)

// Rules are the services that the face calls.
type Rules struct {
	Sales    *sales.Service
	Learning *learning.Service
	People   *people.Service
	Events   *events.Service
	Doors    people.Doors
}

// Face serves the operations of contract/v1.yaml.
type Face struct {
	Rules

	tokens []wire.Operation
}

var _ wire.Face = (*Face)(nil)

// New returns a face that calls the given rules. Tokens are the operations with which apps
// obtain access tokens; they are the same in every version.
func New(r Rules, tokens []wire.Operation) *Face { return &Face{r, tokens} }

func (f *Face) Name() string { return "v1" }

func (f *Face) Operations() []wire.Operation {
	return slices.Concat(
		f.transactions(),
		wire.Caching(slices.Concat(
			f.courses(), f.enrollments(), f.progress(), f.lectures(), f.videos(), f.quizzes(),
			f.users(), f.pricingPlans(), f.webhooks(),
		)...),
		wire.ForLearners(lyceum.V1, slices.Concat(
			myself(), f.myCourses(), f.myProgress(), f.myLectures(), f.myVideos(),
		)...),
		f.tokens,
	)
}

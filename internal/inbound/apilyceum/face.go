package apilyceum

import (
	"context"
	"net/http"
	"slices"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
)

// Rules are the services that the face calls.
type Rules struct {
	Sales     *sales.Service
	People    *people.Service
	Learning  *learning.Service
	Events    *events.Service
	Accounts  *access.Accounts
	Bulk      *bulk.Service
	Feed      *events.Feed
	Templates *templates.Service
	Reports   *reports.Service
	Failures  *access.Failures
	Clock     *clock.Service // only in a sandbox; other servers lack its operations
	// School returns a school with its settings.
	School func(context.Context, lyceum.SchoolID) (lyceum.School, error)
}

// Face serves the operations of contract/lyceum.yaml.
type Face struct{ Rules }

var _ wire.Face = (*Face)(nil)

// New returns a face that calls the given rules.
func New(r Rules) *Face { return &Face{r} }

func (f *Face) Name() string { return "lyceum" }

func (f *Face) Operations() []wire.Operation {
	all := slices.Concat(
		f.sales(), f.attention(), f.transactions(), f.disputes(), f.statements(), f.reports(), f.orders(), f.school(),
		f.users(), f.access(), f.bulkJobs(), f.emailTemplates(), f.templateSecrets(), f.pageSnippet(),
		f.quizzes(), f.quizResponses(), f.comments(), f.emails(), f.failedRequests(), f.receipts(),
		f.courses(), f.productCollections(), f.memberships(), f.membershipTiers(), f.coaching(),
		f.coupons(), f.affiliates(), f.authors(), f.pricingPlans(), f.events(), f.webhooks(), f.deliveries(), f.changes(),
	)
	if f.Clock != nil {
		all = append(all, f.clock()...)
	}
	for i, op := range all {
		if op.Method != http.MethodGet && !op.Previews {
			all[i] = unpreviewed(op)
		}
	}
	return all
}

// keyReused is the only error code with its own status
// (draft-ietf-httpapi-idempotency-key-header-07, section 2.7).
const keyReused = "idempotency_key_reused"

func (f *Face) Failure(e *lyceum.Error, _ string) (int, wire.Body) {
	if e.Code == keyReused {
		return http.StatusUnprocessableEntity, wire.Coded(e)
	}
	return wire.Status(e.Kind), wire.Coded(e)
}

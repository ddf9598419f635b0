package apilyceum

import (
	"context"
	"net/http"
	"slices"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
)

// maxBulkBody is the maximum size of a list of users, in bytes.
const maxBulkBody = 1 << 20

// maxTag is the maximum length of a tag, in characters.
const maxTag = 255

func (f *Face) bulkJobs() []wire.Operation {
	const all, each, name = "/lyceum/v1/bulk_jobs", "/lyceum/v1/bulk_jobs/{bulk_job_id}", "bulk_job"
	b := f.Bulk
	create := showing(heavy(one("createBulkJob", wire.Create, all, bindNewBulkJob, b.Prepare, name, bulkJob)))
	create.MaxBody = maxBulkBody
	return []wire.Operation{
		wire.Many("listBulkJobs", all, perPage, wire.Anything, b.List, "bulk_jobs", bulkJob),
		create,
		one("showBulkJob", wire.Get, each, byBulkJob, b.Show, name, bulkJob),
		wire.Many("listBulkJobRows", each+"/rows", perPage, bindBulkRows, b.Rows, "rows", bulkRow),
		showing(one("startBulkJob", wire.Run, each+"/start", wire.NoBody(byBulkJob), b.Start, name, bulkJob)),
		showing(one("cancelBulkJob", wire.Run, each+"/cancel", wire.NoBody(byBulkJob), b.Cancel, name, bulkJob)),
	}
}

// showing makes a change also require the permission to read, because its response contains data.
func showing(op wire.Operation) wire.Operation {
	serve := op.Serve
	op.Serve = func(ctx context.Context, who wire.Principal, r *http.Request) (wire.Body, error) {
		if err := who.By.Permit(lyceum.Read); err != nil {
			return nil, err
		}
		return serve(ctx, who, r)
	}
	return op
}

var byBulkJob = wire.ByID[lyceum.BulkJobID]("bulk_job_id")

func bindBulkRows(in *wire.Input) bulk.RowFilter {
	return bulk.RowFilter{Job: byBulkJob(in), Result: wire.OneOf(in.Query("result"), lyceum.BulkResults()...)}
}

func bindNewBulkJob(in *wire.Input) bulk.NewJob {
	q := bulk.NewJob{
		Action:  wire.OneOf(in.Body("action").Required(), lyceum.BulkActions()...).Value,
		Product: bindAnyProduct(in.Body), EndsAt: in.Body("ends_at").Time(),
		Tags:   wire.Sequence[string](in.Body("tags"), "strings"),
		Users:  bindUsers(in.Body("user_ids")),
		Emails: wire.Sequence[string](in.Body("emails"), "strings"),
	}
	if filter, given := in.Body("filter").Object(); given {
		q.Filter = lyceum.Some(bulk.Filter{
			Tag: filter("tag").Text(1, maxTag), Product: bindAnyProduct(filter),
		})
	}
	return q
}

func bindUsers(field wire.Field) []lyceum.UserID {
	const ids = "integers from 1 to 2147483647"
	users := wire.Sequence[lyceum.UserID](field, ids)
	if slices.ContainsFunc(users, func(id lyceum.UserID) bool { return id < 1 }) {
		field.Refuse("must be a list of " + ids)
	}
	return users
}

// bindAnyProduct binds the two members that name a product of any kind.
func bindAnyProduct(field func(string) wire.Field) lyceum.Opt[lyceum.Product] {
	kind := wire.OneOf(field("product_type"), lyceum.ProductKinds()...)
	return pairOf(kind, field)
}

func bulkJob(j lyceum.BulkJob) gen.BulkJob {
	kind, id := product(j.Product)
	return gen.BulkJob{
		ID: int32(j.ID), Action: gen.BulkAction(j.Action), ProductType: (*gen.BulkJobProductType)(kind), ProductID: id,
		EndsAt: wire.OptMoment(j.EndsAt), Tags: append([]string{}, j.Tags...), State: gen.BulkJobState(j.State),
		Message: text(j.Problem), Actor: j.Actor, RowCount: j.Rows, ProcessedCount: j.Results.Total(),
		ExpectedAccess: gen.BulkAccess{
			LosingCount: int32(j.Access.Losing), KeepingCount: int32(j.Access.Keeping), GainingCount: int32(j.Access.Gaining),
		},
		Expected: gen.BulkCounts(j.Expected), Results: gen.BulkCounts(j.Results), CreatedAt: wire.Moment(j.CreatedAt),
		StartedAt: wire.OptMoment(j.StartedAt), EndedAt: wire.OptMoment(j.EndedAt),
	}
}

func bulkRow(r bulk.Row) gen.BulkJobRow {
	row := gen.BulkJobRow{Number: r.Number, EndedSaleIds: make([]int32, len(r.Ends))}
	for i, id := range r.Ends {
		row.EndedSaleIds[i] = int32(id)
	}
	if r.Expected != "" {
		expected := gen.BulkJobRowExpected(r.Expected)
		row.Expected = &expected
	}
	if r.User != 0 {
		id := int32(r.User)
		row.UserID = &id
	}
	if r.Email != "" {
		row.Email = &r.Email
	}
	if r.Result != "" {
		result := gen.BulkJobRowResult(r.Result)
		row.Result = &result
	}
	if r.Message != "" {
		row.Message = &r.Message
	}
	return row
}

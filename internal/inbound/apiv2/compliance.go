package apiv2

import (
	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

func (f *Face) compliance() []wire.Operation {
	const path = coursePath + "/compliance"
	return []wire.Operation{
		one("showCompliance", wire.Get, path, bindCourse, f.learning.OneCourse, compliance),
		wire.NoContent(wire.New("updateCompliance", wire.Patch, path,
			wire.Serve(wire.OptBody(bindCompliance), refusing(wire.Done(f.learning.SetCompliance))))),
	}
}

// maxRetakes is the maximum of quiz_maximum_retakes (contract/v2/compliance.yaml).
const maxRetakes = 1000

func bindCompliance(in *wire.Input) learning.ComplianceChange {
	q := learning.ComplianceChange{Course: bindCourse(in)}
	if member, given := in.Body("requirements").Object(); given {
		q.Order = member("lecture_order_required").Bool()
		q.Videos = member("video_completion_enforced").Bool()
		q.Quizzes = member("quiz_pass_required").Bool()
		score, retakes := member("quiz_minimum_score"), member("quiz_maximum_retakes")
		q.Score = wire.Nullable(score, score.Number(0, 100))
		q.Retakes = wire.Nullable(retakes, wire.Int[int32](retakes, 0, maxRetakes))
	}
	if member, given := in.Body("certificate_settings").Object(); given {
		q.Issues, q.Template = member("auto_issue").Bool(), wire.ID[int32](member("template_id"))
	}
	return q
}

func compliance(c lyceum.Course) gen.Compliance {
	rules, eligible := &c.Compliance, c.Certificate.Present
	return gen.Compliance{
		Requirements: gen.Requirements{
			VideoCompletionEnforced: rules.Videos.Value, QuizPassRequired: rules.Quizzes.Value,
			QuizMinimumScore: wire.Optional(rules.Score), QuizMaximumRetakes: wire.Optional(rules.Retakes),
			LectureOrderRequired: c.LectureOrder, CertificateEligible: eligible,
		},
		CertificateSettings: gen.CertificateSettings{
			AutoIssue: rules.Issues.Else(true), TemplateID: wire.Optional(c.Certificate),
		},
	}
}

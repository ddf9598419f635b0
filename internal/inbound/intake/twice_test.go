package intake_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/intake"
)

// taker is a sink that accepts every row.
type taker[T any] struct{}

func (taker[T]) Check(context.Context, []T) ([]lyceum.RowProblem, error) { return nil, nil }

func (taker[T]) Save(_ context.Context, batch []T) (lyceum.Saved, []lyceum.RowProblem, error) {
	return lyceum.Saved{Created: len(batch)}, nil, nil
}

// repeats returns a function that imports rows in batches of a size and returns the reported
// problems.
func repeats[T any](kind intake.Kind[T], rows string) func(size int) string {
	return func(size int) string {
		var reported []string
		o := intake.Options{BatchSize: size, OnError: intake.Skip, Problem: func(p intake.Problem) {
			reported = append(reported, strings.TrimSpace(fmt.Sprintf("%d %s", p.Line, p.Column))+": "+p.Message)
		}}
		if _, err := intake.Import(context.Background(), fileOf(rows), kind, taker[T]{}, o); err != nil {
			return err.Error()
		}
		return strings.Join(reported, "\n")
	}
}

// TestKeysOfKinds checks that rows of a kind that share what must be unique are found, however
// many rows are between them, and no others.
func TestKeysOfKinds(t *testing.T) {
	const (
		uuid     = "7c0e2a4e-5a53-4b5e-9d3c-0a4de5f3b1aa"
		attached = `,"name":null,"url":null,"text":null,"position":1,"file_size":null,"file_extension":null,` +
			`"video_url":null,"video_content_type":null,"video_status":null,"url_thumbnail":null,"media_duration":null`
		coupon = ",,0.5,,,,,,,all_products,,,,true,,,,,"
		stay   = "appears twice in the file: its user_id, course_id and enrolled_at are those of an earlier row"
		second = "must not be empty: an earlier row with the same user_id and course_id has none either"
	)
	for _, tc := range []struct {
		name     string
		reported func(size int) string
		want     string
	}{
		{"courses: address, whatever its case", repeats(intake.Courses(), `id,name,is_published,friendly_url
1,A,true,pots
2,B,true,
3,C,true,
4,D,true,Pots
5,E,true,pans
`), "5 friendly_url: appears twice in the file"},
		{
			"coupons: code of those not archived, whatever its case", repeats(intake.Coupons(), `id,code,name,discount_percent,`+
				`discount_amount,discount_currency,duration_kind,discount_in_months,number_available,expiration_date,scope_type,`+
				`product_type,product_id,pricing_plan_id,cap_visible,display_priority,friendly_url,created_at,updated_at,archived_at`+"\n"+
				"1,Spring"+coupon+"2024-01-01\n2,SPRING"+coupon+"\n3,spring"+coupon+"2024-01-01\n4,spring"+coupon+"\n5,"+coupon+"\n6,"+coupon+"\n"),
			"5 code: appears twice in the file",
		},
		{
			"uploads: uuid", repeats(intake.Uploads(), "uuid,target_type,target_id,purpose,extension,file\n"+
				uuid+",course,1,thumbnail,png,a\n"+uuid[:35]+"b,course,1,thumbnail,png,a\n"+uuid+",course,1,thumbnail,png,b\n"),
			"4 uuid: appears twice in the file",
		},
		{"attachments: quiz", repeats(intake.Attachments(), `{"id":1,"lecture_id":1,"kind":"quiz","quiz_id":7,"questions":[]`+attached+`}
{"id":2,"lecture_id":1,"kind":"text","quiz_id":null,"questions":null`+attached+`}
{"id":3,"lecture_id":1,"kind":"text","quiz_id":null,"questions":null`+attached+`}
{"id":4,"lecture_id":2,"kind":"quiz","quiz_id":7,"questions":[]`+attached+`}
`), "4 quiz_id: appears twice in the file"},
		{"collections: product", repeats(intake.CollectionProducts(), `product_collection_id,product_type,product_id
1,course,1
1,coaching,1
2,course,1
1,course,1
`), "5: appears twice in the file: its product_collection_id, product_type and product_id are those of an earlier row"},
		{"tiers: product, with ids", repeats(intake.TierProducts(), `id,membership_tier_id,product_type,product_id
1,1,course,1
2,1,course,2
3,1,course,1
`), "4: appears twice in the file: its membership_tier_id, product_type and product_id are those of an earlier row"},
		{"progress: user and course", repeats(intake.CourseProgress(), `user_id,course_id,percent_complete,completed_at,certificate_issued_at,certificate_page_id,certificate_serial_number
1,2,10,,,,
2,1,10,,,,
1,2,20,,,,
`), "4: appears twice in the file: its user_id and course_id are those of an earlier row"},
		{"lecture progress: user and lecture", repeats(intake.LectureProgress(), `id,user_id,course_id,lecture_id,completed_at
1,1,1,2,2024-01-01
2,2,1,1,2024-01-01
3,1,1,2,2024-01-02
`), "4: appears twice in the file: its user_id and lecture_id are those of an earlier row"},
		{"quiz responses: user, quiz and second", repeats(intake.QuizResponses(), `quiz_id,user_id,submitted_at,percent_correct
1,2,2024-01-01T00:00:01Z,0.5
1,2,2024-01-01T00:00:02Z,0.5
1,3,,0.5
1,2,2024-01-01T01:00:01+01:00,1
1,3,,1
`), "5: appears twice in the file: its user_id, quiz_id and submitted_at are those of an earlier row\n" +
			"6: appears twice in the file: its user_id, quiz_id and submitted_at are those of an earlier row"},
		{"quiz responses with ids: nothing", repeats(intake.QuizResponses(), `id,quiz_id,user_id,submitted_at,percent_correct
1,1,2,2024-01-01,0.5
2,1,2,2024-01-01,0.5
`), ""},
		{"enrollments: user, course and second; one that is open", repeats(intake.Enrollments(), `user_id,course_id,enrolled_at,expires_at,ended_at
1,2,2024-01-01,,2024-02-01
1,2,2024-02-01,,
2,1,2024-02-01,,
1,2,2024-01-01,,
1,2,2024-03-01,,
1,2,2024-04-01,,2024-05-01
`), "5: " + stay + "\n6 ended_at: " + second},
		{"enrollments with ids: one that is open", repeats(intake.Enrollments(), `id,user_id,course_id,enrolled_at,expires_at,ended_at
1,1,2,2024-01-01,,2024-02-01
2,1,2,2024-01-01,,
3,1,2,2024-01-01,,2024-02-01
4,1,2,2024-03-01,,
`), "5 ended_at: " + second},
		{"ids in some rows", repeats(intake.LectureProgress(), `{"id":1,"user_id":1,"course_id":1,"lecture_id":2,"completed_at":"2024-01-01"}
{"user_id":2,"course_id":1,"lecture_id":2,"completed_at":"2024-01-01"}
{"id":2,"user_id":3,"course_id":1,"lecture_id":2,"completed_at":"2024-01-01"}
`), "2 id: must be in every row of the file or in none"},
	} {
		for _, size := range []int{1, 2, 3, 1000} {
			if got := tc.reported(size); got != tc.want {
				t.Errorf("%s, by %d:\n%s\nwant\n%s", tc.name, size, got, tc.want)
			}
		}
	}
}

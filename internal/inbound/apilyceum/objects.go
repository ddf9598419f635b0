package apilyceum

import (
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
)

// The objects of the feed that the contract has no schema for
// (docs/own-interface.md, "Changes").
type (
	course struct {
		ID           int32     `json:"id"`
		Name         string    `json:"name"`
		Heading      *string   `json:"heading"`
		Description  *string   `json:"description"`
		IsPublished  bool      `json:"is_published"`
		IsListed     bool      `json:"is_listed"`
		LectureOrder bool      `json:"lecture_order"`
		ImageURL     *string   `json:"image_url"`
		AuthorID     *int32    `json:"author_id"`
		CreatedAt    time.Time `json:"created_at"`
		UpdatedAt    time.Time `json:"updated_at"`
	}
	pricingPlan struct {
		ID                   int32      `json:"id"`
		CourseID             *int32     `json:"course_id"`
		Name                 string     `json:"name"`
		Description          *string    `json:"description"`
		Price                int64      `json:"price"`
		Currency             string     `json:"currency"`
		Frequency            string     `json:"frequency"`
		BillingInterval      *string    `json:"billing_interval"`
		BillingIntervalCount *int32     `json:"billing_interval_count"`
		FreeTrialLength      *int32     `json:"free_trial_length"`
		EnrollmentCap        *int32     `json:"enrollment_cap"`
		AccessLimitDate      *time.Time `json:"access_limit_date"`
		AccessLimitInterval  *string    `json:"access_limit_interval"`
		AccessLimitDuration  *int32     `json:"access_limit_duration"`
		CreatedAt            time.Time  `json:"created_at"`
		UpdatedAt            time.Time  `json:"updated_at"`
	}
	coupon struct {
		ID   int32   `json:"id"`
		Code *string `json:"code"`
	}
	affiliate struct {
		ID   int32   `json:"id"`
		Name *string `json:"name"`
	}
	author struct {
		ID              int32   `json:"id"`
		Name            *string `json:"name"`
		Bio             *string `json:"bio"`
		ProfileImageURL *string `json:"profile_image_url"`
		UserID          *int32  `json:"user_id"`
	}
	lectureSection struct {
		ID          int32  `json:"id"`
		CourseID    int32  `json:"course_id"`
		Name        string `json:"name"`
		IsPublished bool   `json:"is_published"`
		Position    int32  `json:"position"`
	}
	lecture struct {
		ID               int32   `json:"id"`
		CourseID         int32   `json:"course_id"`
		LectureSectionID int32   `json:"lecture_section_id"`
		Name             *string `json:"name"`
		IsPublished      bool    `json:"is_published"`
		Position         int32   `json:"position"`
	}
	attachment struct {
		ID        int32   `json:"id"`
		LectureID int32   `json:"lecture_id"`
		Kind      string  `json:"kind"`
		Name      *string `json:"name"`
		URL       *string `json:"url"`
		Text      *string `json:"text"`
		Position  *int32  `json:"position"`
		FormID    *int32  `json:"custom_form_id"` // what webhooks call a quiz
	}
	webhookObject struct {
		ID           int32     `json:"id"`
		State        string    `json:"state"`
		URL          string    `json:"url"`
		EventTrigger string    `json:"event_trigger"`
		CreatedAt    time.Time `json:"created_at"`
	}
	webhookEvent struct {
		ID        int32     `json:"id"`
		WebhookID int32     `json:"webhook_id"`
		State     string    `json:"state"`
		CreatedAt time.Time `json:"created_at"`
	}
)

// shown gives an object of the feed the form in which it is written; nil for
// what is not there.
func shown(object any) any {
	switch o := object.(type) {
	case lyceum.School:
		return school(o)
	case lyceum.Course:
		return course{
			int32(o.ID), o.Name, wire.Optional(o.Heading), wire.Optional(o.Description), o.IsPublished, o.IsListed,
			o.LectureOrder, wire.Optional(o.ImageURL), wire.Number(o.AuthorID),
			wire.Moment(o.CreatedAt), wire.Moment(o.UpdatedAt),
		}
	case lyceum.PricingPlan:
		return pricingPlan{
			int32(o.ID), wire.Number(o.CourseID), o.Name, wire.Optional(o.Description),
			int64(o.Price), string(o.Currency), string(o.Frequency),
			wire.Optional(o.BillingInterval), wire.Optional(o.BillingIntervalCount),
			wire.Optional(o.FreeTrialLength), wire.Optional(o.EnrollmentCap),
			wire.OptMoment(o.AccessLimitDate), wire.Optional(o.AccessLimitInterval),
			wire.Optional(o.AccessLimitDuration), wire.Moment(o.CreatedAt), wire.Moment(o.UpdatedAt),
		}
	case lyceum.Coupon:
		return coupon{int32(o.ID), wire.Optional(o.Code)}
	case lyceum.AffiliatePartner:
		return affiliate{int32(o.ID), wire.Optional(o.Name)}
	case lyceum.AuthorProfile:
		return author{
			int32(o.ID), wire.Optional(o.Name), wire.Optional(o.Bio), wire.Optional(o.ProfileImageURL), wire.Number(o.UserID),
		}
	case lyceum.LectureSection:
		return lectureSection{int32(o.ID), int32(o.Course), o.Name, o.IsPublished, o.Position}
	case lyceum.Lecture:
		return lecture{int32(o.ID), int32(o.Course), int32(o.Section), wire.Optional(o.Name), o.IsPublished, o.Position}
	case lyceum.Attachment:
		a := attachment{
			int32(o.ID), int32(o.Lecture), string(o.Kind), wire.Optional(o.Name), wire.Optional(o.URL),
			wire.Optional(o.Text), wire.Optional(o.Position), nil,
		}
		if o.Quiz != nil {
			a.FormID = wire.Number(lyceum.Some(o.Quiz.ID))
		}
		return a
	case lyceum.AttachedResponse:
		return quizResponse(o)
	case lyceum.Comment:
		return comment(o)
	case lyceum.Movement:
		return movement(&o)
	case lyceum.PurchaseOrder:
		return order(o)
	case lyceum.Webhook:
		if o.DeletedAt.Present {
			return nil
		}
		return webhookObject{int32(o.ID), string(o.State), o.URL, o.EventTrigger, wire.Moment(o.CreatedAt)}
	case lyceum.WebhookEvent:
		return webhookEvent{int32(o.ID), int32(o.Webhook), o.State, wire.Moment(o.CreatedAt)}
	}
	return nil
}

package apilyceum

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/lyceum-school/lyceum"
	gen "github.com/lyceum-school/lyceum/internal/gen/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
)

// The objects of the feed that have no schema in the contract (docs/own-interface.md,
// "Changes").
type (
	// fedPlan and fedCoupon omit the counts, which are computed for each request.
	fedPlan struct {
		gen.PricingPlan

		Seats *int32 `json:"enrollment_cap_fulfillment_count,omitempty"`
	}
	fedCoupon struct {
		gen.Coupon

		Uses *int32 `json:"number_of_uses,omitempty"`
	}
	lectureSection struct {
		ID          int32     `json:"id"`
		CourseID    int32     `json:"course_id"`
		Name        string    `json:"name"`
		IsPublished bool      `json:"is_published"`
		Position    int32     `json:"position"`
		CreatedAt   time.Time `json:"created_at"`
		UpdatedAt   time.Time `json:"updated_at"`
	}
	lecture struct {
		ID               int32      `json:"id"`
		CourseID         int32      `json:"course_id"`
		LectureSectionID int32      `json:"lecture_section_id"`
		Name             *string    `json:"name"`
		IsPublished      bool       `json:"is_published"`
		Position         int32      `json:"position"`
		FreePreview      bool       `json:"free_preview"`
		StudentComments  bool       `json:"student_comments_enabled"`
		CreatedAt        time.Time  `json:"created_at"`
		UpdatedAt        time.Time  `json:"updated_at"`
		ArchivedAt       *time.Time `json:"archived_at"`
	}
	attachment struct {
		ID          int32      `json:"id"`
		LectureID   int32      `json:"lecture_id"`
		Kind        string     `json:"kind"`
		Name        *string    `json:"name"`
		URL         *string    `json:"url"`
		Text        *string    `json:"text"`
		Position    *int32     `json:"position"`
		FormID      *int32     `json:"custom_form_id"` // the quiz, which webhooks call a custom form
		IsPublished bool       `json:"is_published"`
		CreatedAt   time.Time  `json:"created_at"`
		UpdatedAt   time.Time  `json:"updated_at"`
		ArchivedAt  *time.Time `json:"archived_at"`
	}
	collectionProduct struct {
		ID                  int32              `json:"id"`
		ProductCollectionID int32              `json:"product_collection_id"`
		ProductType         lyceum.ProductKind `json:"product_type"`
		ProductID           int32              `json:"product_id"`
		CreatedAt           time.Time          `json:"created_at"`
	}
	tierProduct struct {
		ID               int32              `json:"id"`
		MembershipTierID int32              `json:"membership_tier_id"`
		ProductType      lyceum.ProductKind `json:"product_type"`
		ProductID        int32              `json:"product_id"`
		CreatedAt        time.Time          `json:"created_at"`
	}
	upload struct {
		ID          int32                `json:"id"`
		UploadID    string               `json:"upload_id"`
		TargetType  lyceum.UploadTarget  `json:"target_type"`
		TargetID    int32                `json:"target_id"`
		Purpose     lyceum.UploadPurpose `json:"purpose"`
		Extension   string               `json:"extension"`
		CreatedAt   time.Time            `json:"created_at"`
		ExpiresAt   time.Time            `json:"expires_at"`
		ReceivedAt  *time.Time           `json:"received_at"`
		SizeInBytes *int64               `json:"size_in_bytes"`
		Checksum    *string              `json:"checksum"`
		Duration    *int32               `json:"duration"`
	}
	entitlement struct {
		ID          int32                  `json:"id"`
		UserID      int32                  `json:"user_id"`
		ProductType lyceum.ProductKind     `json:"product_type"`
		ProductID   int32                  `json:"product_id"`
		SaleID      *int32                 `json:"sale_id"`
		Imported    bool                   `json:"imported"`
		KeptFromID  *int32                 `json:"kept_from_id"`
		StartsAt    time.Time              `json:"starts_at"`
		EndsAt      *time.Time             `json:"ends_at"`
		EndedAt     *time.Time             `json:"ended_at"`
		EndReason   *lyceum.EntitlementEnd `json:"end_reason"`
	}
	block struct {
		ID          int32              `json:"id"`
		UserID      int32              `json:"user_id"`
		ProductType lyceum.ProductKind `json:"product_type"`
		ProductID   int32              `json:"product_id"`
		CreatedAt   time.Time          `json:"created_at"`
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

// shown returns an object of the feed in the form in which it is rendered, nil if it no
// longer exists.
func shown(object any) any {
	switch o := object.(type) {
	case lyceum.School:
		return school(o)
	case lyceum.Course:
		return course(o)
	case lyceum.PricingPlan:
		return fedPlan{PricingPlan: pricingPlan(learning.SoldPlan{PricingPlan: o})}
	case lyceum.Coupon:
		return fedCoupon{Coupon: coupon(learning.UsedCoupon{Coupon: o})}
	case lyceum.AffiliatePartner:
		return affiliate(o)
	case lyceum.AuthorProfile:
		return author(o)
	case lyceum.CollectionProduct:
		return collectionProduct{int32(o.ID), int32(o.In), o.Product.Kind, o.Product.ID, wire.Moment(o.CreatedAt)}
	case lyceum.TierProduct:
		return tierProduct{int32(o.ID), int32(o.In), o.Product.Kind, o.Product.ID, wire.Moment(o.CreatedAt)}
	case lyceum.LectureSection:
		return lectureSection{
			int32(o.ID), int32(o.Course), o.Name, o.IsPublished, o.Position,
			wire.Moment(o.CreatedAt), wire.Moment(o.UpdatedAt),
		}
	case lyceum.Lecture:
		return lecture{
			int32(o.ID), int32(o.Course), int32(o.Section), wire.Optional(o.Name), o.IsPublished, o.Position,
			o.FreePreview.Value, o.Comments.Else(true), wire.Moment(o.CreatedAt), wire.Moment(o.UpdatedAt),
			wire.OptMoment(o.ArchivedAt),
		}
	case lyceum.Attachment:
		a := attachment{
			int32(o.ID), int32(o.Lecture), string(o.Kind), wire.Optional(o.Name), wire.Optional(o.URL),
			wire.Optional(o.Text), wire.Optional(o.Position), nil, o.IsPublished.Else(true),
			wire.Moment(o.CreatedAt), wire.Moment(o.UpdatedAt), wire.OptMoment(o.ArchivedAt),
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
	case lyceum.Dispute:
		return dispute(o)
	case lyceum.PaymentFailure:
		return paymentFailure(o)
	case lyceum.PurchaseOrder:
		return order(o)
	case lyceum.Upload:
		return upload{
			int32(o.ID), o.UUID, o.TargetType, o.TargetID, o.Purpose, o.Extension, wire.Moment(o.CreatedAt),
			wire.Moment(o.ExpiresAt), wire.OptMoment(o.ReceivedAt), wire.Optional(o.SizeInBytes), wire.Optional(o.Checksum),
			wire.Optional(o.Duration),
		}
	case lyceum.Entitlement:
		return entitlement{
			int32(o.ID), int32(o.User), o.Product.Kind, o.Product.ID, wire.Number(o.Sale), o.Imported,
			wire.Number(o.KeptFrom), wire.Moment(o.StartsAt), wire.OptMoment(o.EndsAt), wire.OptMoment(o.EndedAt),
			wire.Optional(o.EndReason),
		}
	case lyceum.Block:
		return block{int32(o.ID), int32(o.User), o.Product.Kind, o.Product.ID, wire.Moment(o.CreatedAt)}
	case lyceum.Webhook:
		if o.DeletedAt.Present {
			return nil
		}
		return webhookObject{int32(o.ID), string(o.State), o.URL, o.EventTrigger, wire.Moment(o.CreatedAt)}
	case lyceum.WebhookEvent:
		return webhookEvent{int32(o.ID), int32(o.Webhook), o.State, wire.Moment(o.CreatedAt)}
	case nil:
		return nil
	}
	return plain{object}
}

// plain renders an object as it is: its fields in order, with names in snake case.
type plain struct{ object any }

func (p plain) append(b []byte) []byte {
	v := reflect.ValueOf(p.object)
	for i, m := range membersOf(v.Type()) {
		b = m.append(append(b, m.name...), v.Field(i))
	}
	return append(b, '}')
}

// member is a field of a plain object.
type member struct {
	name   string // with its punctuation, such as `,"id":`
	append appender
}

type appender = func([]byte, reflect.Value) []byte

var members sync.Map // reflect.Type -> []member

func membersOf(t reflect.Type) []member {
	if known, ok := members.Load(t); ok {
		return known.([]member)
	}
	made := make([]member, 0, t.NumField())
	for field := range t.Fields() {
		before := byte(',')
		if len(made) == 0 {
			before = '{'
		}
		name := append(strconv.AppendQuote([]byte{before}, snake(field.Name)), ':')
		made = append(made, member{string(name), appenderOf(field.Type)})
	}
	members.Store(t, made)
	return made
}

// appenderOf returns how values of a type are rendered: ids, strings, booleans and times,
// each of which may be absent.
func appenderOf(t reflect.Type) appender {
	if t == reflect.TypeFor[time.Time]() {
		return func(b []byte, v reflect.Value) []byte { return wire.AppendMoment(b, "", v.Interface().(time.Time)) }
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendBool(b, v.Bool()) }
	case reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendInt(b, v.Int(), 10) }
	case reflect.String:
		return func(b []byte, v reflect.Value) []byte { return wire.AppendString(b, v.String()) }
	case reflect.Struct:
		if present, ok := t.FieldByName("Present"); ok {
			value, _ := t.FieldByName("Value")
			appendValue := appenderOf(value.Type)
			return func(b []byte, v reflect.Value) []byte {
				if !v.FieldByIndex(present.Index).Bool() {
					return append(b, "null"...)
				}
				return appendValue(b, v.FieldByIndex(value.Index))
			}
		}
	}
	return func(b []byte, v reflect.Value) []byte {
		text, _ := json.Marshal(v.Interface()) // nouns only have values that JSON can represent
		return append(b, text...)
	}
}

// snake converts a name such as ImageURL to image_url.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		begins := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(rune(name[i-1])) || i+1 < len(name) && !unicode.IsUpper(rune(name[i+1])))
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lyceum-school/lyceum"
)

// object is the JSON object of one thing; encoding/json sorts its keys.
type object map[string]any

// render returns the object of an event as JSON. It reads from the view what the change does not
// contain. An object that has been deleted by then has only its id.
func (s *Service) render(from lyceum.View, school lyceum.SchoolID, c *lyceum.ChangeRecord) ([]byte, error) {
	body, err := objectOf(&reading{view: from, school: school, base: s.BaseURL}, c)
	if err != nil {
		return nil, fmt.Errorf("render event %s of %d: %w", c.Event.Value, c.ObjectID, err)
	}
	return json.Marshal(body)
}

// payload returns an event as webhooks receive it, and as it is stored.
func (s *Service) payload(
	from lyceum.View, school lyceum.SchoolID, c *lyceum.ChangeRecord,
) (lyceum.EventPayload, error) {
	object, err := s.render(from, school, c)
	return lyceum.EventPayload{
		Number: c.Number, Event: c.Event.Value, ObjectID: c.ObjectID, At: c.At, Object: string(object),
	}, err
}

func objectOf(r *reading, c *lyceum.ChangeRecord) (object, error) {
	var body object
	switch o := c.Object.(type) {
	case lyceum.Enrollment:
		body = r.enrollment(&o, c)
	case lyceum.Admission:
		body = r.admission(&o, c)
	case lyceum.LectureProgress:
		body = r.lectureProgress(&o)
	case lyceum.Sale:
		body = r.sale(&o, c.Event.Value)
	case lyceum.Transaction:
		body = r.transaction(&o)
	case lyceum.PurchaseOrder:
		body = r.order(&o)
	case lyceum.AttachedResponse:
		body = r.response(&o.QuizResponse)
	case lyceum.Comment:
		body = r.comment(&o)
	case lyceum.TaggedUser:
		body = r.user(o.ID)
	default:
		body = object{"id": c.ObjectID}
	}
	tag := c.Event.Value == lyceum.UserTagCreatedEvent || c.Event.Value == lyceum.UserTagRemovedEvent
	if body == nil && !tag { // the person was erased
		body = object{"id": c.ObjectID}
	}
	if c.Detail.Present {
		var detail object
		if err := json.Unmarshal([]byte(c.Detail.Value), &detail); err != nil {
			return nil, err
		}
		if tag {
			detail["user"] = body
			body = detail
		} else {
			for name, value := range detail {
				body[name] = value
			}
		}
	}
	return body, r.err
}

// reading reads the things that an event is about, and collects errors. Things that do not exist
// are null.
type reading struct {
	view   lyceum.View
	school lyceum.SchoolID
	base   string
	err    error
}

func found[T any](r *reading, value T, err error) (T, bool) {
	if err != nil && lyceum.KindOf(err) != lyceum.NotFound {
		r.err = errors.Join(r.err, err)
	}
	return value, err == nil
}

// user has every field that users were seen with in any event; unknown ones are null.
func (r *reading) user(id lyceum.UserID) object {
	user, err := r.view.Users.Get(r.view, id)
	u, ok := found(r, user, err)
	if !ok {
		return nil
	}
	return object{
		"id": u.ID, "role": u.Role, "email": u.Email, "name": text(u.Name), "phone_number": text(u.PhoneNumber),
		"school_id": r.school,
		"src":       text(u.Src), "first_touch": nil, "last_touch": nil, "joined_at": written(u.CreatedAt),
		"created_at": written(u.CreatedAt), "sign_in_count": nil, "current_sign_in_at": moment(u.LastSignInAt),
		"last_sign_in_at": moment(u.LastSignInAt), "unsubscribe_from_marketing_emails": u.Marketing == lyceum.Some(false),
	}
}

func (r *reading) course(id lyceum.CourseID) object {
	course, err := r.view.Courses.Get(r.view, id)
	c, ok := found(r, course, err)
	if !ok {
		return nil
	}
	path := coursePath(id)
	body := object{
		"id": c.ID, "name": c.Name, "url": r.base + path, "friendly_url": path,
		"description": text(c.Description), "meta_description": text(c.Heading), "author_bio": nil,
	}
	if c.AuthorID.Present {
		author, err := r.view.Authors.Get(r.view, c.AuthorID.Value)
		if a, ok := found(r, author, err); ok {
			body["author_bio"] = authorBio(&a)
		}
	}
	return body
}

// coursePath returns the path of a course on the pages of a school.
func coursePath(id lyceum.CourseID) string { return "/courses/" + strconv.Itoa(int(id)) }

// authorBio has every field that authors were seen with; unknown ones are null.
func authorBio(a *lyceum.AuthorProfile) object {
	return object{
		"id": a.ID, "name": text(a.Name), "bio": text(a.Bio), "profile_image_url": text(a.ProfileImageURL),
		"user_id": number(a.UserID), "created_at": nil, "headline": nil, "position": nil,
		"meta": object{
			"class": nil, "url": nil, "name": text(a.Name), "description": text(a.Bio),
			"image_url": text(a.ProfileImageURL),
		},
	}
}

// product returns a pricing plan, which webhooks call a product, and the course that it sells.
func (r *reading) product(id lyceum.Opt[lyceum.PricingPlanID]) (product, course object, recurs bool) {
	if !id.Present {
		return nil, nil, false
	}
	plan, err := r.view.PricingPlans.Get(r.view, id.Value)
	p, ok := found(r, plan, err)
	if !ok {
		return nil, nil, false
	}
	if p.CourseID.Present {
		course = r.course(p.CourseID.Value)
	}
	recurs = p.Frequency == lyceum.Subscription || p.Frequency == lyceum.PaymentPlan
	return object{"id": p.ID, "name": p.Name, "price": p.Price, "currency": p.Currency, "is_recurring": recurs}, course,
		recurs
}

func (r *reading) affiliate(id lyceum.Opt[lyceum.AffiliateID]) object {
	if !id.Present {
		return nil
	}
	partner, err := r.view.Affiliates.Get(r.view, id.Value)
	a, ok := found(r, partner, err)
	if !ok {
		return nil
	}
	body := object{"id": a.ID, "name": text(a.Name), "email": nil}
	if a.UserID.Present {
		user, err := r.view.Users.Get(r.view, a.UserID.Value)
		if u, ok := found(r, user, err); ok {
			body["email"] = u.Email
		}
	}
	return body
}

func (r *reading) coupon(id lyceum.Opt[lyceum.CouponID]) object {
	if !id.Present {
		return nil
	}
	coupon, err := r.view.Coupons.Get(r.view, id.Value)
	if c, ok := found(r, coupon, err); ok {
		return object{"id": c.ID, "code": text(c.Code)}
	}
	return nil
}

func (r *reading) enrollment(e *lyceum.Enrollment, c *lyceum.ChangeRecord) object {
	active := c.Event.Value != lyceum.EnrollmentDisabledEvent // as of the event, whatever came after it
	p := r.progress(e.User, e.Course)
	body := object{
		"id": e.ID, "user_id": e.User, "course_id": e.Course, "primary_course_id": e.Course, "course_progress_id": p.ID,
		"sale_id": number(e.Sale), "is_active": active, "has_full_access": active,
		"percent_complete": json.Number(strconv.Itoa(int(p.PercentComplete)) + ".0"),
		"enrolled_at":      written(e.EnrolledAt), "created_at": written(e.EnrolledAt), "updated_at": written(c.At),
		"expires_at": moment(e.ExpiresAt), "certificate_serial_number": nil, "user": r.user(e.User),
		"course": r.course(e.Course),
	}
	if p.Certificate.Present {
		body["certificate_serial_number"] = p.Certificate.Value.SerialNumber
	}
	return body
}

// admission has the pricing plan of the sale that opened it; without a sale, product and
// currency are null.
func (r *reading) admission(a *lyceum.Admission, c *lyceum.ChangeRecord) object {
	body := object{
		"id": a.ID, "user_id": a.UserID, "school_id": r.school, "coaching_id": a.CoachingID, "sale_id": number(a.SaleID),
		"is_active":   c.Event.Value != lyceum.AdmissionDisabledEvent, // as of the event, whatever came after it
		"admitted_at": written(a.AdmittedAt), "created_at": written(a.AdmittedAt), "updated_at": written(c.At),
		"expires_at": moment(a.ExpiresAt), "user": r.user(a.UserID), "coaching": nil, "product": nil, "currency": nil,
	}
	coaching, err := r.view.Coaching.Get(r.view, a.CoachingID)
	if p, ok := found(r, coaching, err); ok {
		body["coaching"] = object{
			"id": p.ID, "name": p.Name, "description": text(p.Description), "image_url": text(p.ImageURL),
		}
	}
	if !a.SaleID.Present {
		return body
	}
	sale, err := r.view.Sales.Get(r.view, a.SaleID.Value)
	if s, ok := found(r, sale, err); ok {
		if product, _, _ := r.product(s.PricingPlanID); product != nil {
			body["product"], body["currency"] = product, product["currency"]
		}
	}
	return body
}

// progress returns the progress of a user in a course, or a zero value if there is none.
func (r *reading) progress(user lyceum.UserID, course lyceum.CourseID) lyceum.Progress {
	progress, _, err := r.view.Progress.First(r.view,
		lyceum.ProgressFilter{User: lyceum.Some(user), Course: lyceum.Some(course)})
	p, _ := found(r, progress, err)
	return p
}

func (r *reading) lectureProgress(l *lyceum.LectureProgress) object {
	p := r.progress(l.User, l.Course)
	body := object{
		"id": l.ID, "is_completed": true, "course_id": l.Course, "lecture_id": l.Lecture, "school_id": r.school,
		"completed_at": written(l.CompletedAt), "percent_complete": p.PercentComplete, "course": r.course(l.Course),
		"user": r.user(l.User), "lecture": nil,
	}
	if x, ok := r.lecture(l.Lecture); ok {
		body["lecture"] = object{"id": x.ID, "name": x.Name.Value, "is_published": x.IsPublished}
	}
	return body
}

func (r *reading) sale(s *lyceum.Sale, event lyceum.EventName) object {
	if event == lyceum.SubscriptionCanceledEvent {
		return object{
			"id": s.ID, "school_id": r.school, "is_active": false, "user_id": number(s.UserID),
			"user": r.user(s.UserID.Value),
		}
	}
	product, course, recurs := r.product(s.PricingPlanID)
	all, err := lyceum.All(r.view.Transactions, r.view,
		lyceum.TransactionQuery{Sale: lyceum.Some(s.ID), Order: lyceum.OldestFirst})
	transactions, _ := found(r, all, err)
	shown := []object{}
	for i := range transactions {
		shown = append(shown, r.money(&transactions[i]))
	}
	return object{
		"id": s.ID, "price": money(s.FinalPrice), "final_price": money(s.FinalPrice), "currency": text(s.Currency),
		"is_active": true, "is_recurring": recurs, "user_id": number(s.UserID), "school_id": r.school, "course": course,
		"product": product, "user": r.user(s.UserID.Value), "coupon": r.coupon(s.CouponID),
		"affiliate": r.affiliate(s.AffiliateID), "transactions": shown, "created_at": written(s.CreatedAt),
	}
}

// omittedTransactionFields are the fields of a transaction that webhooks were never seen with;
// has_chargeback is included as is_chargeback.
var omittedTransactionFields = []string{
	"pricing_plan_id", "has_chargeback", "chargeback_fee", "affiliate_id", "coupon_id",
}

// money returns a transaction without what it belongs to.
func (r *reading) money(t *lyceum.Transaction) object {
	references, err := r.view.References.Find(r.view, t.ID)
	known, _ := found(r, references, err)
	body := object{"is_chargeback": t.HasChargeback.Value, "stripe_charge_token": nil, "paypal_payment_id": nil}
	for _, f := range lyceum.TransactionFields() {
		if !slices.Contains(omittedTransactionFields, f.Name) {
			body[f.Name] = f.Value(t)
		}
	}
	if reference, ok := known[t.ID]; ok {
		body["stripe_charge_token"] = reference.Name
	}
	return body
}

func (r *reading) transaction(t *lyceum.Transaction) object {
	body := r.money(t)
	product, course, _ := r.product(lyceum.Some(t.PricingPlanID))
	body["user"] = r.user(t.UserID)
	body["sale"] = object{"id": t.SaleID, "course": course, "product": product, "affiliate": r.affiliate(t.AffiliateID)}
	return body
}

func (r *reading) order(o *lyceum.PurchaseOrder) object {
	product, course, _ := r.product(lyceum.Some(o.PricingPlanID))
	return object{
		"id": o.ID, "email": o.Email, "name": text(o.Name), "user_id": number(o.UserID), "school_id": r.school,
		"final_price": o.FinalPrice, "currency": o.Currency, "product": product, "course": course,
		"coupon": r.coupon(o.CouponID), "affiliate": r.affiliate(o.AffiliateID), "created_at": written(o.CreatedAt),
		"abandoned_at": moment(o.ClosedAt),
	}
}

func (r *reading) response(q *lyceum.QuizResponse) object {
	body := object{
		"id": q.ID, "custom_form_id": q.Quiz, "custom_form": nil, "submitted_at": moment(q.SubmittedAt),
		"grade": nil, "user": r.user(q.User),
	}
	var quiz *lyceum.Quiz
	a, ok, err := r.view.Attachments.First(r.view, lyceum.AttachmentFilter{Quiz: lyceum.Some(q.Quiz)})
	if _, known := found(r, a, err); ok && known {
		body["custom_form"] = object{"id": q.Quiz, "attachment": object{
			"id": a.ID, "attachable_id": a.Lecture,
			"attachable_type": "Lecture",
		}}
		quiz = a.Quiz
	}
	if q.PercentCorrect.Present && (quiz != nil || q.Counts.Present) {
		g := q.Grade(quiz)
		body["grade"] = object{"correct": g.Correct, "total": g.Total, "percent_correct": q.PercentCorrect.Value}
	}
	return body
}

func (r *reading) comment(c *lyceum.Comment) object {
	lecture := object{"attachable_type": "Lecture", "attachable_id": c.Lecture, "full_url": nil}
	if l, ok := r.lecture(c.Lecture); ok {
		lecture["full_url"] = r.base + coursePath(l.Course) + "/lectures/" + strconv.Itoa(int(l.ID))
	}
	return object{
		"id": c.ID, "body": c.Body, "status": c.Status, "parent_id": number(c.Parent()), "created_at": written(c.CreatedAt),
		"attachments": append([]lyceum.CommentAttachment{}, c.Attachments...),
		"user":        r.user(c.User),
		"commentable": lecture,
	}
}

func (r *reading) lecture(id lyceum.LectureID) (lyceum.Lecture, bool) {
	lecture, err := r.view.Lectures.Get(r.view, id)
	return found(r, lecture, err)
}

func written(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

func moment(o lyceum.Opt[time.Time]) any {
	if !o.Present {
		return nil
	}
	return written(o.Value)
}

func text[T ~string](o lyceum.Opt[T]) any {
	if !o.Present {
		return nil
	}
	return o.Value
}

func number[T ~int32](o lyceum.Opt[T]) any {
	if !o.Present {
		return nil
	}
	return o.Value
}

func money(o lyceum.Opt[lyceum.Minor]) any {
	if !o.Present {
		return nil
	}
	return o.Value
}

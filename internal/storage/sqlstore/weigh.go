package sqlstore

import "github.com/lyceum-school/lyceum"

// entriesAtOnce is how many entries of a journal are read at a time.
const entriesAtOnce = 1000

// objectsAtOnce is how many bytes the objects may have that are read at a time.
const objectsAtOnce = 8 << 20

// largest is how many bytes an object of a noun has at most: what a file can
// bring in one row. What is not named here is hugeObject.
var largest = map[string]int{
	"attachment": 1 << 20, "course": 256 << 10, "author": 256 << 10, "pricing_plan": 256 << 10,
	"sale": 1 << 10, "transaction": 1 << 10, "enrollment": 1 << 10, "progress": 1 << 10, "lecture_progress": 1 << 10,
	"quiz_response": 1 << 10, "movement": 4 << 10, "webhook": 16 << 10, "webhook_event": 1 << 10, "school": 4 << 10,
}

const hugeObject = 64 << 10

// affordable gives how many of the first entries, of which there is one, can
// have their objects read at a time.
func affordable(entries []lyceum.ChangeRecord) int {
	bytes := 0
	for i := range entries {
		size, known := largest[noun(entries[i].Type)]
		if !known {
			size = hugeObject
		}
		if bytes += size; bytes > objectsAtOnce && i > 0 {
			return i
		}
	}
	return len(entries)
}

// The bytes that a change, and an object without its texts, take in JSON.
const (
	bareChange      = 200
	bareObject      = 450
	bareTransaction = 560
)

// weigh gives how many bytes a change takes in JSON at most.
func weigh(c *lyceum.ChangeRecord) int {
	bytes := bareChange + lyceum.Weight(c.Actor)
	switch o := c.Object.(type) {
	case nil:
		return bytes
	case lyceum.Transaction:
		return bytes + bareTransaction
	case lyceum.TaggedUser:
		return bytes + bareObject + lyceum.Weight(o.Email, o.Name.Value, string(o.Role), o.Src.Value) + lyceum.Weight(o.Tags...) + len(o.Tags)
	case lyceum.Course:
		return bytes + bareObject + lyceum.Weight(o.Name, o.Heading.Value, o.Description.Value, o.ImageURL.Value)
	case lyceum.PricingPlan:
		return bytes + 2*bareObject + lyceum.Weight(o.Name, o.Description.Value, o.BillingInterval.Value, o.AccessLimitInterval.Value)
	case lyceum.AuthorProfile:
		return bytes + bareObject + lyceum.Weight(o.Name.Value, o.Bio.Value, o.ProfileImageURL.Value)
	case lyceum.AffiliatePartner:
		return bytes + bareObject + lyceum.Weight(o.Name.Value)
	case lyceum.Coupon:
		return bytes + bareObject + lyceum.Weight(o.Code.Value)
	case lyceum.LectureSection:
		return bytes + bareObject + lyceum.Weight(o.Name)
	case lyceum.Lecture:
		return bytes + bareObject + lyceum.Weight(o.Name.Value)
	case lyceum.Attachment:
		return bytes + bareObject + lyceum.Weight(o.Name.Value, o.URL.Value, o.Text.Value)
	case lyceum.Comment:
		return bytes + bareObject + lyceum.Weight(o.Body)
	case lyceum.Movement:
		return bytes + bareObject + lyceum.Weight(o.Reason.Value, o.Reference.Value)
	case lyceum.PurchaseOrder:
		return bytes + bareObject + lyceum.Weight(o.Email, o.Name.Value)
	case lyceum.Webhook:
		return bytes + bareObject + lyceum.Weight(o.URL, o.EventTrigger)
	case lyceum.Progress:
		return bytes + bareObject + lyceum.Weight(o.Certificate.Value.SerialNumber)
	case lyceum.School:
		return bytes + bareObject + lyceum.Weight(o.Name)
	}
	return bytes + bareObject
}

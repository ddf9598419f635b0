package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/internal/storage/storetest"
)

// lena and noah are learners of learnerRows.
const (
	lena lyceum.UserID = 700
	noah lyceum.UserID = 701
)

// lenasIDs fill the parameters of a path with the ids of what Lena has.
const lenasIDs = "course_id=1 lecture_id=11 attachment_id=101 video_id=103 quiz_id=107 digital_download_id=701 " +
	"product_collection_id=701 membership_id=701 purchase_id=701 transaction_id=701 comment_id=700"

// lenasComment is the comment of lenasIDs.
var lenasComment = lyceum.Comment{
	ID: 700, Lecture: 11, Course: 1, User: lena, Status: lyceum.CommentApproved, Body: "Well turned", CreatedAt: storetest.Day(9),
	UpdatedAt: storetest.Day(9),
}

// mine returns rows of an operation that Lena's app calls.
func mine(op string, rows ...requestCase) []requestCase {
	for i := range rows {
		if rows[i].face, rows[i].op = "v2", op; rows[i].user == 0 {
			rows[i].user = lena
		}
	}
	return rows
}

// learnerRows are derived from contract/v2/my_products.yaml, my_memberships.yaml and
// my_purchases.yaml, and from learnersShelf.
var learnerRows = slicesOf(
	mine("listCurrentUserProducts",
		requestCase{name: "of every type, the last first", prepare: learnersShelf, golden: "v2/my_products.json"},
		requestCase{name: "of a type", query: "type=digital_download", golden: "v2/my_downloads.json"},
		requestCase{name: "of another type", query: "type=membership_tier&per_page=1", says: `"href":"/v2/current_user/memberships/701","enrolled_at":"2024-01-06T12:00:00Z","expires_at":null}],"meta":{"page":1,"per_page":1,"total_pages":2,"total_count":2}}`},
		requestCase{name: "the second page", query: "per_page=3&page=3", says: `"meta":{"page":3,"per_page":3,"total_pages":3,"total_count":8}`},
		requestCase{name: "beyond the last", query: "page=9", says: `{"data":[],"meta":{"page":9,"per_page":25,"total_pages":1,"total_count":8}}`},
		requestCase{name: "of somebody with nothing", user: noah, says: `{"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}}`},
		requestCase{name: "mistakes", query: "type=bundle&page=0&per_page=101", status: 400, golden: "v2/my_products_mistakes.json"},
	),
	mine("listCurrentUserDigitalDownloads",
		requestCase{name: "published ones they have now", golden: "v2/my_downloads.json"},
		requestCase{name: "of somebody with nothing", user: noah, says: `"total_count":0}`},
		requestCase{name: "mistakes", query: "per_page=0", status: 400, says: "per_page must be an integer from 1 to 100"},
	),
	mine("showCurrentUserDigitalDownload",
		requestCase{name: "one", values: "digital_download_id=701", golden: "v2/my_download.json"},
		requestCase{name: "not published", values: "digital_download_id=702", status: 404, says: `{"error":"resource_not_found","error_description":"there is no digital download 702"}`},
		requestCase{name: "over", values: "digital_download_id=703", status: 404, says: "there is no digital download 703"},
		requestCase{name: "not theirs", values: "digital_download_id=701", user: noah, status: 404, says: "there is no digital download 701"},
		requestCase{name: "unknown", values: "digital_download_id=999", status: 404, says: "there is no digital download 999"},
	), badPaths("v2", "showCurrentUserDigitalDownload", "digital_download_id", ""),
	mine("listCurrentUserDigitalDownloadAttachments",
		requestCase{name: "with links", values: "digital_download_id=701", golden: "v2/my_download_attachments.json"},
		requestCase{name: "the second page", values: "digital_download_id=701", query: "page=2&per_page=1", says: `"meta":{"page":2,"per_page":1,"total_pages":2,"total_count":2}`},
		requestCase{name: "beyond the last", values: "digital_download_id=701", query: "page=9", says: `{"data":[],"meta":{"page":9,"per_page":20,"total_pages":1,"total_count":2}}`},
		requestCase{name: "not published", values: "digital_download_id=702", status: 404, says: "there is no digital download 702"},
		requestCase{name: "over", values: "digital_download_id=703", status: 404, says: "there is no digital download 703"},
		requestCase{name: "not theirs", values: "digital_download_id=701", user: noah, status: 404, says: "there is no digital download 701"},
		requestCase{name: "unknown", values: "digital_download_id=999", status: 404, says: "there is no digital download 999"},
		requestCase{name: "mistakes", values: "digital_download_id=701", query: "page=0&per_page=101", status: 400, says: "per_page must be an integer from 1 to 100"},
	), badPaths("v2", "listCurrentUserDigitalDownloadAttachments", "digital_download_id", ""),
	mine("listCurrentUserProductCollections",
		requestCase{name: "published ones they have now", golden: "v2/my_collections.json"},
		requestCase{name: "of somebody with nothing", user: noah, says: `"total_count":0}`},
		requestCase{name: "mistakes", query: "page=x", status: 400, says: "page must be an integer"},
	),
	mine("showCurrentUserProductCollection",
		requestCase{name: "one that ends", values: "product_collection_id=701", golden: "v2/my_collection.json"},
		requestCase{name: "one that comes with a tier", values: "product_collection_id=703", says: `"enrolled_at":"2024-01-06T12:00:00Z","expires_at":null`},
		requestCase{name: "not published", values: "product_collection_id=702", status: 404, says: "there is no product collection 702"},
		requestCase{name: "not theirs", values: "product_collection_id=701", user: noah, status: 404, says: "there is no product collection 701"},
	), badPaths("v2", "showCurrentUserProductCollection", "product_collection_id", ""),
	mine("listCurrentUserCollectionProducts",
		requestCase{name: "without what is blocked or not published", values: "product_collection_id=701", golden: "v2/my_collection_products.json"},
		requestCase{name: "the second page", values: "product_collection_id=701", query: "page=2&per_page=1", says: `"meta":{"page":2,"per_page":1,"total_pages":2,"total_count":2}`},
		requestCase{name: "not published", values: "product_collection_id=702", status: 404, says: "there is no product collection 702"},
		requestCase{name: "not theirs", values: "product_collection_id=701", user: noah, status: 404, says: "there is no product collection 701"},
	),
	mine("listCurrentUserMemberships",
		requestCase{name: "with the tier they got last", golden: "v2/my_memberships.json"},
		requestCase{name: "of somebody with nothing", user: noah, says: `"total_count":0}`},
	),
	mine("showCurrentUserMembership",
		requestCase{name: "with its products", values: "membership_id=701", golden: "v2/my_membership.json"},
		requestCase{name: "with a tier that is not published", values: "membership_id=702", status: 404, says: "there is no membership 702"},
		requestCase{name: "not theirs", values: "membership_id=701", user: noah, status: 404, says: "there is no membership 701"},
	), badPaths("v2", "showCurrentUserMembership", "membership_id", ""),
	mine("listCurrentUserPurchases",
		requestCase{name: "newest first", golden: "v2/my_purchases.json"},
		requestCase{name: "active", query: "is_active=true", says: `"total_count":2}`},
		requestCase{name: "not active", query: "is_active=false", says: `"total_count":1}`},
		requestCase{name: "purchased after is excluded", query: "purchased_after=2024-01-05T12:00:00Z", says: `"total_count":1}`},
		requestCase{name: "purchased before is included", query: "purchased_before=2024-01-05T12:00:00Z", says: `"total_count":2}`},
		requestCase{name: "of somebody else", user: noah, says: `"total_count":1}`},
		requestCase{name: "mistakes", query: "is_active=maybe&purchased_after=x&purchased_before=y&page=0", status: 400, says: "is_active must be"},
	),
	mine("showCurrentUserPurchase",
		requestCase{name: "one", values: "purchase_id=701", golden: "v2/my_purchase.json"},
		requestCase{name: "of what they have no access to now", values: "purchase_id=703", says: `"product":{"id":2,"type":"course","name":"Welding ours"}`},
		requestCase{name: "of somebody else", values: "purchase_id=701", user: noah, status: 404, says: `{"error":"resource_not_found","error_description":"there is no purchase 701"}`},
		requestCase{name: "unknown", values: "purchase_id=999", status: 404, says: "there is no purchase 999"},
	), badPaths("v2", "showCurrentUserPurchase", "purchase_id", ""),
	mine("listCurrentUserTransactions",
		requestCase{name: "newest first", golden: "v2/my_transactions.json"},
		requestCase{name: "of a purchase", query: "purchase_id=702", says: `"total_count":1}`},
		requestCase{name: "of a purchase of somebody else", query: "purchase_id=704", says: `"total_count":0}`},
		requestCase{name: "created after is excluded", query: "created_after=2024-01-05T12:00:00Z", says: `"total_count":1}`},
		requestCase{name: "created before is included", query: "created_before=2024-01-05T12:00:00Z", says: `"total_count":2}`},
		requestCase{name: "of somebody else", user: noah, says: `"total_count":1}`},
		requestCase{name: "mistakes", query: "purchase_id=x&created_after=x&per_page=0", status: 400, says: "purchase_id must be an integer"},
	),
	mine("showCurrentUserTransaction",
		requestCase{name: "one", values: "transaction_id=702", golden: "v2/my_transaction.json"},
		requestCase{name: "of somebody else", values: "transaction_id=702", user: noah, status: 404, says: `{"error":"resource_not_found","error_description":"there is no transaction 702"}`},
		requestCase{name: "unknown", values: "transaction_id=999", status: 404, says: "there is no transaction 999"},
	), badPaths("v2", "showCurrentUserTransaction", "transaction_id", ""),
)

// learnerContentsRows are derived from contract/v2/lectures.yaml and completions.yaml. Lena has
// had course 1 since learnerRows.
var learnerContentsRows = slicesOf(
	mine("listCurrentUserAttachments",
		requestCase{name: "in order", prepare: hideAttachments, values: "course_id=1 lecture_id=11", query: "per_page=3", golden: "v2/my_attachments.json"},
		requestCase{name: "without what is not published", values: "course_id=3 lecture_id=31", says: `{"data":[],"meta":{"page":1,"per_page":25,"total_pages":0,"total_count":0}}`},
		requestCase{name: "of a lecture that is not published", values: "course_id=1 lecture_id=14", status: 404, says: `{"error":"resource_not_found","error_description":"there is no lecture 14 in course 1"}`},
		requestCase{name: "of a section that is not published", values: "course_id=1 lecture_id=15", status: 404, says: "there is no lecture 15 in course 1"},
		requestCase{name: "of a course that they are kept out of", values: "course_id=4 lecture_id=11", status: 404, says: "there is no course 4"},
		requestCase{name: "not theirs", values: "course_id=1 lecture_id=11", user: noah, status: 404, says: "there is no course 1"},
		requestCase{name: "mistakes", values: "course_id=1 lecture_id=11", query: "page=0&per_page=x", status: 400, says: "page must be an integer"},
	),
	mine("showCurrentUserAttachment",
		requestCase{name: "one", values: "course_id=1 lecture_id=11 attachment_id=103", says: `"href":"/v2/current_user/courses/1/lectures/11/attachments/103"`},
		requestCase{name: "not published", values: "course_id=1 lecture_id=12 attachment_id=121", status: 404, says: "there is no attachment 121 in lecture 12"},
		requestCase{name: "of another lecture", values: "course_id=1 lecture_id=12 attachment_id=103", status: 404, says: "there is no attachment 103 in lecture 12"},
		requestCase{name: "not theirs", values: "course_id=1 lecture_id=11 attachment_id=103", user: noah, status: 404, says: "there is no course 1"},
	), badPaths("v2", "showCurrentUserAttachment", "attachment_id", "course_id=1 lecture_id=11"),
	mine("showCurrentUserVideo",
		requestCase{name: "ready", values: "course_id=1 lecture_id=11 video_id=103", golden: "v2/my_video.json"},
		requestCase{name: "not published", values: "course_id=1 lecture_id=12 video_id=121", status: 404, says: "there is no video 121 in lecture 12"},
		requestCase{name: "another kind", values: "course_id=1 lecture_id=11 video_id=101", status: 404, says: "there is no video 101 in lecture 11"},
		requestCase{name: "not theirs", values: "course_id=1 lecture_id=11 video_id=103", user: noah, status: 404, says: "there is no course 1"},
	), badPaths("v2", "showCurrentUserVideo", "video_id", "course_id=1 lecture_id=11"),
	mine("deleteCurrentUserCompletion",
		requestCase{name: "not complete", values: "course_id=1 lecture_id=11", status: 204},
	),
	mine("putCurrentUserCompletion", requestCase{name: "to take back", values: "course_id=1 lecture_id=11", says: `"completed":true`}),
	mine("showCurrentUserCourseProgress", requestCase{name: "before it is taken back", values: "course_id=1", says: `"percent_complete":33`}),
	mine("deleteCurrentUserCompletion",
		requestCase{name: "complete", values: "course_id=1 lecture_id=11", status: 204},
		requestCase{name: "again", values: "course_id=1 lecture_id=11", status: 204},
		requestCase{name: "not published", values: "course_id=1 lecture_id=14", status: 404, says: "there is no lecture 14 in course 1"},
		requestCase{name: "not theirs", values: "course_id=1 lecture_id=11", user: noah, status: 404, says: "there is no course 1"},
	),
	mine("showCurrentUserCompletion", requestCase{name: "taken back", values: "course_id=1 lecture_id=11", says: `{"data":{"completed":false,"completed_at":null}}`}),
	mine("showCurrentUserCourseProgress", requestCase{name: "after it is taken back", values: "course_id=1", says: `"percent_complete":0`}),
	own("listChanges", requestCase{name: "of what was taken back", query: "types=lecture_progress.deleted&limit=100", says: `"type":"lecture_progress.deleted"`}),
)

// profileRows are derived from contract/v2/current_user.yaml. The servers of these tests cannot
// send email; TestLearnersConfirmTheirAddress covers those that can.
var profileRows = slicesOf(
	mine("updateCurrentUser",
		requestCase{name: "no body", golden: "v2/my_profile.json"},
		requestCase{name: "nothing", body: `{}`, golden: "v2/my_profile.json"},
		requestCase{name: "what can be changed", body: `{"name":"Lena & Co ours","phone_number":"+49 30 123","allow_marketing_emails":true}`, golden: "v2/my_profile_changed.json"},
		requestCase{name: "the same again", body: `{"name":"Lena & Co ours","phone_number":"+49 30 123","allow_marketing_emails":true}`, golden: "v2/my_profile_changed.json"},
		requestCase{name: "cleared", body: `{"name":null,"phone_number":" "}`, says: `"name":null,"email":"lena@example.com","role":"student","phone_number":null,"allow_marketing_emails":true}`},
		requestCase{name: "the address that they have", body: `{"email":"lena@example.com"}`, says: `"allow_marketing_emails":true}`},
		requestCase{name: "another address where there is no email", body: `{"name":"Nobody","email":"new@example.com"}`, status: 409, says: `{"error":"email_unavailable","error_description":"This school cannot send email,`},
		requestCase{name: "a password", body: `{"password":"four other words entirely"}`, status: 400, says: `{"error":"invalid_request","error_description":"password cannot be changed by an app; the learner changes it on the school's sign-in page"}`},
		requestCase{name: "a role", body: `{"role":"owner"}`, status: 400, says: `"role is not accepted here; accepted: name, phone_number, allow_marketing_emails, email"`},
		requestCase{name: "a role and a password", body: `{"role":"owner","password":null}`, status: 400, says: `accepted: name, phone_number, allow_marketing_emails, email; password cannot be changed by an app`},
		requestCase{name: "mistakes", body: `{"name":1,"email":[],"phone_number":{},"allow_marketing_emails":"maybe"}`, status: 400, says: "allow_marketing_emails must be true or false"},
		requestCase{name: "too long", body: `{"name":"` + strings.Repeat("n", 256) + `","phone_number":"` + strings.Repeat("1", 51) + `"}`, status: 400, says: "phone_number must be at most 50 characters long"},
		requestCase{name: "no address", body: `{"email":"Lena <lena@example.com>"}`, status: 400, says: "email must be an email address such as learner@example.com"},
	),
	mine("getCurrentUser", requestCase{name: "as it was left", says: `{"id":700,"name":null,"email":"lena@example.com","role":"student"}`}),
	own("listChanges", requestCase{name: "of a profile", query: "types=user.updated&limit=100", says: `"event":"User.subscribe_to_marketing_emails"`}),
)

// hideAttachments hides the video of lecture 12 and the text of lecture 31 from learners.
func hideAttachments(t *testing.T, k *class) {
	storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error {
		for _, id := range []lyceum.AttachmentID{121, 122} {
			a, err := tx.Attachments.Get(tx, id)
			if err != nil {
				return err
			}
			a.IsPublished = lyceum.Some(false)
			if err := tx.Attachments.Update(tx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// learnersShelf gives Lena products of every type, some of them expired, not published or
// blocked. Noah has only bought.
func learnersShelf(t *testing.T, k *class) {
	at := storetest.Day
	say, once := lyceum.Some[string], lyceum.OneTimePayment
	product := func(kind lyceum.ProductKind, id int32) lyceum.Product { return lyceum.Product{Kind: kind, ID: id} }
	course := func(id int32) lyceum.Product { return product(lyceum.CourseKind, id) }
	storetest.Write(t, k.store, k.ours.id, func(tx lyceum.Tx) error {
		all := []error{}
		add := func(_ lyceum.Saved, err error) { all = append(all, err) }
		add(tx.Users.Save(tx,
			lyceum.User{ID: lena, Email: "lena@example.com", Name: say("Lena ours"), Role: lyceum.Student, CreatedAt: at(2), PasswordHash: say(goodHash())},
			lyceum.User{ID: noah, Email: "noah@example.com", Name: say("Noah ours"), Role: lyceum.Student, CreatedAt: at(2), PasswordHash: say(goodHash())},
		))
		add(tx.QuizResponses.Save(tx, lyceum.QuizResponse{ID: 700, Quiz: 901, User: lena, CreatedAt: at(9), UpdatedAt: at(9)}))
		add(tx.DigitalDownloads.Save(tx,
			lyceum.DigitalDownload{ID: 701, Name: "Patterns", Description: say("To print"), ImageURL: say("https://files.example.com/p.jpg"), IsPublished: true, CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.DigitalDownload{ID: 702, Name: "Draft patterns", CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.DigitalDownload{ID: 703, Name: "Old patterns", IsPublished: true, CreatedAt: at(1), UpdatedAt: at(1)},
		))
		add(tx.DownloadAttachments.Save(tx,
			lyceum.DownloadAttachment{ID: 701, DigitalDownloadID: 701, Kind: lyceum.DownloadFile, URL: "https://files.example.com/p.pdf", Filename: say("Patterns.PDF"), SizeInBytes: lyceum.Some[int64](5_000_000_000), CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.DownloadAttachment{ID: 702, DigitalDownloadID: 701, Kind: lyceum.DownloadFile, URL: "https://files.example.com/LICENCE", Filename: say("LICENCE"), SizeInBytes: lyceum.Some[int64](11), CreatedAt: at(1), UpdatedAt: at(2)},
			lyceum.DownloadAttachment{ID: 703, DigitalDownloadID: 702, Kind: lyceum.DownloadRedirect, URL: "https://draft.example.com/", ButtonText: say("Look"), CreatedAt: at(1), UpdatedAt: at(1)},
		))
		add(tx.Coaching.Save(tx,
			lyceum.Coaching{ID: 701, Name: "Critique", IsPublished: true, CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.Coaching{ID: 702, Name: "Talks", IsPublished: true, CreatedAt: at(1), UpdatedAt: at(1)},
		))
		add(tx.ProductCollections.Save(tx,
			lyceum.ProductCollection{ID: 701, Name: "Atelier", Description: say("All of it"), IsPublished: true, CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.ProductCollection{ID: 702, Name: "Draft atelier", CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.ProductCollection{ID: 703, Name: "Extras", IsPublished: true, CreatedAt: at(1), UpdatedAt: at(1), ArchivedAt: lyceum.Some(at(2))},
		))
		add(tx.Memberships.Save(tx,
			lyceum.Membership{ID: 701, Name: "Club", Description: say("Meets on Fridays"), ImageURL: say("https://files.example.com/c.jpg"), IsPublished: true, CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.Membership{ID: 702, Name: "Circle", IsPublished: true, CreatedAt: at(1), UpdatedAt: at(1)},
		))
		add(tx.MembershipTiers.Save(tx,
			lyceum.MembershipTier{ID: 701, MembershipID: 701, Name: "Silver", Position: 1, IsPublished: true, CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.MembershipTier{ID: 702, MembershipID: 701, Name: "Gold", Description: say("With critique"), Position: 2, IsPublished: true, CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.MembershipTier{ID: 703, MembershipID: 702, Name: "Draft", Position: 1, CreatedAt: at(1), UpdatedAt: at(1)},
		))
		add(tx.PricingPlans.Save(tx,
			lyceum.PricingPlan{ID: 701, Other: lyceum.Some(product(lyceum.TierKind, 702)), Name: "Gold monthly", Price: 1000, Currency: "USD", Frequency: lyceum.Subscription, BillingInterval: say("month"), BillingIntervalCount: lyceum.Some[int32](1), CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.PricingPlan{ID: 702, Other: lyceum.Some(product(lyceum.CollectionKind, 701)), Name: "Atelier", Price: 5000, Currency: "EUR", Frequency: once, CreatedAt: at(1), UpdatedAt: at(1)},
			lyceum.PricingPlan{ID: 703, CourseID: lyceum.Some(lyceum.CourseID(2)), Name: "Welding", Price: 700, Currency: "USD", Frequency: once, CreatedAt: at(1), UpdatedAt: at(1)},
		))
		return errors.Join(append(all, sellShelf(tx), shelve(tx, product, course))...)
	})
	k.authorize(t, k.ours, lena, "lena@example.com", lyceum.V2)
	k.authorize(t, k.ours, noah, "noah@example.com", lyceum.V2)
}

// shelve fills collections and tiers, and gives Lena her products.
func shelve(
	tx lyceum.Tx, product func(lyceum.ProductKind, int32) lyceum.Product, course func(int32) lyceum.Product,
) error {
	at, all := storetest.Day, []error{}
	add := func(_ lyceum.Saved, err error) { all = append(all, err) }
	for n, p := range []lyceum.Product{course(1), course(2), course(4), product(lyceum.DownloadKind, 701)} {
		add(tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: lyceum.CollectionProductID(701 + n), In: 701, Product: p, CreatedAt: at(1)}))
	}
	add(tx.CollectionProducts.Save(tx, lyceum.CollectionProduct{ID: 711, In: 703, Product: course(1), CreatedAt: at(1)}))
	for n, p := range []lyceum.Product{
		course(4), product(lyceum.DownloadKind, 701), product(lyceum.CollectionKind, 703), product(lyceum.CoachingKind, 701),
	} {
		add(tx.TierProducts.Save(tx, lyceum.TierProduct{ID: lyceum.TierProductID(701 + n), In: 702, Product: p, CreatedAt: at(1)}))
	}
	sale := lyceum.Some[lyceum.SaleID]
	for n, e := range []lyceum.Entitlement{
		{Product: course(3), StartsAt: at(3)},
		{Product: product(lyceum.CollectionKind, 701), Sale: sale(702), StartsAt: at(5), EndsAt: lyceum.Some(at(40))},
		{Product: product(lyceum.TierKind, 702), Sale: sale(701), StartsAt: at(6)},
		{Product: product(lyceum.TierKind, 701), StartsAt: at(4)},
		{Product: product(lyceum.TierKind, 703), StartsAt: at(4)},
		{Product: product(lyceum.DownloadKind, 702), StartsAt: at(7)},
		{Product: product(lyceum.DownloadKind, 703), StartsAt: at(7), EndsAt: lyceum.Some(at(9))},
		{Product: product(lyceum.CollectionKind, 702), StartsAt: at(7)},
		{Product: product(lyceum.CoachingKind, 702), StartsAt: at(7), EndedAt: lyceum.Some(at(8)), EndReason: lyceum.Some(lyceum.EndedByUnenrollment)},
	} {
		e.ID, e.User = lyceum.EntitlementID(7001+n), lena
		add(tx.Entitlements.Save(tx, e))
	}
	add(tx.Enrollments.Save(tx,
		lyceum.Enrollment{ID: 7001, User: lena, Course: 3, EnrolledAt: at(3)},
		lyceum.Enrollment{ID: 7002, User: lena, Course: 1, EnrolledAt: at(5), Sale: sale(702)},
	))
	add(tx.Progress.Save(tx, lyceum.Progress{ID: 7001, User: lena, Course: 3}, lyceum.Progress{ID: 7002, User: lena, Course: 1}))
	add(tx.Blocks.Save(tx, lyceum.Block{ID: 701, User: lena, Product: course(4), CreatedAt: at(8)}))
	return errors.Join(all...)
}

// sellShelf saves the purchases 701 to 703 of Lena, the last one refunded, and 704 of Noah.
func sellShelf(tx lyceum.Tx) error {
	at, all := storetest.Day, []error{}
	for n, x := range []lyceum.Transaction{
		{UserID: lena, PricingPlanID: 701, FinalPrice: 1000, Charge: 1190, TaxCharge: 190, Revenue: 900, Currency: "USD", CreatedAt: at(6), AffiliateID: lyceum.Some(lyceum.AffiliateID(1)), AffiliateFees: 100},
		{UserID: lena, PricingPlanID: 702, FinalPrice: 5000, Charge: 5400, Revenue: 5000, Currency: "EUR", CreatedAt: at(5)},
		{UserID: lena, PricingPlanID: 703, FinalPrice: 700, Charge: 700, Revenue: 700, Currency: "USD", CreatedAt: at(2), RefundedAt: lyceum.Some(at(3)), AmountRefunded: 700},
		{UserID: noah, PricingPlanID: 703, FinalPrice: 700, Charge: 700, Revenue: 700, Currency: "USD", CreatedAt: at(2)},
	} {
		x.ID, x.SaleID, x.PurchasedAt, x.Paid = lyceum.TransactionID(701+n), lyceum.SaleID(701+n), x.CreatedAt, true
		sale := lyceum.SaleOf(&x)
		if sale.Released = x.FullyRefunded(); n == 0 {
			sale.BillingAnchor, sale.PaidUntil = lyceum.Some(at(6)), lyceum.Some(at(6).AddDate(0, 1, 0))
		}
		_, saleErr := tx.Sales.Save(tx, sale)
		_, moneyErr := tx.Transactions.Save(tx, x)
		all = append(all, saleErr, moneyErr)
	}
	return errors.Join(all...)
}

// holdMany gives Mira what sellOnce sells under id 1, and n other products of every kind.
func holdMany(tx lyceum.Tx, n int32) error {
	all, ids := []error{}, []int32{1}
	for id := int32(3000); id < 3000+n; id++ {
		ids = append(ids, id)
		all = append(all, bundleOnce(tx, id))
	}
	for _, id := range ids {
		for _, kind := range []lyceum.ProductKind{lyceum.CollectionKind, lyceum.TierKind, lyceum.CoachingKind} {
			all = append(all, hold(tx, lyceum.Entitlement{Product: lyceum.Product{Kind: kind, ID: id}, Sale: lyceum.Some[lyceum.SaleID](1)}))
		}
	}
	all = append(all, hold(tx, lyceum.Entitlement{Product: lyceum.Product{Kind: lyceum.DownloadKind, ID: 1}}))
	return errors.Join(all...)
}

// hold gives Mira an entitlement.
func hold(tx lyceum.Tx, e lyceum.Entitlement) error {
	var err error
	if e.ID, err = tx.Entitlements.NextID(tx); err != nil {
		return err
	}
	e.User, e.StartsAt = mira, storetest.Day(5)
	_, err = tx.Entitlements.Save(tx, e)
	return err
}

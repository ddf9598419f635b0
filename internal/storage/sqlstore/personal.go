package sqlstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

// personalTable is a table with rows about a person, whose user id is $2.
type personalTable struct {
	noun, table string
	where       string // empty means user_id = $2
	columns     string
	// kept are the columns that are not handed over: secrets and derived values.
	kept string
}

const (
	ofTheirSales        = "sale_id IN (SELECT s.sale_id FROM sales s WHERE s.school_id = $1 AND s.user_id = $2)"
	ofTheirTransactions = "transaction_id IN (SELECT t.transaction_id FROM transactions t WHERE t.school_id = $1 " +
		"AND t.user_id" + byYear + " = $2)"
	ofThem = "object_id = $2 AND (type LIKE 'user.%' OR type LIKE 'staff!_member.%' ESCAPE '!')"
)

// personalTables lists all that a school stores about a person. A test compares it with the
// schema.
var personalTables = []personalTable{
	{
		"profile", "users", "",
		"user_id email name role src created_at disabled_at last_sign_in_at last_sign_in_ip must_change_password " +
			"phone_number marketing notes updated_at",
		"email_key name_key password_hash erased_at",
	},
	{"tags", "user_tags", "", "name", "user_id"},
	{
		"sales", "sales", "",
		"sale_id created_at user_id pricing_plan_id coupon_id affiliate_id author_id final_price currency paid_until " +
			"ended_at end_reason replaces replaced_by next_plan_id stopped billing_anchor paid_in_full stops_at due_at " +
			"to_stop_at grace_from failed_at billed_since purchased_at updated_at payment_method payment_gateway",
		"released",
	},
	{
		"transactions", "transactions", ofTheirTransactions,
		"transaction_id user_id pricing_plan_id sale_id created_at purchased_at charge final_price currency tax_charge " +
			"revenue paid has_chargeback chargeback_fee affiliate_id affiliate_fees author_id author_fees coupon_id " +
			"refunded_at amount_refunded",
		"",
	},
	{"payment_references", "charge_references", ofTheirTransactions, "transaction_id reference", "reference_key"},
	{
		"refunds", "movements", ofTheirTransactions,
		"movement_id transaction_id sale_id kind amount refunded at reason reference tax tax_refunded dispute_id",
		"reference_key",
	},
	{
		"disputes", "disputes", ofTheirTransactions,
		"dispute_id transaction_id sale_id amount tax fee fee_returned state opened_at closed_at reason reference",
		"reference_key",
	},
	{
		"receipts", "receipts", "",
		"receipt_id transaction_id movement_id user_id seller_id issued_at paid_at item currency price tax", "",
	},
	{
		"failed_payments", "payment_failures", ofTheirSales,
		"payment_failure_id sale_id occurred_at reason next_attempt_at reference", "reference_key",
	},
	{
		"sale_warnings", "sale_warnings", ofTheirSales,
		"sale_warning_id sale_id code message created_at dismissed_at", "",
	},
	{
		"orders", "orders",
		"(user_id = $2 OR user_id IS NULL AND " +
			"LOWER(email) = (SELECT u.email_key FROM users u WHERE u.school_id = $1 AND u.user_id = $2))",
		"order_id email name user_id pricing_plan_id coupon_id affiliate_id final_price currency state created_at " +
			"abandons_at closed_at sale_id return_url", "",
	},
	{
		"access", "entitlements", "",
		"entitlement_id user_id product_type product_id sale_id imported starts_at ends_at ended_at end_reason kept_from", "",
	},
	{"blocks", "blocks", "", "block_id user_id product_type product_id created_at", ""},
	{
		"enrollments", "enrollments", "",
		"enrollment_id user_id course_id enrolled_at expires_at ended_at sale_id", "",
	},
	{
		"coaching", "admissions", "",
		"admission_id user_id coaching_id sale_id admitted_at expires_at ended_at", "",
	},
	{
		"progress", "progress", "",
		"progress_id user_id course_id percent_complete completed_at certificate_issued_at certificate_page_id " +
			"certificate_serial_number", "",
	},
	{
		"completed_lectures", "lecture_progress", "",
		"lecture_progress_id user_id course_id lecture_id completed_at", "",
	},
	{
		"quiz_responses", "quiz_responses", "",
		"quiz_response_id quiz_id user_id submitted_at percent_correct correct answered total answers created_at updated_at",
		"",
	},
	{
		"comments", "comments", "",
		"comment_id lecture_id course_id user_id status body attachments created_at updated_at", "above thread_id",
	},
	{
		"apps", "grants", "",
		"grant_id oauth_app_id user_id scopes created_at last_used_at revoked_at", "",
	},
	{"sessions", "sessions", "", "created_at seen_at address browser confirmed_at", "hash user_id"},
	{"links", "links", "", "purpose created_at expires_at used_at email", "hash user_id made_by"},
	{"second_factors", "second_factors", "", "created_at", "user_id sealed step"},
	{
		"passkeys", "passkeys", "", "name created_at last_used_at",
		"hash user_id credential public_key uses flags",
	},
	{"recovery_codes", "recovery_codes", "", "created_at", "hash user_id"},
	{
		"emails", "emails", "",
		"email_id kind user_id address message_id state created_at tries next_attempt_at closed_at problem about", "shown",
	},
	{"author", "authors", "", "author_id name bio profile_image_url user_id share archived_at", ""},
	{"affiliate", "affiliates", "", "affiliate_id name user_id share cookie_days archived_at", ""},
	{"staff", "staff_members", "", "user_id role updated_at", ""},
	{
		"api_keys", "api_keys", "",
		"api_key_id name permissions last_four created_at last_used_at revoked_at user_id", "hash",
	},
	{
		"failed_requests", "failed_requests", "",
		"failed_request_id request_id at method path status took actor user_id message", "",
	},
	{"planned_erasure", "planned_erasures", "", "user_id due_at actor", ""},
	{"journal", "journal", ofThem, "number at actor type object_id event detail", "scarce"},
	{ // what they did to others, without what that says about these
		"journal", "journal",
		"NOT (" + ofThem + ") AND substr(actor, 1, 5) = 'user:' AND actor = 'user:' || CAST($2 AS TEXT)",
		"number at actor type object_id event", "detail scarce",
	},
}

// moments are the time columns whose names do not end with _at.
var moments = map[string]bool{
	"at": true, "paid_until": true, "billing_anchor": true, "grace_from": true, "billed_since": true,
}

// inJSON are the columns that contain JSON.
var inJSON = map[string]bool{"answers": true, "attachments": true, "detail": true}

func (v *view) EachPersonal(user lyceum.UserID, visit func(noun string, row []byte) error) error {
	for i := range personalTables {
		p := &personalTables[i]
		if err := v.eachOf(p, user, func(row []byte) error { return visit(p.noun, row) }); err != nil {
			return v.public(fmt.Errorf("read %s of a person: %w", p.table, err))
		}
	}
	return nil
}

// eachOf calls visit with each row of one table, as JSON.
func (v *view) eachOf(p *personalTable, user lyceum.UserID, visit func([]byte) error) error {
	columns := strings.Fields(p.columns)
	values, dest := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		dest[i] = scanFunc(func(value any) error {
			if raw, is := value.([]byte); is {
				value = string(raw)
			}
			values[i] = value
			return nil
		})
	}
	cond := p.where
	if cond == "" {
		cond = "user_id = $2"
	}
	var b bytes.Buffer
	return v.q.each("SELECT "+strings.Join(columns, ", ")+" FROM "+p.table+" WHERE school_id = $1 AND "+cond+
		" ORDER BY "+columns[0], []any{int64(v.school), int64(user)}, dest, func() error {
		b.Reset()
		for i, name := range columns {
			before := byte(',')
			if i == 0 {
				before = '{'
			}
			b.WriteByte(before)
			if err := writeField(&b, name, values[i]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return visit(b.Bytes())
	})
}

// writeField writes a column's name and value as JSON.
func writeField(b *bytes.Buffer, name string, value any) error {
	switch typed := value.(type) {
	case int64:
		if moments[name] || strings.HasSuffix(name, "_at") {
			value = ofMicros(typed).UTC().Format(time.RFC3339)
		}
	case string:
		if inJSON[name] && json.Valid([]byte(typed)) {
			value = json.RawMessage(typed)
		}
	}
	text, err := json.Marshal(value)
	if err == nil {
		fmt.Fprintf(b, "%q:%s", name, text)
	}
	return err
}

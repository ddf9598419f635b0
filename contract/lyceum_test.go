package contract_test

// lyceumOperations are what the document of Lyceum's own interface has.
var lyceumOperations = map[string]operation{
	"POST /lyceum/v1/sales": {"createSale", "apiKey", `
		Idempotency-Key header string`, "NewSale", "201 OneSale", onceRefusals},
	"GET /lyceum/v1/sales/{sale_id}": {"showSale", "apiKey", `
		sale_id path int32 required from 1`, "", "200 OneSale", readRefusals},
	"POST /lyceum/v1/sales/{sale_id}/renewals": {"createRenewal", "apiKey", `
		sale_id path int32 required from 1
		Idempotency-Key header string`, "NewRenewal", "201 OneTransaction", onceRefusals},
	"POST /lyceum/v1/sales/{sale_id}/cancel": {"cancelSale", "apiKey", `
		sale_id path int32 required from 1
		Idempotency-Key header string`, "", "200 OneSaleSummary", onceRefusals},
	"GET /lyceum/v1/transactions/{transaction_id}": {"showTransaction", "apiKey", `
		transaction_id path int32 required from 1`, "", "200 OneTransaction", readRefusals},
	"POST /lyceum/v1/transactions/{transaction_id}/refunds": {"createRefund", "apiKey", `
		transaction_id path int32 required from 1
		Idempotency-Key header string`, "NewRefund", "201 OneTransaction", onceRefusals},
	"POST /lyceum/v1/transactions/{transaction_id}/chargebacks": {"openChargeback", "apiKey", `
		transaction_id path int32 required from 1
		Idempotency-Key header string`, "NewChargeback", "201 OneTransaction", onceRefusals},
	"POST /lyceum/v1/transactions/{transaction_id}/chargebacks/close": {"closeChargeback", "apiKey", `
		transaction_id path int32 required from 1
		Idempotency-Key header string`, "ChargebackOutcome", "200 OneTransaction", onceRefusals},
	"POST /lyceum/v1/orders": {"createOrder", "apiKey", `
		Idempotency-Key header string`, "NewOrder", "201 OneOrder", onceRefusals},
	"GET /lyceum/v1/orders/{order_id}": {"showOrder", "apiKey", `
		order_id path int32 required from 1`, "", "200 OneOrder", readRefusals},
	"POST /lyceum/v1/orders/{order_id}/complete": {"completeOrder", "apiKey", `
		order_id path int32 required from 1
		Idempotency-Key header string`, "OrderPayment", "201 OneSale", onceRefusals},
	"POST /lyceum/v1/orders/{order_id}/abandon": {"abandonOrder", "apiKey", `
		order_id path int32 required from 1
		Idempotency-Key header string`, "", "200 OneOrder", onceRefusals},
	"GET /lyceum/v1/school":   {"showSchool", "apiKey", "", "", "200 OneSchool", readRefusals},
	"PATCH /lyceum/v1/school": {"updateSchool", "apiKey", "", "SchoolChange", "200 OneSchool", writeRefusals},
	"PUT /lyceum/v1/users/{user_id}/tags": {"setUserTags", "apiKey", `
		user_id path int32 required from 1`, "UserTags", "200 UserTags", writeRefusals},
	"POST /lyceum/v1/users/{user_id}/disable": {"disableUser", "apiKey", `
		user_id path int32 required from 1
		Idempotency-Key header string`, "", "200 OneUserState", onceRefusals},
	"POST /lyceum/v1/users/{user_id}/enable": {"enableUser", "apiKey", `
		user_id path int32 required from 1
		Idempotency-Key header string`, "", "200 OneUserState", onceRefusals},
	"GET /lyceum/v1/changes": {"listChanges", "apiKey", `
		after query int64 from 0 default 0
		limit query int32 from 1 to 10000 default 1000
		types query string
		wait query int32 from 0 to 30 default 0`, "", "200 ChangeList", readRefusals},
	"GET /lyceum/v1/events": {"listEvents", "apiKey", `
		after query int64 from 0 default 0
		limit query int32 from 1 to 1000 default 100
		types query string
		wait query int32 from 0 to 30 default 0`, "", "200 EventList", readRefusals},
	"GET /lyceum/v1/webhooks": {"listWebhooks", "apiKey", "", "", "200 WebhookList", readRefusals},
	"POST /lyceum/v1/webhooks": {"createWebhook", "apiKey", `
		Idempotency-Key header string`, "NewWebhook", "201 WebhookWithSecret", onceRefusals},
	"GET /lyceum/v1/webhooks/{webhook_id}": {"showWebhook", "apiKey", `
		webhook_id path int32 required from 1`, "", "200 OneWebhook", readRefusals},
	"PATCH /lyceum/v1/webhooks/{webhook_id}": {"updateWebhook", "apiKey", `
		webhook_id path int32 required from 1`, "WebhookChange", "200 OneWebhook", changeRefusals},
	"DELETE /lyceum/v1/webhooks/{webhook_id}": {"deleteWebhook", "apiKey", `
		webhook_id path int32 required from 1`, "", "204", orderRefusals},
	"POST /lyceum/v1/webhooks/{webhook_id}/secret": {"rotateWebhookSecret", "apiKey", `
		webhook_id path int32 required from 1
		Idempotency-Key header string`, "", "201 WebhookWithSecret", onceRefusals},
	"POST /lyceum/v1/webhooks/{webhook_id}/test": {"testWebhook", "apiKey", `
		webhook_id path int32 required from 1
		Idempotency-Key header string`, "WebhookTest", "201 OneDelivery", onceRefusals},
	"POST /lyceum/v1/webhooks/{webhook_id}/resume": {"resumeWebhook", "apiKey", `
		webhook_id path int32 required from 1
		Idempotency-Key header string`, "WebhookResume", "200 OneWebhook", onceRefusals},
	"POST /lyceum/v1/webhooks/{webhook_id}/resend": {"resendDeliveries", "apiKey", `
		webhook_id path int32 required from 1
		Idempotency-Key header string`, "ResendRequest", "200 Resent", onceRefusals},
	"GET /lyceum/v1/webhooks/{webhook_id}/deliveries": {"listDeliveries", "apiKey", `
		webhook_id path int32 required from 1
		state query string pending delivered failed
		page query int32 from 1 default 1
		per_page query int32 from 1 to 100 default 25`, "", "200 DeliveryList", readRefusals},
	"GET /lyceum/v1/deliveries/{delivery_id}": {"showDelivery", "apiKey", `
		delivery_id path int32 required from 1
		after query int32 from 0 default 0`, "", "200 OneDeliveryDetail", readRefusals},
	"POST /lyceum/v1/deliveries/{delivery_id}/resend": {"resendDelivery", "apiKey", `
		delivery_id path int32 required from 1
		Idempotency-Key header string`, "", "200 OneDelivery", onceRefusals},
	"POST /lyceum/v1/quizzes/{quiz_id}/responses": {"createQuizResponse", "apiKey", `
		quiz_id path int32 required from 1
		Idempotency-Key header string`, "NewQuizResponse", "201 OneQuizResponse", onceRefusals},
	"GET /lyceum/v1/lectures/{lecture_id}/comments": {"listComments", "apiKey", `
		lecture_id path int32 required from 1
		page query int32 from 1 default 1
		per_page query int32 from 1 to 100 default 25
		after query int32 from 0`, "", "200 CommentList", readRefusals},
	"POST /lyceum/v1/lectures/{lecture_id}/comments": {"createComment", "apiKey", `
		lecture_id path int32 required from 1
		Idempotency-Key header string`, "NewComment", "201 OneComment", onceRefusals},
	"DELETE /lyceum/v1/comments/{comment_id}": {"deleteComment", "apiKey", `
		comment_id path int32 required from 1`, "", "204", "400 401 403 404 405 429 500 503"},
}

// lyceumSchemas are what its answers and bodies hold.
var lyceumSchemas = map[string]string{
	"NewSale": `
		user_id int32
		pricing_plan_id int32
		coupon_id int32 null optional
		affiliate_id int32 null optional
		author_id int32 null optional
		final_price int32 null optional
		currency string null optional
		tax_charge int32 null optional
		charge int32 null optional
		affiliate_fees int32 null optional
		author_fees int32 null optional
		reference string null optional`,
	"NewRenewal": `
		final_price int32 null optional
		currency string null optional
		tax_charge int32 null optional
		charge int32 null optional
		affiliate_fees int32 null optional
		author_fees int32 null optional
		reference string null optional`,
	"NewRefund": `
		amount int32 null optional
		reason string null optional
		reference string null optional`,
	"NewChargeback": `
		fee int32 null optional
		reason string null optional
		reference string null optional`,
	"ChargebackOutcome": `
		outcome string won lost
		reason string null optional`,
	"NewOrder": `
		email string
		name string null optional
		pricing_plan_id int32
		coupon_id int32 null optional
		affiliate_id int32 null optional
		final_price int32 null optional`,
	"OrderPayment": `
		author_id int32 null optional
		final_price int32 null optional
		currency string null optional
		tax_charge int32 null optional
		charge int32 null optional
		affiliate_fees int32 null optional
		author_fees int32 null optional
		reference string null optional`,
	"OneSale": `
		sale SaleDetail`,
	"OneSaleSummary": `
		sale Sale`,
	"Sale": `
		id int32
		created_at date-time
		user_id int32 null
		pricing_plan_id int32 null
		coupon_id int32 null
		affiliate_id int32 null
		author_id int32 null
		final_price int32 null
		currency string null
		is_active boolean
		paid_until date-time null
		ended_at date-time null
		end_reason string null canceled refunded charged_back`,
	"SaleDetail": `
		id int32
		created_at date-time
		user_id int32 null
		pricing_plan_id int32 null
		coupon_id int32 null
		affiliate_id int32 null
		author_id int32 null
		final_price int32 null
		currency string null
		is_active boolean
		paid_until date-time null
		ended_at date-time null
		end_reason string null canceled refunded charged_back
		transactions []Transaction
		movements []Movement`,
	"OneTransaction": `
		transaction TransactionDetail`,
	"Transaction": `
		id int32
		user_id int32
		pricing_plan_id int32
		sale_id int32
		created_at date-time
		purchased_at date-time
		charge int32
		final_price int32
		currency string
		tax_charge int32
		revenue int32
		status string null paid
		has_chargeback boolean null
		chargeback_fee int32 null
		affiliate_id int32 null
		affiliate_fees int32
		author_id int32 null
		author_fees int32
		coupon_id int32 null
		refunded_at date-time null
		amount_refunded int32
		reference string null`,
	"TransactionDetail": `
		id int32
		user_id int32
		pricing_plan_id int32
		sale_id int32
		created_at date-time
		purchased_at date-time
		charge int32
		final_price int32
		currency string
		tax_charge int32
		revenue int32
		status string null paid
		has_chargeback boolean null
		chargeback_fee int32 null
		affiliate_id int32 null
		affiliate_fees int32
		author_id int32 null
		author_fees int32
		coupon_id int32 null
		refunded_at date-time null
		amount_refunded int32
		reference string null
		movements []Movement`,
	"Movement": `
		id int32
		transaction_id int32
		sale_id int32
		kind string refund chargeback_opened chargeback_won chargeback_lost
		amount int32
		amount_refunded int32
		at date-time
		reason string null
		reference string null`,
	"OneOrder": `
		order Order`,
	"Order": `
		id int32
		email string
		name string null
		user_id int32 null
		pricing_plan_id int32
		coupon_id int32 null
		affiliate_id int32 null
		final_price int32
		currency string
		state string open completed abandoned
		created_at date-time
		abandons_at date-time
		closed_at date-time null
		sale_id int32 null`,
	"OneSchool": `
		school School`,
	"School": `
		id int32
		name string
		created_at date-time
		on_refund string unenroll keep
		on_chargeback string unenroll keep
		on_cancellation string unenroll at_period_end keep
		abandon_after_minutes int32
		time_zone string`,
	"SchoolChange": `
		on_refund string optional unenroll keep
		on_chargeback string optional unenroll keep
		on_cancellation string optional unenroll at_period_end keep
		abandon_after_minutes int32 optional
		time_zone string optional`,
	"OneUserState": `
		user UserState`,
	"UserState": `
		id int32
		disabled_at date-time null`,
	"UserTags": `
		tags []string`,
	"ChangeList": `
		changes []Change
		next int64
		more boolean
		last int64`,
	"Change": `
		number int64
		at date-time
		type string
		id int32
		actor string
		event string null
		object object null`,
	"EventList": `
		events []Event
		next int64
		more boolean
		last int64`,
	"Event": `
		number int64
		at date-time
		resent boolean
		type string
		body object`,
	"NewWebhook": `
		url string
		events []string optional
		as_array boolean null optional
		schedule string optional contract standard
		rate_limit int32 null optional`,
	"WebhookChange": `
		url string optional
		events []string optional
		as_array boolean null optional
		schedule string optional contract standard
		rate_limit int32 null optional`,
	"WebhookTest": `
		event string null optional`,
	"WebhookResume": `
		replay boolean null optional`,
	"ResendRequest": `
		after date-time null optional
		until date-time null optional
		state string optional pending delivered failed`,
	"Resent": `
		resent int32`,
	"WebhookList": `
		webhooks []Webhook`,
	"OneWebhook": `
		webhook Webhook`,
	"WebhookWithSecret": `
		webhook Webhook
		secret string`,
	"Webhook": `
		id int32
		url string
		state string verified pending failed
		events []string
		as_array boolean
		schedule string contract standard
		rate_limit int32
		events_count int32
		created_at date-time
		failed_at date-time null
		old_secret_until date-time null`,
	"DeliveryList": `
		deliveries []Delivery
		meta PaginationMeta`,
	"PaginationMeta": `
		page int32
		per_page int32
		total_pages int32
		total_count int32`,
	"OneDelivery": `
		delivery Delivery`,
	"Delivery": `
		id int32
		webhook_id int32
		state string pending delivered failed
		event string null
		object_id int32
		attempt_count int32
		created_at date-time
		last_attempted_at date-time null
		next_attempt_at date-time null
		response_http_status int32 null`,
	"OneDeliveryDetail": `
		delivery DeliveryDetail
		more boolean
		next int32`,
	"DeliveryDetail": `
		id int32
		webhook_id int32
		state string pending delivered failed
		event string null
		object_id int32
		attempt_count int32
		created_at date-time
		last_attempted_at date-time null
		next_attempt_at date-time null
		response_http_status int32 null
		request_body string null
		attempts []Attempt`,
	"Attempt": `
		number int32
		at date-time
		duration_ms int32
		response_http_status int32 null
		problem string null
		request_headers string
		response_headers string
		response_body string
		is_kept boolean`,
	"NewQuizResponse": `
		user_id int32
		answers [][]string`,
	"OneQuizResponse": `
		quiz_response QuizResponse`,
	"QuizResponse": `
		id int32
		quiz_id int32 null
		user_id int32
		submitted_at date-time null
		percent_correct double null`,
	"NewComment": `
		user_id int32
		body string`,
	"OneComment": `
		comment Comment`,
	"Comment": `
		id int32
		lecture_id int32
		user_id int32
		body string
		created_at date-time`,
	"CommentList": `
		comments []Comment
		meta PaginationMeta
		more boolean
		next int32`,
	"Error": `
		code string
		message string
		errors []FieldError`,
	"FieldError": `
		field string
		message string`,
}

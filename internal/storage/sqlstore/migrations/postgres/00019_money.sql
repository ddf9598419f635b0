-- +goose Up
-- A reference is found in any case of its letters.
ALTER TABLE charge_references ADD COLUMN reference_key TEXT NOT NULL DEFAULT '';
UPDATE charge_references SET reference_key = lower(reference COLLATE "C");
CREATE INDEX charge_references_key ON charge_references (school_id, reference_key, transaction_id);

-- A refund is a part of the price and a part of the tax.
ALTER TABLE movements ADD COLUMN tax BIGINT NOT NULL DEFAULT 0;
ALTER TABLE movements ADD COLUMN tax_refunded BIGINT NOT NULL DEFAULT 0;
ALTER TABLE movements ADD COLUMN dispute_id INTEGER;
ALTER TABLE movements ADD COLUMN reference_key TEXT;
UPDATE movements SET reference_key = lower(reference COLLATE "C") WHERE reference IS NOT NULL;
CREATE INDEX movements_reference ON movements (school_id, reference_key, movement_id) WHERE reference_key IS NOT NULL;
CREATE INDEX movements_at ON movements (school_id, at, transaction_id, movement_id);

-- What was refunded above the price was tax. The journal tells so.
CREATE TABLE taxed AS SELECT t.school_id, t.transaction_id,
	row_number() OVER (PARTITION BY t.school_id ORDER BY t.transaction_id) AS place
FROM transactions t WHERE t.amount_refunded > t.final_price AND EXISTS (SELECT 1 FROM movements m
	WHERE m.school_id = t.school_id AND m.transaction_id = t.transaction_id AND m.kind = 'refund');
CREATE UNIQUE INDEX taxed_key ON taxed (school_id, transaction_id);
UPDATE movements SET
	amount = CASE WHEN kind <> 'refund' THEN amount WHEN refunded - amount >= t.final_price THEN 0
		ELSE t.final_price - refunded + amount END,
	tax = CASE WHEN kind <> 'refund' THEN 0 WHEN refunded - amount >= t.final_price THEN amount
		ELSE refunded - t.final_price END,
	refunded = t.final_price,
	tax_refunded = refunded - t.final_price
FROM transactions t WHERE t.school_id = movements.school_id AND t.transaction_id = movements.transaction_id
	AND movements.refunded > t.final_price;
UPDATE transactions SET amount_refunded = final_price WHERE EXISTS (SELECT 1 FROM taxed x
	WHERE x.school_id = transactions.school_id AND x.transaction_id = transactions.transaction_id);
INSERT INTO journal (school_id, number, at, actor, type, object_id)
SELECT x.school_id, c.value + x.place, (SELECT max(j.at) FROM journal j WHERE j.school_id = x.school_id), 'update',
	'transaction.updated', x.transaction_id
FROM taxed x JOIN counters c ON c.school_id = x.school_id AND c.name = 'journal';
UPDATE counters SET value = value + (SELECT count(*) FROM taxed x WHERE x.school_id = counters.school_id)
WHERE name = 'journal';
DROP TABLE taxed;

CREATE TABLE disputes (
	school_id INTEGER NOT NULL,
	dispute_id INTEGER NOT NULL,
	transaction_id INTEGER NOT NULL,
	sale_id INTEGER NOT NULL,
	amount BIGINT NOT NULL,
	tax BIGINT NOT NULL,
	fee BIGINT NOT NULL,
	fee_returned SMALLINT NOT NULL,
	state TEXT NOT NULL,
	opened_at BIGINT NOT NULL,
	closed_at BIGINT,
	reason TEXT,
	reference TEXT,
	reference_key TEXT,
	PRIMARY KEY (school_id, dispute_id),
	FOREIGN KEY (school_id, transaction_id) REFERENCES transactions (school_id, transaction_id)
);
CREATE INDEX disputes_transaction ON disputes (school_id, transaction_id, dispute_id);
CREATE INDEX disputes_sale ON disputes (school_id, sale_id, dispute_id);
CREATE INDEX disputes_reference ON disputes (school_id, reference_key, dispute_id) WHERE reference_key IS NOT NULL;

-- A chargeback was a dispute of all that was left. What was won came without its
-- fee.
UPDATE movements SET dispute_id = n.place FROM (SELECT m.school_id, m.movement_id,
	row_number() OVER (PARTITION BY m.school_id ORDER BY m.movement_id) AS place
	FROM movements m WHERE m.kind = 'chargeback_opened') n
WHERE n.school_id = movements.school_id AND n.movement_id = movements.movement_id;
UPDATE movements SET dispute_id = (SELECT o.dispute_id FROM movements o WHERE o.school_id = movements.school_id
	AND o.transaction_id = movements.transaction_id AND o.kind = 'chargeback_opened'
	AND o.movement_id < movements.movement_id ORDER BY o.movement_id DESC LIMIT 1)
WHERE kind IN ('chargeback_won', 'chargeback_lost');
INSERT INTO disputes (school_id, dispute_id, transaction_id, sale_id, amount, tax, fee, fee_returned, state, opened_at,
	closed_at, reason, reference, reference_key)
SELECT m.school_id, m.dispute_id, m.transaction_id, m.sale_id,
	t.final_price + t.tax_charge - m.refunded - m.tax_refunded, t.tax_charge - m.tax_refunded, m.amount,
	CASE c.kind WHEN 'chargeback_won' THEN 1 ELSE 0 END,
	CASE c.kind WHEN 'chargeback_won' THEN 'won' WHEN 'chargeback_lost' THEN 'lost' ELSE 'open' END,
	m.at, c.at, m.reason, m.reference, m.reference_key
FROM movements m JOIN transactions t ON t.school_id = m.school_id AND t.transaction_id = m.transaction_id
LEFT JOIN movements c ON c.school_id = m.school_id AND c.transaction_id = m.transaction_id
	AND c.dispute_id = m.dispute_id AND c.kind IN ('chargeback_won', 'chargeback_lost')
WHERE m.kind = 'chargeback_opened';
INSERT INTO journal (school_id, number, at, actor, type, object_id)
SELECT d.school_id, c.value + d.dispute_id, (SELECT max(j.at) FROM journal j WHERE j.school_id = d.school_id), 'update',
	'dispute.created', d.dispute_id
FROM disputes d JOIN counters c ON c.school_id = d.school_id AND c.name = 'journal';
UPDATE counters SET value = value + (SELECT count(*) FROM disputes d WHERE d.school_id = counters.school_id)
WHERE name = 'journal';
INSERT INTO counters (school_id, name, value) SELECT school_id, 'dispute_id', max(dispute_id) FROM disputes GROUP BY school_id;

-- An author's statement reads their payments in order.
CREATE INDEX transactions_author ON transactions (school_id, author_id, created_at, transaction_id) WHERE author_id IS NOT NULL;

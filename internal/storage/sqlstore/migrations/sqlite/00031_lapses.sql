-- +goose Up
-- What becomes of a subscription that is not paid for. Schools of before keep what
-- they had: nobody loses access because payments are recorded elsewhere.
ALTER TABLE schools ADD COLUMN on_lapse TEXT NOT NULL DEFAULT 'keep';
ALTER TABLE schools ADD COLUMN grace_days INTEGER NOT NULL DEFAULT 15;

-- Only a sale that is billed here lapses: one that was recorded here, or a payment
-- of which was. Both were announced; what a file brings never is.
ALTER TABLE sales ADD COLUMN billed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sales ADD COLUMN grace_from INTEGER;
UPDATE sales SET billed = 1 WHERE (school_id, sale_id) IN (
	SELECT j.school_id, j.object_id FROM journal j WHERE j.event = 'Sale.created'
	UNION ALL
	SELECT t.school_id, t.sale_id FROM journal j JOIN transactions t ON t.school_id = j.school_id
		AND t.transaction_id = j.object_id WHERE j.event = 'Transaction.created');
UPDATE sales SET grace_from = paid_until WHERE billed = 1 AND ended_at IS NULL AND paid_until IS NOT NULL;
CREATE INDEX sales_grace ON sales (school_id, grace_from, sale_id) WHERE grace_from IS NOT NULL;

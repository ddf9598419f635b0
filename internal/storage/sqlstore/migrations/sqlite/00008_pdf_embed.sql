-- +goose Up
-- A PDF has one name, that of live answers (docs/divergences.md, "The kind of an attachment").
UPDATE attachments SET kind = 'pdf_embed' WHERE kind = 'pdf';

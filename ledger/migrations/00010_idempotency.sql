-- +goose Up

-- What was asked under an Idempotency-Key, the id of what it makes, and the first answer.
CREATE TABLE idempotency_keys (
    owner           TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    digest          TEXT NOT NULL,
    made_id         TEXT NOT NULL,
    answer          TEXT,
    created_at      TEXT NOT NULL,
    PRIMARY KEY (owner, idempotency_key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

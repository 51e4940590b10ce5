-- +goose Up

-- What a budget counts: usd (as before), tokens or images. A reservation belongs to an
-- operation or to a call of a chat model.
ALTER TABLE budgets ADD COLUMN unit TEXT NOT NULL DEFAULT 'usd';

-- What a run used beside its tokens and images, and what its caller allowed.
ALTER TABLE agent_runs ADD COLUMN turns BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agent_runs ADD COLUMN worked_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agent_runs ADD COLUMN limits TEXT;

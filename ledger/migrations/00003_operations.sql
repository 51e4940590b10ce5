-- +goose Up

-- Who works on an operation, and until when nobody else may.
ALTER TABLE operations ADD COLUMN held_by TEXT;
ALTER TABLE operations ADD COLUMN held_until TEXT;

CREATE INDEX provider_tasks_task ON provider_tasks (provider, task_id) WHERE task_id IS NOT NULL;

-- Money against budgets, in millionths of a millionth of a US dollar: exact for every
-- price per token, and nine million dollars fit.
CREATE TABLE budgets (
    name       TEXT PRIMARY KEY,
    reserved   BIGINT NOT NULL DEFAULT 0,
    spent      BIGINT NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE TABLE budget_reservations (
    operation_id TEXT NOT NULL,
    budget       TEXT NOT NULL REFERENCES budgets (name),
    reserved     BIGINT NOT NULL,
    created_at   TEXT NOT NULL,
    PRIMARY KEY (operation_id, budget)
);

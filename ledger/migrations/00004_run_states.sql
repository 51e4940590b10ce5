-- +goose Up

-- How a run that waits for a person goes on. A run is begun in parts: number counts what
-- ended the ones before, so that an answer is taken once.
CREATE TABLE run_states (
    run_id      TEXT PRIMARY KEY, -- no foreign key: a fork's state is saved before its run begins
    owner       TEXT NOT NULL,
    number      BIGINT NOT NULL,
    status      TEXT NOT NULL,
    pending     TEXT,
    state       TEXT,
    setting     TEXT,
    asked_at    TEXT,
    answered_at TEXT,
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL
);
CREATE INDEX run_states_owner ON run_states (owner, status, run_id);
CREATE INDEX run_states_status ON run_states (status, answered_at);

-- The run, and the step of it, that a run was forked from.
ALTER TABLE agent_runs ADD COLUMN forked_from TEXT;
ALTER TABLE agent_runs ADD COLUMN forked_step TEXT;

-- +goose Up

-- Where runs of workflows ask people. JSON is text, in the author's order.
CREATE TABLE interactions (
    id              TEXT PRIMARY KEY,
    owner           TEXT NOT NULL,
    workflow_run_id TEXT NOT NULL,
    step_id         TEXT NOT NULL,
    status          TEXT NOT NULL,
    request         TEXT NOT NULL,
    data            TEXT,
    version         INTEGER NOT NULL,
    edits           TEXT,
    answer          TEXT,
    expires_at      TEXT,
    answered_at     TEXT,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL
);
CREATE UNIQUE INDEX interactions_open ON interactions (workflow_run_id, step_id) WHERE status = 'open';
CREATE INDEX interactions_run ON interactions (owner, workflow_run_id, id);
CREATE INDEX interactions_expiry ON interactions (expires_at) WHERE status = 'open';

-- Which click a sub-action came from: the same click again finds its row.
ALTER TABLE content_generation_metadata ADD COLUMN request_id TEXT;
ALTER TABLE content_generation_metadata ADD COLUMN request_digest TEXT;
-- Where its results go, and whether the offline painter stands in.
ALTER TABLE content_generation_metadata ADD COLUMN result_target TEXT;
ALTER TABLE content_generation_metadata ADD COLUMN stand_in INTEGER NOT NULL DEFAULT 0;
CREATE INDEX content_generation_metadata_open ON content_generation_metadata (id) WHERE finished_at IS NULL;
CREATE UNIQUE INDEX content_generation_metadata_request ON content_generation_metadata (owner, interaction_id, request_id) WHERE request_id IS NOT NULL;

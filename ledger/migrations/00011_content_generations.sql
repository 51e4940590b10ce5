-- +goose Up

-- What sub-actions of workflows asked for: one row a click. JSON is text, in the author's order.
CREATE TABLE content_generation_metadata (
    id              TEXT PRIMARY KEY,
    owner           TEXT NOT NULL,
    workflow_run_id TEXT NOT NULL,
    interaction_id  TEXT NOT NULL,
    step_id         TEXT,
    sub_action_id   TEXT,
    action_type     TEXT NOT NULL,
    provider        TEXT,
    model           TEXT,
    operation_id    TEXT,
    prompt_id       TEXT,
    source_data     TEXT,
    prompt_as_sent  TEXT,
    params          TEXT,
    dispositions    TEXT,
    status          TEXT NOT NULL,
    error_code      TEXT,
    error_message   TEXT,
    retryable       INTEGER NOT NULL DEFAULT 0,
    elapsed_ms      BIGINT,
    cost_usd        TEXT,
    finished_at     TEXT,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL
);
CREATE INDEX content_generation_metadata_run ON content_generation_metadata (owner, workflow_run_id, id);
CREATE INDEX content_generation_metadata_interaction ON content_generation_metadata (owner, interaction_id);

-- What came: one row a result.
CREATE TABLE generated_content (
    id             TEXT PRIMARY KEY,
    metadata_id    TEXT NOT NULL REFERENCES content_generation_metadata (id),
    position       INTEGER NOT NULL,
    media_id       TEXT NOT NULL,
    modality       TEXT,
    seed           BIGINT,
    revised_prompt TEXT,
    selected_at    TEXT,
    created_at     TEXT NOT NULL,
    UNIQUE (metadata_id, position)
);
CREATE INDEX generated_content_media ON generated_content (media_id);

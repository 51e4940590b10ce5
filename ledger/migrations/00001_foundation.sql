-- +goose Up
-- Types are those that SQLite and PostgreSQL share: ids and times are TEXT (UUIDv7;
-- UTC, RFC 3339 with microseconds, so that text order is time order), money is
-- decimal TEXT, JSON is TEXT, yes and no are SMALLINT.

CREATE TABLE sequences (
    name  TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO sequences (name, value) VALUES ('run_events', 0);

CREATE TABLE agent_runs (
    id              TEXT PRIMARY KEY,
    owner           TEXT NOT NULL,
    tree_id         TEXT NOT NULL,
    parent_run_id   TEXT REFERENCES agent_runs (id),
    depth           BIGINT NOT NULL,
    agent           TEXT NOT NULL,
    agent_path      TEXT,
    definition_hash TEXT,
    definition      TEXT,
    status          TEXT NOT NULL,
    task            TEXT NOT NULL,
    message         TEXT,
    payload         TEXT,
    warnings        TEXT,
    model_calls     BIGINT NOT NULL DEFAULT 0,
    input_tokens    BIGINT NOT NULL DEFAULT 0,
    output_tokens   BIGINT NOT NULL DEFAULT 0,
    images          BIGINT NOT NULL DEFAULT 0,
    estimated_usd   TEXT,
    reported_usd    TEXT,
    cost_complete   SMALLINT NOT NULL DEFAULT 0,
    error_code      TEXT,
    error_message   TEXT,
    retryable       SMALLINT NOT NULL DEFAULT 0,
    last_sequence   BIGINT NOT NULL DEFAULT 0,
    started_at      TEXT,
    finished_at     TEXT,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    deleted_at      TEXT
);
CREATE INDEX agent_runs_owner ON agent_runs (owner, id);
CREATE INDEX agent_runs_tree ON agent_runs (tree_id, id);

CREATE TABLE agent_run_steps (
    id            TEXT PRIMARY KEY,
    run_id        TEXT NOT NULL REFERENCES agent_runs (id),
    turn          BIGINT NOT NULL,
    position      BIGINT NOT NULL,
    kind          TEXT NOT NULL,
    name          TEXT NOT NULL,
    status        TEXT NOT NULL,
    code          TEXT,
    message       TEXT,
    params        TEXT,
    outputs       TEXT,
    child_run_id  TEXT,
    started_at    TEXT,
    finished_at   TEXT,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL
);
CREATE INDEX agent_run_steps_run ON agent_run_steps (run_id, id);

CREATE TABLE prompt_runs (
    id            TEXT PRIMARY KEY,
    run_id        TEXT NOT NULL REFERENCES agent_runs (id),
    turn          BIGINT NOT NULL,
    model         TEXT NOT NULL,
    provider      TEXT,
    messages      TEXT,
    answer        TEXT,
    finish_reason TEXT,
    status        TEXT NOT NULL,
    input_tokens  BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    cost_usd      TEXT,
    error_code    TEXT,
    error_message TEXT,
    retryable     SMALLINT NOT NULL DEFAULT 0,
    started_at    TEXT,
    finished_at   TEXT,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL
);
CREATE INDEX prompt_runs_run ON prompt_runs (run_id, id);

CREATE TABLE blobs (
    digest           TEXT PRIMARY KEY,
    size_bytes       BIGINT NOT NULL,
    mime_type        TEXT NOT NULL,
    width            BIGINT,
    height           BIGINT,
    orientation      BIGINT,
    frames           BIGINT,
    duration_seconds DOUBLE PRECISION,
    thumbnail_digest TEXT,
    state            TEXT NOT NULL,
    operation_id     TEXT,
    created_at       TEXT NOT NULL,
    updated_at       TEXT NOT NULL
);
CREATE INDEX blobs_operation ON blobs (operation_id);

-- Run, step, prompt run and operation are not foreign keys where media is recorded:
-- an item is recorded when it appears, maybe before the row of the call that made it.
CREATE TABLE media (
    id               TEXT PRIMARY KEY,
    owner            TEXT NOT NULL,
    tree_id          TEXT NOT NULL,
    run_id           TEXT,
    digest           TEXT NOT NULL REFERENCES blobs (digest),
    ref              TEXT NOT NULL,
    modality         TEXT NOT NULL,
    mime_type        TEXT NOT NULL,
    file_name        TEXT,
    size_bytes       BIGINT NOT NULL,
    width            BIGINT,
    height           BIGINT,
    orientation      BIGINT,
    frames           BIGINT,
    duration_seconds DOUBLE PRECISION,
    label            TEXT,
    description      TEXT,
    promoted         SMALLINT NOT NULL DEFAULT 0,
    partial          SMALLINT NOT NULL DEFAULT 0,
    direction        TEXT,
    source           TEXT,
    agent_path       TEXT,
    operation_id     TEXT,
    metadata         TEXT,
    thumbnail_digest TEXT,
    created_at       TEXT NOT NULL,
    updated_at       TEXT NOT NULL,
    deleted_at       TEXT
);
CREATE UNIQUE INDEX media_tree_digest ON media (owner, tree_id, digest) WHERE deleted_at IS NULL;
CREATE INDEX media_owner ON media (owner, id);
CREATE INDEX media_tree ON media (tree_id, id);
CREATE INDEX media_owner_ref ON media (owner, ref);
CREATE INDEX media_digest ON media (digest);

CREATE TABLE prompt_run_media (
    id               TEXT PRIMARY KEY,
    owner            TEXT NOT NULL,
    media_id         TEXT NOT NULL REFERENCES media (id),
    run_id           TEXT,
    prompt_run_id    TEXT,
    step_id          TEXT,
    operation_id     TEXT,
    direction        TEXT NOT NULL,
    modality         TEXT NOT NULL,
    mime_type        TEXT NOT NULL,
    file_name        TEXT,
    size_bytes       BIGINT NOT NULL,
    width            BIGINT,
    height           BIGINT,
    duration_seconds DOUBLE PRECISION,
    label            TEXT,
    description      TEXT,
    metadata         TEXT,
    display_order    BIGINT NOT NULL,
    thumbnail_digest TEXT,
    created_at       TEXT NOT NULL,
    updated_at       TEXT NOT NULL
);
CREATE INDEX prompt_run_media_run ON prompt_run_media (run_id, display_order);
CREATE INDEX prompt_run_media_media ON prompt_run_media (media_id);

CREATE TABLE agent_run_media (
    id                         TEXT PRIMARY KEY,
    owner                      TEXT NOT NULL,
    media_id                   TEXT NOT NULL REFERENCES media (id),
    run_id                     TEXT NOT NULL REFERENCES agent_runs (id),
    source_prompt_run_media_id TEXT NOT NULL REFERENCES prompt_run_media (id),
    modality                   TEXT NOT NULL,
    mime_type                  TEXT NOT NULL,
    file_name                  TEXT,
    size_bytes                 BIGINT NOT NULL,
    width                      BIGINT,
    height                     BIGINT,
    duration_seconds           DOUBLE PRECISION,
    label                      TEXT,
    description                TEXT,
    metadata                   TEXT,
    display_order              BIGINT NOT NULL,
    thumbnail_digest           TEXT,
    created_at                 TEXT NOT NULL,
    updated_at                 TEXT NOT NULL
);
CREATE UNIQUE INDEX agent_run_media_once ON agent_run_media (run_id, media_id);

CREATE TABLE media_lineage (
    id              TEXT PRIMARY KEY,
    child_media_id  TEXT NOT NULL REFERENCES media (id),
    parent_media_id TEXT REFERENCES media (id),
    parent_ref      TEXT NOT NULL,
    role            TEXT NOT NULL,
    run_id          TEXT,
    operation_id    TEXT,
    created_at      TEXT NOT NULL
);
CREATE INDEX media_lineage_child ON media_lineage (child_media_id, id);
CREATE INDEX media_lineage_parent ON media_lineage (parent_media_id);

CREATE TABLE operations (
    id              TEXT PRIMARY KEY,
    owner           TEXT NOT NULL,
    tree_id         TEXT NOT NULL,
    run_id          TEXT,
    step_id         TEXT,
    idempotency_key TEXT,
    status          TEXT NOT NULL,
    method          TEXT,
    modality        TEXT,
    provider        TEXT,
    model           TEXT,
    api_model       TEXT,
    request         TEXT,
    dispositions    TEXT,
    usage_counts    TEXT,
    metadata        TEXT,
    warnings        TEXT,
    estimated_usd   TEXT,
    reported_usd    TEXT,
    error_code      TEXT,
    error_message   TEXT,
    retryable       SMALLINT NOT NULL DEFAULT 0,
    finished_at     TEXT,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL
);
CREATE UNIQUE INDEX operations_key ON operations (owner, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX operations_owner ON operations (owner, id);
CREATE INDEX operations_tree ON operations (tree_id, id);

CREATE TABLE operation_slots (
    operation_id   TEXT NOT NULL REFERENCES operations (id),
    slot_index     BIGINT NOT NULL,
    status         TEXT NOT NULL,
    media_id       TEXT,
    ref            TEXT,
    digest         TEXT,
    revised_prompt TEXT,
    seed           BIGINT,
    safety         TEXT,
    error_code     TEXT,
    error_message  TEXT,
    retryable      SMALLINT NOT NULL DEFAULT 0,
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL,
    PRIMARY KEY (operation_id, slot_index)
);

CREATE TABLE provider_tasks (
    id              TEXT PRIMARY KEY,
    operation_id    TEXT NOT NULL REFERENCES operations (id),
    call_index      BIGINT NOT NULL,
    attempt         BIGINT NOT NULL,
    idempotency_key TEXT,
    provider        TEXT,
    task_id         TEXT,
    status          TEXT NOT NULL,
    detail          TEXT,
    error_code      TEXT,
    error_message   TEXT,
    retryable       SMALLINT NOT NULL DEFAULT 0,
    finished_at     TEXT,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL
);
CREATE INDEX provider_tasks_operation ON provider_tasks (operation_id, id);

CREATE TABLE run_events (
    id         TEXT PRIMARY KEY,
    position   BIGINT NOT NULL UNIQUE,
    tree_id    TEXT NOT NULL REFERENCES agent_runs (id),
    sequence   BIGINT NOT NULL,
    run_id     TEXT NOT NULL,
    agent_path TEXT,
    kind       TEXT NOT NULL,
    payload    TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (tree_id, sequence)
);

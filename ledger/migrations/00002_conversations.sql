-- +goose Up
CREATE TABLE conversations (
    id         TEXT PRIMARY KEY,
    owner      TEXT NOT NULL,
    title      TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    deleted_at TEXT
);
CREATE INDEX conversations_owner ON conversations (owner, id);

-- The run is no foreign key: a person's message is saved before its run.
CREATE TABLE conversation_details (
    id              TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversations (id),
    role            TEXT NOT NULL,
    message         TEXT,
    run_id          TEXT,
    agent           TEXT,
    status          TEXT,
    error_code      TEXT,
    error_message   TEXT,
    retryable       SMALLINT NOT NULL DEFAULT 0,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    deleted_at      TEXT
);
CREATE INDEX conversation_details_conversation ON conversation_details (conversation_id, id);
CREATE INDEX conversation_details_run ON conversation_details (run_id);

CREATE TABLE conversation_detail_attachments (
    id                        TEXT PRIMARY KEY,
    owner                     TEXT NOT NULL,
    media_id                  TEXT NOT NULL REFERENCES media (id),
    conversation_detail_id    TEXT NOT NULL REFERENCES conversation_details (id),
    source_agent_run_media_id TEXT REFERENCES agent_run_media (id),
    name                      TEXT NOT NULL,
    modality                  TEXT NOT NULL,
    mime_type                 TEXT NOT NULL,
    file_name                 TEXT,
    size_bytes                BIGINT NOT NULL,
    width                     BIGINT,
    height                    BIGINT,
    duration_seconds          DOUBLE PRECISION,
    label                     TEXT,
    description               TEXT,
    metadata                  TEXT,
    display_order             BIGINT NOT NULL,
    thumbnail_digest          TEXT,
    created_at                TEXT NOT NULL,
    updated_at                TEXT NOT NULL
);
CREATE UNIQUE INDEX conversation_detail_attachments_once
    ON conversation_detail_attachments (conversation_detail_id, media_id);
CREATE INDEX conversation_detail_attachments_media ON conversation_detail_attachments (media_id);

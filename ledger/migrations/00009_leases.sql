-- +goose Up

-- Who works on what, and until when nobody else may. Unlike in other tables the times are those of
-- the database's clock, which all processes share.
CREATE TABLE leases (
    kind       TEXT NOT NULL,
    work       TEXT NOT NULL,
    holder     TEXT NOT NULL,
    generation BIGINT NOT NULL,
    host       TEXT,
    machine    TEXT,
    pid        BIGINT NOT NULL,
    command    TEXT,
    started_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    PRIMARY KEY (kind, work)
);
CREATE INDEX leases_holder ON leases (holder);

-- Versions before kept it in the operation's own row.
INSERT INTO leases (kind, work, holder, generation, pid, started_at, expires_at)
SELECT 'generation', id, held_by, 1, 0, updated_at, held_until FROM operations
WHERE finished_at IS NULL AND held_by IS NOT NULL AND held_until IS NOT NULL;
ALTER TABLE operations DROP COLUMN held_by;
ALTER TABLE operations DROP COLUMN held_until;

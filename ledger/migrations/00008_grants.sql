-- +goose Up

-- A run tree that was given an item of another one, by a conversation, a fork or a caller. The item has
-- one record, and its ref names it in this tree as well.
CREATE TABLE media_grants (
    id         TEXT PRIMARY KEY,
    tree_id    TEXT NOT NULL,
    media_id   TEXT NOT NULL REFERENCES media (id),
    created_at TEXT NOT NULL
);
CREATE UNIQUE INDEX media_grants_once ON media_grants (tree_id, media_id);
CREATE INDEX media_grants_media ON media_grants (media_id);
CREATE INDEX agent_run_media_media ON agent_run_media (media_id);
CREATE INDEX operation_slots_digest ON operation_slots (digest) WHERE digest IS NOT NULL;

-- Versions before copied the record for every tree. A copy is an input with the bytes of an earlier
-- record of the same owner that was made here, or stands in the same conversation, or belongs to the
-- run that was forked. Equal files that a person gave twice are two items.
CREATE TABLE media_copies (
    copy_id   TEXT PRIMARY KEY,
    origin_id TEXT NOT NULL
);
INSERT INTO media_copies (copy_id, origin_id)
SELECT c.id, MIN(o.id) FROM media c
JOIN media o ON o.owner = c.owner AND o.digest = c.digest AND o.id < c.id AND o.tree_id <> c.tree_id
WHERE c.direction = 'input' AND c.deleted_at IS NULL AND o.deleted_at IS NULL AND (
    COALESCE(o.direction, 'output') <> 'input'
    OR EXISTS (SELECT 1 FROM agent_runs r WHERE r.id = c.tree_id AND r.forked_from = o.tree_id)
    OR EXISTS (SELECT 1 FROM conversation_details later
        JOIN conversation_details earlier ON earlier.conversation_id = later.conversation_id
        WHERE later.run_id = c.tree_id AND earlier.run_id = o.tree_id)
)
GROUP BY c.id;

-- A copy of a copy belongs to the first of them. Its grant keeps the id that the copy had, which
-- states of runs and people's notes name.
INSERT INTO media_grants (id, tree_id, media_id, created_at)
WITH RECURSIVE chain (copy_id, origin_id) AS (
    SELECT copy_id, origin_id FROM media_copies
    UNION
    SELECT chain.copy_id, m.origin_id FROM chain JOIN media_copies m ON m.copy_id = chain.origin_id
)
SELECT c.id, c.tree_id, root.id, c.created_at
FROM (SELECT copy_id, MIN(origin_id) AS id FROM chain GROUP BY copy_id) root
JOIN media c ON c.id = root.copy_id;
DROP TABLE media_copies;

UPDATE media SET promoted = 1 WHERE promoted = 0 AND id IN
    (SELECT g.media_id FROM media_grants g JOIN media c ON c.id = g.id WHERE c.promoted = 1);
UPDATE prompt_run_media SET media_id = (SELECT g.media_id FROM media_grants g WHERE g.id = prompt_run_media.media_id)
    WHERE media_id IN (SELECT id FROM media_grants);
UPDATE agent_run_media SET media_id = (SELECT g.media_id FROM media_grants g WHERE g.id = agent_run_media.media_id)
    WHERE media_id IN (SELECT id FROM media_grants);
UPDATE media_lineage SET child_media_id = (SELECT g.media_id FROM media_grants g WHERE g.id = media_lineage.child_media_id)
    WHERE child_media_id IN (SELECT id FROM media_grants);
UPDATE media_lineage SET parent_media_id = (SELECT g.media_id FROM media_grants g WHERE g.id = media_lineage.parent_media_id)
    WHERE parent_media_id IN (SELECT id FROM media_grants);
UPDATE operation_slots SET media_id = (SELECT g.media_id FROM media_grants g WHERE g.id = operation_slots.media_id)
    WHERE media_id IN (SELECT id FROM media_grants);
DELETE FROM conversation_detail_attachments WHERE EXISTS (
    SELECT 1 FROM media_grants g, conversation_detail_attachments other
    LEFT JOIN media_grants og ON og.id = other.media_id
    WHERE g.id = conversation_detail_attachments.media_id AND other.id <> conversation_detail_attachments.id
    AND other.conversation_detail_id = conversation_detail_attachments.conversation_detail_id
    AND (other.media_id = g.media_id OR og.media_id = g.media_id AND other.id < conversation_detail_attachments.id)
);
UPDATE conversation_detail_attachments
    SET media_id = (SELECT g.media_id FROM media_grants g WHERE g.id = conversation_detail_attachments.media_id)
    WHERE media_id IN (SELECT id FROM media_grants);
DELETE FROM media WHERE id IN (SELECT id FROM media_grants);

-- The stored thumbnails of bytes, one for each width.
CREATE TABLE thumbnails (
    digest           TEXT NOT NULL,
    width            BIGINT NOT NULL,
    thumbnail_digest TEXT NOT NULL,
    created_at       TEXT NOT NULL,
    PRIMARY KEY (digest, width)
);
CREATE INDEX thumbnails_thumbnail ON thumbnails (thumbnail_digest);

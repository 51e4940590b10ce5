-- +goose Up

-- Lists of media by kind and of what is deleted, newest first, without a look at the other rows.
CREATE INDEX media_owner_modality ON media (owner, modality, id) WHERE deleted_at IS NULL;
CREATE INDEX media_owner_deleted ON media (owner, id) WHERE deleted_at IS NOT NULL;
-- What is under way, which servers look for every two seconds.
CREATE INDEX operations_open ON operations (id) WHERE finished_at IS NULL;

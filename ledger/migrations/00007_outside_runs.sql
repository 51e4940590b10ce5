-- +goose Up

-- Media outside of runs are counted within their operation.
CREATE INDEX prompt_run_media_operation ON prompt_run_media (operation_id, display_order) WHERE run_id IS NULL;

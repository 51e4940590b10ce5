-- +goose Up

-- What pictures came with a run, what its model was shown of its actions, and what became
-- of pictures and models that were asked for.
ALTER TABLE agent_runs ADD COLUMN input_images TEXT;
ALTER TABLE agent_runs ADD COLUMN vision_context TEXT;
ALTER TABLE agent_runs ADD COLUMN dispositions TEXT;

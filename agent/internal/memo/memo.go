// Package memo makes values durable: what a step of the journal gave, it gives again in a replay. It may
// import journal and media.
package memo

import (
	"context"
	"encoding/json"

	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// Do does something as a durable step. The value passes through JSON also where it is new. Errors are those of
// do, which are not kept, and media.CodeCorrupt.
func Do[T any](ctx context.Context, j *journal.Transcript, name step.Name, do func(context.Context) (T, error)) (v T, err error) {
	b, err := j.Step(ctx, name, func(ctx context.Context) ([]byte, error) {
		v, err := do(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, media.Errorf(media.CodeCorrupt, "read journalled step %s: %w", name, err)
	}
	return v, nil
}

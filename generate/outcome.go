package generate

import (
	"context"
	"encoding/json"
	"errors"

	"atelier/journal/step"
	"atelier/media"
)

// outcome is what a journal remembers of a driver's answer.
type outcome struct {
	Update Update
	Err    *media.Error
	// Contested says that the error is [ErrContested].
	Contested bool `json:",omitempty"`
}

// fail keeps a driver's error. A driver's conflict is one at its provider, and must not be
// taken for that of two processes over one operation.
func (o *outcome) fail(err error) {
	o.Err = asError(err)
	o.Err.Cause = nil
	if o.Contested = errors.Is(err, ErrContested) || o.Err.Code == media.CodeConflict; o.Contested {
		o.Err.Code = media.CodeUnavailable
	}
	if errors.Is(err, ErrUnsettled) {
		o.Err.Retryable, o.Update.Usage.Unsettled = false, 1
	}
}

// failure is the error that was kept; nil if there was none.
func (o *outcome) failure() *media.Error {
	switch {
	case o.Err == nil:
	case o.Update.Usage.Unsettled > 0:
		o.Err.Cause = ErrUnsettled
	case o.Contested:
		o.Err.Cause = ErrContested
	}
	return o.Err
}

// step runs a driver's method as a journalled step.
func (x *execution) step(ctx context.Context, name step.Name, fn func(context.Context) (Update, error)) (Update, *media.Error) {
	raw, err := x.journal.Step(ctx, name.String(), func(ctx context.Context) ([]byte, error) {
		u, err := fn(ctx)
		out := outcome{Update: u.clean()}
		if err != nil {
			out.fail(err)
		}
		return json.Marshal(out)
	})
	if err != nil {
		return Update{}, asError(err)
	}
	var out outcome
	if err := json.Unmarshal(raw, &out); err != nil {
		return Update{}, media.Errorf(media.CodeInternal, "read journal step %s: %w", name, err)
	}
	return out.Update, out.failure()
}

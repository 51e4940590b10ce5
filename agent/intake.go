package agent

import (
	"context"
	"encoding/json"
	"io"

	"atelier/action"
	"atelier/agent/internal/plain"
	"atelier/media"
)

// intake takes media out of what people, programs and models give a run: it stores the media in the
// run's set and reports it; placeholders take its place. What cannot be stored is a warning.
type intake struct {
	interceptor *action.Interceptor
	set         *media.Set
	threshold   int // how long a text of an action may be before it is a document; 0 is the default
	log         *runLog
}

// target tells the interceptor where media of the run belongs.
func (i *intake) target(source string) action.Target {
	return action.Target{Media: i.set, Source: source, Threshold: i.threshold}
}

// text cleans a text that a person or a program gave; all of it that is not media is unchanged.
func (i *intake) text(ctx context.Context, s string) string {
	s, found := i.interceptor.Text(ctx, i.target("text"), s)
	i.log.stored(ctx, found.Media)
	i.log.warn(ctx, found.Warnings...)
	return s
}

// values cleans values that a person or a program gave. Values without media are returned as
// they are.
func (i *intake) values(ctx context.Context, values map[string]any) map[string]any {
	if len(values) == 0 {
		return values
	}
	text := string(plain.JSON(values))
	safe := i.text(ctx, text)
	var out map[string]any
	if safe == text || json.Unmarshal([]byte(safe), &out) != nil {
		return values
	}
	return out
}

// value cleans a value of Go code.
func (i *intake) value(ctx context.Context, source string, v any) any {
	safe := i.interceptor.Value(ctx, i.target(source), v)
	i.log.stored(ctx, safe.Media)
	i.log.warn(ctx, safe.Warnings...)
	return safe.Value
}

// store reads from r to its end, stores the item and reports it.
func (i *intake) store(ctx context.Context, source string, r io.Reader, m media.Meta) (media.Output, error) {
	o, err := i.interceptor.Store(ctx, i.target(source), r, m)
	if err == nil {
		i.log.stored(ctx, []media.Output{o})
	}
	return o, err
}

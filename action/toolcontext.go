package action

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"atelier/media"
)

// MaxToolContext is the maximum total size of the names and values of a [ToolContext], in bytes.
const MaxToolContext = 64 << 10

// ToolContext contains values by name, as JSON, that a program passes with a run to its actions: a tenant, a session, a
// credential. Actions and Go agents receive them, including those of sub-agents, but no model does: they are in no
// prompt, event or log. They are stored with the state of the run as long as it can be resumed, retried or forked.
type ToolContext map[string]json.RawMessage

// ToolValue decodes a value; ok reports whether it exists. A value that is not a T is media.CodeInvalid, and the
// message does not contain it.
func ToolValue[T any](c ToolContext, name string) (v T, ok bool, err error) {
	b, ok := c[name]
	if !ok {
		return v, false, nil
	}
	if json.Unmarshal(b, &v) != nil {
		var zero T
		return zero, true, media.Errorf(media.CodeInvalid, "the value %.80q of the tool context is not a %T", name, zero)
	}
	return v, true, nil
}

// Check rejects empty names, values that are not JSON, and more than [MaxToolContext] bytes.
func (c ToolContext) Check() error {
	size := 0
	for name, b := range c {
		if size += len(name) + len(b); name == "" || !json.Valid(b) {
			return media.Errorf(media.CodeInvalid, "the value %.80q of the tool context is invalid: give each value a name and JSON", name)
		}
	}
	if size > MaxToolContext {
		return media.Errorf(media.CodeTooLarge, "the tool context has %d bytes, and the limit is %d: give ids that actions can look up", size, MaxToolContext)
	}
	return nil
}

// String returns the number of values, but no value.
func (c ToolContext) String() string { return fmt.Sprintf("%d values", len(c)) }

// GoString is like String.
func (c ToolContext) GoString() string { return c.String() }

// LogValue is like String.
func (c ToolContext) LogValue() slog.Value { return slog.StringValue(c.String()) }

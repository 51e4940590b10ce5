package durable

import (
	"encoding/json"
	"errors"
)

// noRow is the result of a step that must not be saved: encoding it fails, so the engine writes
// nothing.
const noRow = "\x00no row"

// text is how values are written to the engine's tables: as plain text. The engine's own format is
// base64, which cannot be searched.
type text struct{}

// Name identifies the format in the tables.
func (text) Name() string { return "atelier_text" }

// Encode writes text as it is, and other values as JSON.
func (text) Encode(v any) (*string, error) {
	if s, ok := v.(string); ok {
		if s == noRow {
			return nil, errors.New("another process is working on this")
		}
		return &s, nil
	}
	b, err := json.Marshal(v)
	s := string(b)
	return &s, err
}

// Decode reads text; a missing value is empty.
func (text) Decode(s *string) (any, error) {
	if s == nil {
		return "", nil
	}
	return *s, nil
}

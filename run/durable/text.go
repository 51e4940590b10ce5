package durable

import "encoding/json"

// text is how values are written into the engine's tables: texts as they are. The
// engine's own way is base64, in which nothing can be searched for.
type text struct{}

// Name tells the format apart from others in the tables.
func (text) Name() string { return "atelier_text" }

// Encode writes a text, and what is none as JSON.
func (text) Encode(v any) (*string, error) {
	if s, ok := v.(string); ok {
		return &s, nil
	}
	b, err := json.Marshal(v)
	s := string(b)
	return &s, err
}

// Decode reads a text; a missing one is empty.
func (text) Decode(s *string) (any, error) {
	if s == nil {
		return "", nil
	}
	return *s, nil
}

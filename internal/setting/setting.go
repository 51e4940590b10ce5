// Package setting is what is kept of how a run was set up: its folders, database and models, without
// secrets. Its JSON stays readable by later versions. Errors have code media.CodeCorrupt. It may import
// media of the house.
package setting

import (
	"encoding/json"

	"atelier/media"
)

// Setting is how the sources of a run are kept with it, for the process that adopts it.
type Setting struct {
	Files  string `json:"files,omitempty"`
	KB     string `json:"kb,omitempty"`
	DB     string `json:"db,omitempty"`
	Secret bool   `json:"db_secret,omitempty"`
	// SecretID tells databases with secret addresses apart.
	SecretID   string `json:"db_secret_id,omitempty"`
	Agents     string `json:"agents,omitempty"`
	Model      string `json:"model,omitempty"`
	ImageModel string `json:"image_model,omitempty"`
}

// Read reads what was kept; nothing is the zero value.
func Read(saved json.RawMessage) (s Setting, err error) {
	if len(saved) > 0 {
		if err := json.Unmarshal(saved, &s); err != nil {
			return s, media.Errorf(media.CodeCorrupt, "read how the run was set up: %w", err)
		}
	}
	return s, nil
}

// WithChatModel changes the chat model of what was kept; it is for run.Fork.Setting.
func WithChatModel(model string) func(saved json.RawMessage) (json.RawMessage, error) {
	return func(saved json.RawMessage) (json.RawMessage, error) {
		s, err := Read(saved)
		if err != nil {
			return nil, err
		}
		s.Model = model
		return json.Marshal(s)
	}
}

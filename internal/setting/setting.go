// Package setting is the saved setup of a run: its folders, database and models, without secrets. Its JSON stays
// readable by later versions. Errors have code media.CodeCorrupt. It may import media from this project.
package setting

import (
	"encoding/json"

	"atelier/media"
)

// Setting is the saved setup of a run's sources, for a process that adopts the run.
type Setting struct {
	Files  string `json:"files,omitempty"`
	KB     string `json:"kb,omitempty"`
	DB     string `json:"db,omitempty"`
	Secret bool   `json:"db_secret,omitempty"`
	// SecretID distinguishes databases with secret addresses.
	SecretID   string `json:"db_secret_id,omitempty"`
	Agents     string `json:"agents,omitempty"`
	Model      string `json:"model,omitempty"`
	ImageModel string `json:"image_model,omitempty"`
}

// Read decodes a saved setup; empty input is the zero value.
func Read(saved json.RawMessage) (s Setting, err error) {
	if len(saved) > 0 {
		if err := json.Unmarshal(saved, &s); err != nil {
			return s, media.Errorf(media.CodeCorrupt, "read how the run was set up: %w", err)
		}
	}
	return s, nil
}

// WithChatModel returns a function that changes the chat model of a saved setup; it is for run.Fork.Setting.
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

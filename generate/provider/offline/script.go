package offline

import (
	"encoding/json"
	"slices"

	"atelier/media"
)

// Script makes the driver misbehave on purpose, for tests of its users. It is read from the task's options under the
// JSON names below; slots count from 1.
type Script struct {
	// DelayMS is a delay before drawing, in milliseconds, at most 600,000; a cancelled context ends it.
	DelayMS int `json:"delay_ms"`
	// Partials is the number of preview frames per picture; at most 8.
	Partials int `json:"partials"`
	// FailSlots are the slots that fail with media.CodeUnavailable, retryable.
	FailSlots []int `json:"fail_slots"`
	// ModerateSlots are the slots that fail with media.CodeModerated.
	ModerateSlots []int `json:"moderate_slots"`
	// Fail, if set, fails the whole call with this code.
	Fail media.Code `json:"fail"`
}

func parseScript(options map[string]any) (Script, error) {
	var s Script
	raw, err := json.Marshal(options)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return s, media.Errorf(media.CodeInvalid, "offline options: %w", err)
	}
	if s.DelayMS < 0 || s.DelayMS > 600_000 || s.Partials < 0 || s.Partials > 8 {
		return s, media.Errorf(media.CodeInvalid, "offline options: delay_ms is 0 to 600000, partials 0 to 8")
	}
	return s, nil
}

// slot returns the scripted error of a slot, if any.
func (s Script) slot(n int) *media.Error {
	switch {
	case slices.Contains(s.FailSlots, n):
		return media.Errorf(media.CodeUnavailable, "the offline model was told to fail picture %d (options.offline.fail_slots)", n)
	case slices.Contains(s.ModerateSlots, n):
		return media.Errorf(media.CodeModerated, "the offline model was told to refuse picture %d (options.offline.moderate_slots)", n)
	}
	return nil
}

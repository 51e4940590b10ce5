package generate

import (
	"encoding/json"
	"strings"
)

// Parent reads what the metadata of the only input keeps of the call that made it, under
// the provider's key, into a value; false where there is no such input.
func (t Task) Parent(into any) bool {
	if len(t.Inputs) != 1 {
		return false
	}
	kept, ok := t.Inputs[0].Metadata[t.Model.Provider].(map[string]any)
	raw, err := json.Marshal(kept)
	return ok && err == nil && json.Unmarshal(raw, into) == nil
}

// Tile tells which result of a grid the only input is, from 1; 0 for one that is whole.
func (t Task) Tile() int {
	if len(t.Inputs) != 1 {
		return 0
	}
	n := 0
	switch said := t.Inputs[0].Metadata["tile"].(type) {
	case int:
		n = said
	case float64: // it came through a ledger
		n = int(said)
	}
	if n < 1 || n > maxTiles {
		return 0
	}
	return n
}

// cutOption gives the name of an option in a disposition; false for other settings.
func cutOption(setting, provider string) (string, bool) {
	rest, ok := strings.CutPrefix(setting, "options.")
	if !ok {
		return "", false
	}
	owner, name, _ := strings.Cut(rest, ".")
	return name, strings.EqualFold(owner, provider)
}

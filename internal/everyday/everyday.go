// Package everyday provides strings that people and programs use every day: links with long IDs, signatures, keys,
// hashes, scripts, long words. None of them is media, and each must pass through every part of the program byte for
// byte (law 11). It is for tests only and imports nothing from this project.
package everyday

import (
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed strings.json
var list []byte

// String is one of the strings.
type String struct {
	// Kind describes the string in a few words.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Strings returns all strings in a fixed order. It panics if the list cannot be read.
func Strings() []String {
	var all []String
	if err := json.Unmarshal(list, &all); err != nil {
		panic(err)
	}
	return all
}

// Text joins all strings into one text, each on its own lines.
func Text() string {
	var all []string
	for _, s := range Strings() {
		all = append(all, strings.TrimSpace(s.Text))
	}
	return strings.Join(all, "\n")
}

// Missing returns the kinds and beginnings of the strings that a text does not contain completely.
func Missing(text string) (missing []string) {
	for _, s := range Strings() {
		if !strings.Contains(text, strings.TrimSpace(s.Text)) {
			missing = append(missing, s.Kind+": "+s.Text[:min(40, len(s.Text))])
		}
	}
	return missing
}

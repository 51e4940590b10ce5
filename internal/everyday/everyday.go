// Package everyday holds strings as people and programs use them every day: links with long
// ids, signatures, keys, hashes, scripts, long words. None of them is media, and each must
// pass through every part of the program byte for byte (law 11). It is for tests only, and
// imports nothing of this project.
package everyday

import (
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed strings.json
var list []byte

// String is one of them.
type String struct {
	// Kind says in a few words what it is.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Strings returns all of them, in a fixed order. It panics if the list cannot be read.
func Strings() []String {
	var all []String
	if err := json.Unmarshal(list, &all); err != nil {
		panic(err)
	}
	return all
}

// Text joins all strings to one text, each on lines of its own.
func Text() string {
	var all []string
	for _, s := range Strings() {
		all = append(all, strings.TrimSpace(s.Text))
	}
	return strings.Join(all, "\n")
}

// Missing returns the kinds and beginnings of those strings that a text does not hold whole.
func Missing(text string) (missing []string) {
	for _, s := range Strings() {
		if !strings.Contains(text, strings.TrimSpace(s.Text)) {
			missing = append(missing, s.Kind+": "+s.Text[:min(40, len(s.Text))])
		}
	}
	return missing
}

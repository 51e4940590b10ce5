package post

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// Phrase is what words of a provider mean where they say more than its status.
type Phrase struct {
	// Any lists parts of its texts and names of errors, in lower case.
	Any []string
	// Code is what one of them means; media.CodeModerated is a refusal.
	Code media.Code
	// Advice says what to do, in the place of the usual words.
	Advice string
}

// Phrases are tried in order.
type Phrases []Phrase

// In finds the first phrase that is in a text; false if none is.
func (list Phrases) In(text string) (Phrase, bool) {
	text = strings.ToLower(text)
	i := slices.IndexFunc(list, func(p Phrase) bool {
		return slices.ContainsFunc(p.Any, func(part string) bool { return strings.Contains(text, part) })
	})
	if i < 0 {
		return Phrase{}, false
	}
	return list[i], true
}

// understand fills in what a fault leaves open by the provider's words. A failure of the
// provider is no refusal, whatever it says.
func (c *Client) understand(f *Fault) {
	p, ok := c.config.Phrases.In(f.Label + " " + f.Words)
	if !ok || f.Code != "" || f.Blocked != nil {
		return
	}
	switch {
	case p.Code != media.CodeModerated:
		f.Code, f.Advice = p.Code, cmp.Or(f.Advice, p.Advice)
	case f.Status < http.StatusInternalServerError:
		f.Blocked = &generate.Safety{Stage: "input", Categories: []string{f.Words}}
	}
}

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

// topics are what refusals are about, and the parts of texts, in lower case, that name it.
var topics = []struct {
	category string
	any      []string
}{
	{"sexual", []string{"sexual", "nsfw", "nudity", "porn", "色情"}},
	{"violence", []string{"violen", "gore", "暴力"}},
	{"hate", []string{"hate speech", "hateful", "racis"}},
	{"harassment", []string{"harass", "bully"}},
	{"self_harm", []string{"self-harm", "self harm", "suicid"}},
	{"minors", []string{"minors", "csam", "underage"}},
	{"public_figure", []string{"public figure", "celebrit", "politician"}},
	{"copyright", []string{"copyright", "trademark", "intellectual property"}},
	{"banned_words", []string{"banned", "disallowed words", "违禁"}},
	{"sensitive", []string{"sensitive", "敏感"}},
	{"guidelines", []string{"community guidelines", "content policy"}},
}

// categories are the codes of what a text says that a refusal is about; nil if it does not say.
func categories(text string) (codes []string) {
	text = strings.ToLower(text)
	for _, t := range topics {
		if slices.ContainsFunc(t.any, func(part string) bool { return strings.Contains(text, part) }) {
			codes = append(codes, t.category)
		}
	}
	return codes
}

// understand fills in what a fault leaves open by the provider's words. A failure of the
// provider is no refusal, whatever it says.
func (p *Provider) understand(f *Fault) {
	phrase, ok := p.config.Phrases.In(f.Label + " " + f.Words)
	if !ok || f.Code != "" || f.Blocked != nil {
		return
	}
	switch {
	case phrase.Code != media.CodeModerated:
		f.Code, f.Advice = phrase.Code, cmp.Or(f.Advice, phrase.Advice)
	case f.Status < http.StatusInternalServerError:
		f.Blocked = &generate.Safety{Stage: "input", Categories: categories(f.Words)}
	}
}

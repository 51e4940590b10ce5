package post_test

import (
	"net/http"
	"slices"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// TestRefusalsNameTheirCategories: a refusal in words gets the codes of the categories that the words name, for failed
// tasks and refused calls alike, and none if they name nothing.
func TestRefusalsNameTheirCategories(t *testing.T) {
	t.Parallel()
	refused := post.Phrases{{Any: []string{"moderat", "banned", "敏感"}, Code: media.CodeModerated, Advice: "change the prompt"}}
	for words, want := range map[string][]string{
		"[Banned prompt] Banned prompt detected":               {"banned_words"},
		"Moderation: nudity and gore":                          {"sexual", "violence"},
		"moderation: prompt contains disallowed words":         {"banned_words"},
		"可能包含敏感词":                                              {"sensitive"},
		"[Sorry!] Our AI moderators feel your prompt might be": nil,
		"moderated: copyrighted or a celebrity":                {"public_figure", "copyright"},
	} {
		said := words
		c, err := post.New(post.Config{
			Name: "Provider", Config: driver.Config{BaseURL: "https://api.example", Codec: wiretest.NewCodec(t)}, Phrases: refused, Failures: refused,
			Explain: func(*post.Answer) (post.Fault, bool) { return post.Fault{Words: said}, true },
		})
		if err != nil {
			t.Fatal(err)
		}
		failed := c.Unfinished(driver.Task{}, words)
		u, err := c.Refuse(post.Call{}, &post.Answer{Status: http.StatusBadRequest}, post.Fault{Words: said})
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		for _, items := range [][]driver.Item{failed, u.Items} {
			if len(items) != 1 || items[0].Safety == nil || !items[0].Safety.Blocked || !slices.Equal(items[0].Safety.Categories, want) {
				t.Errorf("%q: %+v, want %q", words, items, want)
			}
		}
	}
}

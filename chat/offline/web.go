package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// browsing researches the web: search, read the first pages, report.
func browsing(c *conversation) step {
	found := c.did("Web Search")
	if len(found) == 0 {
		q := strings.Join(terms(c.task, 12), " ")
		return step{Reasoning: "Search for the words of the task.", Actions: []actionCall{{Name: "Web Search", Params: map[string]any{"Query": cmp.Or(q, clip(c.task, 300))}}}}
	}
	var out struct {
		Results []webHit `json:"results"`
	}
	last := found[len(found)-1]
	if !last.Success || json.Unmarshal(last.Outputs, &out) != nil {
		return step{Done: true, Message: "The web could not be searched: " + last.Message, Reasoning: "Nothing can be read."}
	}
	chosen := voices(out.Results)
	read := c.did("Fetch Page")
	if len(read) == 0 && len(chosen) > 0 {
		s := step{Reasoning: fmt.Sprintf("Read %s of different sites.", count(len(chosen), "page"))}
		for _, h := range chosen {
			s.Actions = append(s.Actions, actionCall{Name: "Fetch Page", Params: map[string]any{"URL": h.URL}})
		}
		return s
	}
	h := newHarvest(c.task)
	for i, a := range read {
		var page struct{ URL, Title, Text string }
		asked := webHit{}
		if i < len(chosen) {
			asked = chosen[i]
		}
		if !a.Success || json.Unmarshal(a.Outputs, &page) != nil {
			h.fail(asked.URL, a.Message)
			continue
		}
		title, at := cmp.Or(page.Title, asked.Title), cmp.Or(page.URL, asked.URL)
		if !h.passage(at, title, page.Text) {
			h.fail(at, "no full sentences")
			continue
		}
		h.source(at, title, "web page", 0)
	}
	return h.step(fmt.Sprintf("Read %s of the web.", count(len(h.sources), "page")))
}

// webHit is one hit of Web Search.
type webHit struct{ Title, URL string }

// voices chooses pages, one of each site before a second one.
func voices(hits []webHit) []webHit {
	var first, more []webHit
	seen := map[string]bool{}
	for _, h := range hits {
		u, err := url.Parse(h.URL)
		if err != nil {
			continue
		}
		if seen[u.Host] {
			more = append(more, h)
			continue
		}
		seen[u.Host] = true
		first = append(first, h)
	}
	first = append(first, more...)
	return first[:min(mostPages, len(first))]
}

// terms are the content words of a task as they are written, without repetition.
func terms(task string, most int) []string {
	var out []string
	for _, w := range strings.FieldsFunc(task, func(r rune) bool { return strings.ContainsRune(" \t\n\r.,;:!?\"'()[]{}<>/", r) }) {
		if len(words(w)) == 1 && !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, w) }) && len(out) < most {
			out = append(out, w)
		}
	}
	return out
}

// queries are searches for a task: all of its words, then the longest ones alone.
func queries(task string) []string {
	all := terms(task, 12)
	if len(all) == 0 {
		return nil
	}
	out := []string{strings.Join(all, " ")}
	alone := slices.Clone(all)
	slices.SortStableFunc(alone, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, w := range alone[:min(3, len(alone))] {
		if w != out[0] {
			out = append(out, w)
		}
	}
	return out
}

package offline

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"atelier/chat/offline/question"
	"atelier/chat/offline/question/passage"
	"atelier/chat/offline/question/speech"
)

// maxPages is the maximum number of web pages that are read.
const maxPages = 5

// terms returns at most most content words of the parts of a task, as written.
func terms(task string, most int) []string {
	var out []string
	for _, p := range question.Parts(task) {
		for _, w := range passage.ContentWords(p, speech.LanguageOf(task)) {
			if !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, w) }) && len(out) < most {
				out = append(out, w)
			}
		}
	}
	return out
}

// searching answers from a knowledge base: it runs a few searches at once, then quotes.
func searching(c *conversation) step {
	const action = "Search Knowledge Base"
	calls := c.actionResults(action)
	if len(calls) == 0 {
		s := step{Reasoning: "Look for the words of the question, together and alone."}
		all := terms(c.task, 12)
		queries := []string{strings.Join(all, " ")}
		alone := slices.Clone(all)
		slices.SortStableFunc(alone, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
		queries = append(queries, alone[:min(3, len(alone))]...)
		for _, q := range slices.Compact(queries) {
			if q != "" {
				s.Actions = append(s.Actions, actionCall{Name: action, Params: map[string]any{"Query": q}})
			}
		}
		if len(s.Actions) > 0 {
			return s
		}
	}
	f := &findings{}
	f.addUnansweredParts(c.task)
	var docs []passage.Document
	for _, a := range calls {
		var out struct {
			Results []struct{ Path, Title, Heading, Text string } `json:"results"`
			Skipped []unread                                      `json:"skipped"`
		}
		if !a.Success || json.Unmarshal(a.Outputs, &out) != nil {
			f.NotRead = append(f.NotRead, unread{"knowledge base", a.Message})
			continue
		}
		for _, r := range out.Results {
			docs = addPassage(docs, passage.Document{Path: r.Path, Title: r.Title, Text: "# " + cmp.Or(r.Heading, r.Title) + "\n\n" + r.Text})
		}
		for _, s := range out.Skipped {
			if !slices.Contains(f.NotRead, s) {
				f.NotRead = append(f.NotRead, s)
			}
		}
	}
	for _, d := range docs {
		f.Holds = append(f.Holds, holding{Path: d.Path})
	}
	f.quote(c.task, docs)
	return f.step(summary(f))
}

func addPassage(docs []passage.Document, d passage.Document) []passage.Document {
	i := slices.IndexFunc(docs, func(o passage.Document) bool { return o.Path == d.Path })
	if i < 0 {
		return append(docs, d)
	}
	if !strings.Contains(docs[i].Text, d.Text) {
		docs[i].Text += "\n\n" + d.Text
	}
	return docs
}

// browsing answers from the web: it searches, reads the first pages, then quotes.
func browsing(c *conversation) step {
	f := &findings{}
	f.addUnansweredParts(c.task)
	found := c.actionResults("Web Search")
	if len(found) == 0 {
		q := strings.Join(terms(c.task, 12), " ")
		return step{Reasoning: "Search for the words of the question.", Actions: []actionCall{{Name: "Web Search", Params: map[string]any{"Query": cmp.Or(q, clip(c.task, 300))}}}}
	}
	var out struct {
		Results []webHit `json:"results"`
	}
	last := found[len(found)-1]
	if !last.Success || json.Unmarshal(last.Outputs, &out) != nil {
		f.NotRead = append(f.NotRead, unread{"web", last.Message})
		return f.step("The web could not be searched: " + last.Message)
	}
	chosen := pickAcrossSites(out.Results)
	pages := c.actionResults("Fetch Page")
	if len(pages) == 0 && len(chosen) > 0 {
		s := step{Reasoning: "Read pages of different sites."}
		for _, h := range chosen {
			s.Actions = append(s.Actions, actionCall{Name: "Fetch Page", Params: map[string]any{"URL": h.URL}})
		}
		return s
	}
	var docs []passage.Document
	for i, a := range pages {
		var page struct{ URL, Title, Text string }
		hit := webHit{}
		if i < len(chosen) {
			hit = chosen[i]
		}
		if !a.Success || json.Unmarshal(a.Outputs, &page) != nil {
			f.NotRead = append(f.NotRead, unread{hit.URL, a.Message})
			continue
		}
		d := passage.Document{Path: cmp.Or(page.URL, hit.URL), Title: cmp.Or(page.Title, hit.Title), Text: page.Text}
		docs = append(docs, d)
		f.Holds = append(f.Holds, holding{Path: d.Path})
	}
	f.quote(c.task, docs)
	return f.step(summary(f))
}

// webHit is one result of Web Search.
type webHit struct{ Title, URL string }

// pickAcrossSites chooses pages, one of each site before a second of any.
func pickAcrossSites(hits []webHit) []webHit {
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
	return first[:min(maxPages, len(first))]
}

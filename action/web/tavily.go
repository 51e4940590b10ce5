package web

import (
	"context"
	"net/http"

	"atelier/media"
)

// Tavily searches with the Tavily API (docs.tavily.com, Tavily Search). It has no
// setting for the language: a query in a language finds pages in it.
type Tavily struct{ *client }

var _ Searcher = (*Tavily)(nil)

// NewTavily needs a key. The error has code [media.CodeMissingKey] or CodeInvalid.
func NewTavily(p Provider) (*Tavily, error) {
	if p.Key == "" {
		return nil, media.Errorf(media.CodeMissingKey, "the key for Tavily is missing")
	}
	c, err := newClient("Tavily", "https://api.tavily.com", "search", p)
	return &Tavily{c}, err
}

// Search implements [Searcher].
func (t *Tavily) Search(ctx context.Context, q Query) ([]Hit, error) {
	body := map[string]any{"query": q.Text, "max_results": q.Count, "search_depth": "basic"}
	if q.Freshness != "" {
		body["time_range"] = q.Freshness
	}
	var out struct {
		Results []struct {
			Title         string `json:"title"`
			URL           string `json:"url"`
			Content       string `json:"content"`
			PublishedDate string `json:"published_date"`
		} `json:"results"`
	}
	header := http.Header{"Authorization": {"Bearer " + t.key}}
	if err := t.call(ctx, question{header: header, body: body}, &out); err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(out.Results))
	for _, r := range out.Results {
		hits = append(hits, Hit{Title: r.Title, URL: r.URL, Snippet: r.Content, Published: r.PublishedDate})
	}
	return hits, nil
}

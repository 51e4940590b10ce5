package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"atelier/media"
)

// Brave searches with the Brave Search API
// (api-dashboard.search.brave.com, Web Search).
type Brave struct{ *client }

var _ Searcher = (*Brave)(nil)

// NewBrave needs a key. The error has code [media.CodeMissingKey] or CodeInvalid.
func NewBrave(p Provider) (*Brave, error) {
	if p.Key == "" {
		return nil, media.Errorf(media.CodeMissingKey, "the key for Brave Search is missing")
	}
	c, err := newClient("Brave", "https://api.search.brave.com", "res/v1/web/search", p)
	return &Brave{c}, err
}

// Search implements [Searcher].
func (b *Brave) Search(ctx context.Context, q Query) ([]Hit, error) {
	v := url.Values{"q": {q.Text}, "count": {strconv.Itoa(q.Count)}, "text_decorations": {"false"}, "result_filter": {"web"}}
	if q.Language != "" {
		v.Set("search_lang", q.Language)
	}
	if q.Freshness != "" {
		v.Set("freshness", "p"+q.Freshness[:1]) // pd, pw, pm, py
	}
	var out struct {
		Web struct {
			Results []struct {
				Title       string `json:"title"`
				URL         string `json:"url"`
				Description string `json:"description"`
				PageAge     string `json:"page_age"`
			} `json:"results"`
		} `json:"web"`
	}
	header := http.Header{"X-Subscription-Token": {b.key}}
	if err := b.call(ctx, question{query: v, header: header}, &out); err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(out.Web.Results))
	for _, r := range out.Web.Results {
		hits = append(hits, Hit{Title: r.Title, URL: r.URL, Snippet: r.Description, Published: r.PageAge})
	}
	return hits, nil
}

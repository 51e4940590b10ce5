package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"atelier/media"
)

// found is a hit in the names of the providers: SearXNG's content and publishedDate, Brave's description and page_age,
// Tavily's content and published_date. Upper and lower case are the same in JSON names.
type found struct {
	Title, URL, Content, Description, PublishedDate string

	PageAge   string `json:"page_age"`
	Published string `json:"published_date"`
}

func hits(all []found) []Hit {
	out := []Hit{}
	for _, f := range all {
		out = append(out, Hit{Title: f.Title, URL: f.URL, Snippet: cmp.Or(f.Content, f.Description), Published: cmp.Or(f.PublishedDate, f.PageAge, f.Published)})
	}
	return out
}

// SearXNG searches with an instance of the free metasearch engine. The settings of the instance must list json in
// search.formats (docs.searxng.org, Search API).
type SearXNG struct{ *client }

var _ Searcher = (*SearXNG)(nil)

// NewSearXNG requires the address of the instance. The error has code [media.CodeInvalid].
func NewSearXNG(p Provider) (*SearXNG, error) {
	if p.BaseURL == "" {
		return nil, media.Errorf(media.CodeInvalid, "the address of the SearXNG instance is missing")
	}
	c, err := newClient("SearXNG", "", "search", p)
	return &SearXNG{c}, err
}

// Search implements [Searcher].
func (s *SearXNG) Search(ctx context.Context, q Query) ([]Hit, error) {
	v := url.Values{"q": {q.Text}, "format": {"json"}, "categories": {"general"}}
	if q.Language != "" {
		v.Set("language", q.Language)
	}
	if q.Freshness != "" {
		v.Set("time_range", q.Freshness)
	}
	var out struct {
		Results []found `json:"results"`
		// Unresponsive lists engines that returned nothing, with the reason.
		Unresponsive [][]string `json:"unresponsive_engines"`
	}
	if err := s.call(ctx, question{query: v}, &out); err != nil {
		if media.CodeOf(err) == media.CodeForbidden {
			return nil, media.Errorf(media.CodeForbidden, "SearXNG does not allow searches in JSON: add json to search.formats in its settings")
		}
		return nil, err
	}
	if len(out.Results) == 0 && len(out.Unresponsive) > 0 {
		var reason []string
		for _, u := range out.Unresponsive {
			reason = append(reason, strings.Join(u, " "))
		}
		return nil, media.Errorf(media.CodeUnavailable, "none of SearXNG's engines responds: %s", one(strings.Join(reason, ", "), 200))
	}
	return hits(out.Results), nil
}

// Brave searches with the Brave Search API (api-dashboard.search.brave.com, Web Search).
type Brave struct{ *client }

var _ Searcher = (*Brave)(nil)

// NewBrave requires a key. The error has code [media.CodeMissingKey] or CodeInvalid.
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
			Results []found `json:"results"`
		} `json:"web"`
	}
	header := http.Header{"X-Subscription-Token": {b.key}}
	if err := b.call(ctx, question{query: v, header: header}, &out); err != nil {
		return nil, err
	}
	return hits(out.Web.Results), nil
}

// Tavily searches with the Tavily API (docs.tavily.com, Tavily Search). It has no language setting: a query finds pages
// in its own language.
type Tavily struct{ *client }

var _ Searcher = (*Tavily)(nil)

// NewTavily requires a key. The error has code [media.CodeMissingKey] or CodeInvalid.
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
		Results []found `json:"results"`
	}
	header := http.Header{"Authorization": {"Bearer " + t.key}}
	if err := t.call(ctx, question{header: header, body: body}, &out); err != nil {
		return nil, err
	}
	return hits(out.Results), nil
}

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

// NewSearXNG searches with an instance of the free metasearch engine, whose address is required. The settings of the
// instance must list json in search.formats (docs.searxng.org, Search API). The error has code [media.CodeInvalid].
func NewSearXNG(p Provider) (*Engine, error) {
	if p.BaseURL == "" {
		return nil, media.Errorf(media.CodeInvalid, "the address of the SearXNG instance is missing")
	}
	return newEngine("SearXNG", p.BaseURL, "search", p, func(_ string, q Query) question {
		v := url.Values{"q": {q.Text}, "format": {"json"}, "categories": {"general"}}
		set(v, "language", q.Language)
		set(v, "time_range", q.Freshness)
		return question{query: v}
	})
}

// NewBrave searches with the Brave Search API (api-dashboard.search.brave.com, Web Search), which requires a key. The
// error has code [media.CodeMissingKey] or CodeInvalid.
func NewBrave(p Provider) (*Engine, error) {
	if p.Key == "" {
		return nil, media.Errorf(media.CodeMissingKey, "the key for Brave Search is missing")
	}
	return newEngine("Brave", "https://api.search.brave.com", "res/v1/web/search", p, func(key string, q Query) question {
		v := url.Values{"q": {q.Text}, "count": {strconv.Itoa(q.Count)}, "text_decorations": {"false"}, "result_filter": {"web"}}
		set(v, "search_lang", q.Language)
		if q.Freshness != "" {
			v.Set("freshness", "p"+q.Freshness[:1]) // pd, pw, pm, py
		}
		return question{query: v, header: http.Header{"X-Subscription-Token": {key}}}
	})
}

// NewTavily searches with the Tavily API (docs.tavily.com, Tavily Search), which requires a key. It has no language
// setting: a query finds pages in its own language. The error has code [media.CodeMissingKey] or CodeInvalid.
func NewTavily(p Provider) (*Engine, error) {
	if p.Key == "" {
		return nil, media.Errorf(media.CodeMissingKey, "the key for Tavily is missing")
	}
	return newEngine("Tavily", "https://api.tavily.com", "search", p, func(key string, q Query) question {
		body := map[string]any{"query": q.Text, "max_results": q.Count, "search_depth": "basic"}
		if q.Freshness != "" {
			body["time_range"] = q.Freshness
		}
		return question{body: body, header: http.Header{"Authorization": {"Bearer " + key}}}
	})
}

func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

// found is a hit in the names of the providers: SearXNG's content and publishedDate, Brave's description and page_age,
// Tavily's content and published_date. Upper and lower case are the same in JSON names.
type found struct {
	Title, URL, Content, Description, PublishedDate string

	PageAge   string `json:"page_age"`
	Published string `json:"published_date"`
}

// Search implements [Searcher].
func (e *Engine) Search(ctx context.Context, q Query) ([]Hit, error) {
	var out struct {
		Results []found
		Web     struct{ Results []found } // Brave's
		// Unresponsive lists SearXNG's engines that returned nothing, with the reason.
		Unresponsive [][]string `json:"unresponsive_engines"`
	}
	if err := e.call(ctx, e.request(e.key, q), &out); err != nil {
		if media.CodeOf(err) == media.CodeForbidden && e.key == "" {
			return nil, media.Errorf(media.CodeForbidden, "%s does not allow searches in JSON: add json to search.formats in its settings", e.name)
		}
		return nil, err
	}
	hits := []Hit{}
	for _, f := range append(out.Results, out.Web.Results...) {
		hits = append(hits, Hit{Title: f.Title, URL: f.URL, Snippet: cmp.Or(f.Content, f.Description), Published: cmp.Or(f.PublishedDate, f.PageAge, f.Published)})
	}
	if len(hits) == 0 && len(out.Unresponsive) > 0 {
		var reason []string
		for _, u := range out.Unresponsive {
			reason = append(reason, strings.Join(u, " "))
		}
		return nil, media.Errorf(media.CodeUnavailable, "none of SearXNG's engines responds: %s", one(strings.Join(reason, ", "), 200))
	}
	return hits, nil
}

package web

import (
	"context"
	"net/url"
	"strings"

	"atelier/media"
)

// SearXNG searches with an instance of the free metasearch engine. The instance must
// have json among search.formats in its settings (docs.searxng.org, Search API).
type SearXNG struct{ *client }

var _ Searcher = (*SearXNG)(nil)

// NewSearXNG needs the address of the instance. The error has code [media.CodeInvalid].
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
		Results []struct {
			Title, URL, Content, PublishedDate string
		} `json:"results"`
		// Unresponsive lists engines with the reason why they gave nothing.
		Unresponsive [][]string `json:"unresponsive_engines"`
	}
	if err := s.call(ctx, question{query: v}, &out); err != nil {
		if media.CodeOf(err) == media.CodeForbidden {
			return nil, media.Errorf(media.CodeForbidden, "SearXNG does not allow searches in JSON: add json to search.formats in its settings")
		}
		return nil, err
	}
	if len(out.Results) == 0 && len(out.Unresponsive) > 0 {
		var why []string
		for _, u := range out.Unresponsive {
			why = append(why, strings.Join(u, " "))
		}
		return nil, media.Errorf(media.CodeUnavailable, "none of SearXNG's engines responds: %s", one(strings.Join(why, ", "), 200))
	}
	hits := make([]Hit, 0, len(out.Results))
	for _, r := range out.Results {
		hits = append(hits, Hit{Title: r.Title, URL: r.URL, Snippet: r.Content, Published: r.PublishedDate})
	}
	return hits, nil
}

package web

import (
	"context"
	"fmt"
	"strings"

	"atelier/internal/safehttp"

	"atelier/action"
	"atelier/action/file"
	"atelier/media"
)

// Searcher is one provider of web search. Implementations are safe for concurrent use.
type Searcher interface {
	// Name is the display name, such as "Brave".
	Name() string
	// Search returns at most q.Count hits, best first. Finding no hits is not an error.
	Search(ctx context.Context, q Query) ([]Hit, error)
}

// Query is one search.
type Query struct {
	// Text may use the provider's own syntax; words are sufficient.
	Text string
	// Count is the number of requested hits, 1 to 20.
	Count int
	// Freshness is day, week, month, year or "" for any age.
	Freshness string
	// Language is a code such as de, or "" for any.
	Language string
}

// Hit is one page found by a search.
type Hit struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet,omitempty"`
	// Published is a date in the provider's format.
	Published string `json:"published,omitempty"`
}

// Limits of one search.
const (
	maxHits    = 20
	maxQuery   = 400  // characters, the lowest limit of any provider
	maxSnippet = 500  // characters
	maxURL     = 2000 // characters; longer addresses are omitted
)

// Web searches and reads the web for agents. It is safe for concurrent use.
type Web struct {
	cfg Config
}

// Config selects the search provider and how pages are fetched.
type Config struct {
	// Search finds pages. Required.
	Search Searcher
	// Fetch fetches pages; nil means public addresses only, up to [DefaultMaxBytes].
	Fetch *safehttp.Client
}

// New checks the configuration. The error has code [media.CodeInvalid].
func New(cfg Config) (*Web, error) {
	if cfg.Search == nil {
		return nil, media.Errorf(media.CodeInvalid, "web.Config.Search is missing: give one of the providers")
	}
	if cfg.Fetch == nil {
		cfg.Fetch = NewFetcher("")
	}
	return &Web{cfg: cfg}, nil
}

// Actions returns Web Search and Fetch Page.
func (w *Web) Actions() []action.Action {
	return []action.Action{{
		Name:        "Web Search",
		Description: "Searches the web and returns titles, addresses and short passages. Read promising pages with Fetch Page: a passage alone is not evidence.",
		Tags:        []string{"web", action.TagSource},
		Params: []action.Param{
			{Name: "Query", Required: true, Description: "The words to search for; short and specific."},
			{Name: "Count", Type: "integer", Default: 10, Description: "The maximum number of results, 1 to 20."},
			{Name: "Freshness", Values: []string{"day", "week", "month", "year", "any"}, Default: "any", Description: "The maximum age of pages."},
			{Name: "Language", Description: "A language code such as en or de. The default is any language."},
			{Name: "results", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "title, url, snippet and published of each result."},
			{Name: "resultCount", Direction: action.Output, Type: "integer", Description: "The number of results."},
			{Name: "provider", Direction: action.Output, Description: "Who searched."},
		},
		Run: w.search,
	}, {
		Name:        "Fetch Page",
		Description: "Reads a web page as text: HTML without navigation, PDF, plain text, JSON. Long pages are returned in parts.",
		Tags:        []string{"web", action.TagSource},
		Params: []action.Param{
			{Name: "URL", Required: true, Description: "The address, as returned by Web Search."},
			{Name: "Offset", Type: "integer", Default: 0, Description: "The offset of the first character to return."},
			{Name: "Limit", Type: "integer", Default: 8000, Description: "The maximum number of characters to return."},
			{Name: "url", Direction: action.Output, ValueType: action.Other, Description: "The address after redirects."},
			{Name: "title", Direction: action.Output, ValueType: action.Other, Description: "The page's title."},
			{Name: "text", Direction: action.Output, ValueType: action.Other, Description: "The text, with offset, totalChars and truncated."},
			{Name: "warnings", Direction: action.Output, ValueType: action.Other, Description: "What was omitted."},
		},
		Run: w.fetch,
	}}
}

// Descriptions returns the descriptions of the actions, without a provider, for documentation and checks.
func Descriptions() []action.Description { return action.Document((&Web{}).Actions()...) }

func (w *Web) search(ctx context.Context, c *action.Call) (action.Result, error) {
	q := Query{Text: strings.Join(strings.Fields(c.Text("Query")), " "), Count: c.Int("Count"), Language: strings.ToLower(strings.TrimSpace(c.Text("Language")))}
	switch {
	case q.Text == "":
		return action.Result{}, media.Errorf(media.CodeInvalid, "Query is empty: give words to search for")
	case len([]rune(q.Text)) > maxQuery:
		return action.Result{}, media.Errorf(media.CodeInvalid, "Query has more than %d characters: use fewer words", maxQuery)
	case q.Count < 1 || q.Count > maxHits:
		return action.Result{}, media.Errorf(media.CodeInvalid, "Count must be 1 to %d, not %d", maxHits, q.Count)
	case len(q.Language) > 10 || strings.ContainsFunc(q.Language, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' }):
		return action.Result{}, media.Errorf(media.CodeInvalid, "Language %q is not a language code: use one such as en or de", file.Clip(q.Language, 20))
	}
	if f := c.Text("Freshness"); f != "any" {
		q.Freshness = f
	}
	hits, err := w.cfg.Search.Search(ctx, q)
	if err != nil {
		return action.Result{}, err
	}
	hits = tidy(hits, q.Count)
	res := action.Result{
		Message: fmt.Sprintf("%d hits from %s", len(hits), w.cfg.Search.Name()),
		Outputs: map[string]any{"results": hits, "resultCount": len(hits), "provider": w.cfg.Search.Name()},
	}
	if len(hits) == 0 {
		res.Message = "Nothing was found: use other or fewer words"
	}
	return res, nil
}

// tidy drops duplicates and hits without a usable address, keeps at most most hits, and shortens their texts.
func tidy(hits []Hit, most int) []Hit {
	out, seen := []Hit{}, map[string]bool{}
	for _, h := range hits {
		u := strings.TrimSpace(h.URL)
		lower := strings.ToLower(u)
		if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") || len(u) > maxURL || seen[u] || len(out) == most {
			continue
		}
		seen[u] = true
		out = append(out, Hit{
			Title: one(h.Title, 200), URL: u, Snippet: one(h.Snippet, maxSnippet), Published: one(h.Published, 40),
		})
	}
	return out
}

// one converts s to one line of text without markup.
func one(s string, n int) string {
	return file.Clip(strings.Join(strings.Fields(plainText(s)), " "), n)
}

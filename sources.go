package atelier

import (
	"strings"

	"atelier/action/web"
	"atelier/agent"
	"atelier/media"
)

// Search selects the provider of web searches: the first configured one, in the order of the fields.
type Search struct {
	// SearXNG is the address of a SearXNG instance.
	SearXNG string
	// BraveKey and TavilyKey are credentials. The base URLs replace the providers' own addresses.
	BraveKey, BraveBaseURL   string
	TavilyKey, TavilyBaseURL string
}

// readSearch reads the environment. The error has code media.CodeInvalid.
func readSearch(env func(string) string) (Search, error) {
	text := func(name string) string { return strings.TrimSpace(env(name)) }
	s := Search{
		SearXNG: text("SEARXNG_URL"), BraveKey: text("BRAVE_SEARCH_API_KEY"), BraveBaseURL: text("BRAVE_BASE_URL"),
		TavilyKey: text("TAVILY_API_KEY"), TavilyBaseURL: text("TAVILY_BASE_URL"),
	}
	for name, v := range map[string]string{"SEARXNG_URL": s.SearXNG, "BRAVE_BASE_URL": s.BraveBaseURL, "TAVILY_BASE_URL": s.TavilyBaseURL} {
		if v != "" && !strings.HasPrefix(v, "http://") && !strings.HasPrefix(v, "https://") {
			return s, media.Errorf(media.CodeInvalid, "%s must begin with http:// or https://", name)
		}
	}
	return s, nil
}

// searcher creates the configured provider; nil if there is none.
func (s Search) searcher() (*web.Engine, error) {
	switch {
	case s.SearXNG != "":
		return web.NewSearXNG(web.Provider{BaseURL: s.SearXNG})
	case s.BraveKey != "":
		return web.NewBrave(web.Provider{Key: s.BraveKey, BaseURL: s.BraveBaseURL})
	case s.TavilyKey != "":
		return web.NewTavily(web.Provider{Key: s.TavilyKey, BaseURL: s.TavilyBaseURL})
	}
	return nil, nil
}

// searchHint says how to configure web search.
const searchHint = "set SEARXNG_URL, BRAVE_SEARCH_API_KEY or TAVILY_API_KEY"

// Name returns the display name of the search provider; empty if there is none. The error reports an invalid
// configuration.
func (s Search) Name() (string, error) {
	found, err := s.searcher()
	if err != nil || found == nil {
		return "", err
	}
	return found.Name(), nil
}

// sourcesOf returns the available sources, and for each other source how to configure it.
func sourcesOf(s Sources, search bool) map[string]agent.Source {
	source := func(configured bool, hint string) agent.Source {
		if configured {
			return agent.Source{Configured: true}
		}
		return agent.Source{Reason: hint}
	}
	return map[string]agent.Source{
		"files": source(s.Files != "", "give a folder with --files"),
		"web":   source(search, searchHint),
		"db":    source(s.Database != "", "give a database with --db"),
		"kb":    source(s.Knowledge != "", "give a folder of documents with --kb"),
	}
}

// Configured returns the sources that are available to every run, and for each other source how to configure it.
func (c Config) Configured() (map[string]agent.Source, error) {
	found, err := c.Search.searcher()
	return sourcesOf(c.Sources, err == nil && found != nil), err
}

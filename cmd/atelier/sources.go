package main

import (
	"context"
	"path/filepath"
	"strings"

	"atelier/action"
	"atelier/action/database"
	"atelier/action/knowledge"
	"atelier/action/web"
	"atelier/agent"
	"atelier/media"
)

// searchSettings are what the environment says about web search. The first provider
// that is configured is used.
type searchSettings struct {
	searxng             string
	braveKey, braveBase string
	tavilyKey, tavily   string
}

// readSearch reads the environment. The error has code invalid.
func readSearch(env func(string) string) (searchSettings, error) {
	text := func(name string) string { return strings.TrimSpace(env(name)) }
	s := searchSettings{
		searxng: text("SEARXNG_URL"), braveKey: text("BRAVE_SEARCH_API_KEY"), braveBase: text("BRAVE_BASE_URL"),
		tavilyKey: text("TAVILY_API_KEY"), tavily: text("TAVILY_BASE_URL"),
	}
	for name, v := range map[string]string{"SEARXNG_URL": s.searxng, "BRAVE_BASE_URL": s.braveBase, "TAVILY_BASE_URL": s.tavily} {
		if v != "" && !strings.HasPrefix(v, "http://") && !strings.HasPrefix(v, "https://") {
			return s, media.Errorf(media.CodeInvalid, "%s must begin with http:// or https://", name)
		}
	}
	return s, nil
}

// engine is a provider of searches that says where they go.
type engine interface {
	web.Searcher
	API() string
}

// searcher makes the provider that is configured, nil if there is none.
func (s searchSettings) searcher() (engine, error) {
	switch {
	case s.searxng != "":
		return web.NewSearXNG(web.Provider{BaseURL: s.searxng})
	case s.braveKey != "":
		return web.NewBrave(web.Provider{Key: s.braveKey, BaseURL: s.braveBase})
	case s.tavilyKey != "":
		return web.NewTavily(web.Provider{Key: s.tavilyKey, BaseURL: s.tavily})
	}
	return nil, nil
}

// searchHint is what to do for web search.
const searchHint = "set SEARXNG_URL, BRAVE_SEARCH_API_KEY or TAVILY_API_KEY"

// checkSearch is the doctor's line about web search.
func (a *app) checkSearch() check {
	found, err := a.settings.search.searcher()
	switch {
	case err != nil:
		return check{"web search", "bad", err.Error()}
	case found == nil:
		return check{"web search", "off", searchHint}
	}
	return check{"web search", "ok", found.Name()}
}

// research is the sources of a run besides its files. Each may be nil.
type research struct {
	web *web.Web
	db  *database.Database
	kb  *knowledge.Base
}

// openResearch opens the sources that the command line and the environment name.
func (a *app) openResearch(ctx context.Context, cfg crewConfig) (*research, error) {
	r := &research{}
	found, err := a.settings.search.searcher()
	if err == nil && found != nil {
		r.web, err = web.New(web.Config{Search: found, Fetch: web.NewFetcher(found.API())})
	}
	if err == nil && cfg.db != "" {
		r.db, err = database.Open(ctx, database.Config{URL: cfg.db})
	}
	if err == nil && cfg.kb != "" {
		r.kb, err = knowledge.Open(ctx, knowledge.Config{Dir: cfg.kb, Data: filepath.Join(a.settings.data, "kb")})
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// close releases all sources.
func (r *research) close() {
	if r == nil {
		return
	}
	if r.db != nil {
		_ = r.db.Close() // only read
	}
	if r.kb != nil {
		_ = r.kb.Close() // what is indexed is written
	}
}

func (r *research) actions() []action.Action {
	var out []action.Action
	if r.web != nil {
		out = append(out, r.web.Actions()...)
	}
	if r.db != nil {
		out = append(out, r.db.Actions()...)
	}
	if r.kb != nil {
		out = append(out, r.kb.Actions()...)
	}
	return out
}

// sources says what research can use, and why the rest is not there.
func (r *research) sources(files bool) map[string]agent.Source {
	source := func(configured bool, hint string) agent.Source {
		if configured {
			return agent.Source{Configured: true}
		}
		return agent.Source{Reason: hint}
	}
	return map[string]agent.Source{
		"files": source(files, "give a folder with --files"),
		"web":   source(r.web != nil, searchHint),
		"db":    source(r.db != nil, "give a database with --db"),
		"kb":    source(r.kb != nil, "give a folder of documents with --kb"),
	}
}

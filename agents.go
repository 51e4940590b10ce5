package atelier

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"atelier/action"
	"atelier/action/database"
	"atelier/action/file"
	"atelier/action/knowledge"
	"atelier/action/mediaset"
	"atelier/action/picture"
	tables "atelier/action/table"
	"atelier/action/visual"
	"atelier/action/web"
	"atelier/agent"
	"atelier/internal/shipped"
	"atelier/media"
	"atelier/run/workflows"
)

// Sources are what a run can read in addition to its task.
type Sources struct {
	// Files is a folder that agents may read. Knowledge is a folder of documents that they may search.
	Files     string `json:"files,omitempty"`
	Knowledge string `json:"kb,omitempty"`
	// Database is an SQLite file or a postgres:// URL that agents may query, read-only. A URL with a password is not
	// stored: to resume such a run, pass the same URL in Config.Sources.
	Database string `json:"db,omitempty"`
	// Agents is a folder of definitions. They add to the shipped agents or replace them.
	Agents string `json:"agents,omitempty"`
	// ChatModel and ImageModel are models that a person chose. They take precedence over the configuration and the
	// definitions.
	ChatModel  string `json:"model,omitempty"`
	ImageModel string `json:"image_model,omitempty"`
}

// setting is the storable form of sources. Its JSON stays readable by later versions.
type setting struct {
	Sources
	// Secret means that the URL of the database is not stored. SecretID distinguishes such URLs.
	Secret   bool   `json:"db_secret,omitempty"`
	SecretID string `json:"db_secret_id,omitempty"`
}

// readSetting decodes a setting; empty input is the zero value.
func readSetting(saved json.RawMessage) (s setting, err error) {
	if len(saved) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(saved, &s); err != nil {
		return s, media.Errorf(media.CodeCorrupt, "read how the run was set up: %w", err)
	}
	return s, nil
}

// absolute returns the sources with paths that are valid in any working directory. A path that does not exist stays as
// it is, so that errors contain what the caller wrote.
func (s Sources) absolute() Sources {
	for _, path := range []*string{&s.Files, &s.Knowledge, &s.Agents, &s.Database} {
		if _, err := os.Stat(*path); err != nil {
			continue
		}
		if abs, err := filepath.Abs(*path); err == nil {
			*path = abs
		}
	}
	return s
}

// settings stores the sources of runs as text. It keeps secrets only in the memory of this process.
type settings struct {
	key []byte
	// database replaces a URL that is not stored.
	database string
	// secrets holds the database URLs that are not stored, by id.
	secrets sync.Map
}

// write returns the storable form of the sources, without secrets.
func (s *settings) write(c Sources) (json.RawMessage, error) {
	kept := setting{Sources: c}
	u, err := url.Parse(c.Database)
	if strings.Contains(c.Database, "://") && (err != nil || u.User != nil || u.RawQuery != "") {
		mac := hmac.New(sha256.New, s.key) // the id does not reveal the URL, which only this process remembers
		mac.Write([]byte(c.Database))
		kept.Database, kept.Secret, kept.SecretID = "", true, hex.EncodeToString(mac.Sum(nil)[:8])
		s.secrets.Store(kept.SecretID, c.Database)
	}
	return json.Marshal(kept)
}

// read returns the sources with which a run was started.
func (s *settings) read(saved json.RawMessage) (Sources, error) {
	kept, err := readSetting(saved)
	c := kept.Sources
	if err != nil || !kept.Secret {
		return c, err
	}
	if address, ok := s.secrets.Load(kept.SecretID); ok {
		c.Database, _ = address.(string)
	} else if c.Database = s.database; c.Database == "" {
		return c, media.Errorf(media.CodeInvalid, "the run uses a database whose URL is not stored: give it again (Config.Sources.Database, or --db)")
	}
	return c, nil
}

// Runner opens the sources of agent runs. The caller must call closer. Runs that [Atelier.Run] starts open their own
// sources.
func (a *Atelier) Runner(ctx context.Context, s Sources) (runner *agent.Runner, closer func(), err error) {
	var opened []io.Closer
	closeAll := func() {
		for _, source := range opened {
			_ = source.Close() // read-only; what remains is temporary
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	definitions, err := shipped.Definitions(s.Agents, a.Config.Agents)
	if err != nil {
		return nil, nil, err
	}
	actions, sources, err := a.actions(ctx, s, &opened)
	if err != nil {
		return nil, nil, err
	}
	goAgents := map[string]agent.GoAgent{workflows.AgentName: a.workflows.Run}
	for slug, code := range a.Config.GoAgents {
		if code == nil || goAgents[slug] != nil {
			return nil, nil, media.Errorf(media.CodeInvalid, "atelier.Config.GoAgents[%q] is nil or has the slug of a shipped agent: give a function with another slug", slug)
		}
		goAgents[slug] = code
	}
	models := a.Chat
	if own := a.Config.Sources; s.ChatModel != own.ChatModel || s.ImageModel != own.ImageModel {
		if models, err = a.newChat(s); err != nil {
			return nil, nil, err
		}
	}
	runner, err = agent.NewRunner(agent.Config{
		Definitions: definitions, GoAgents: goAgents, Actions: actions, Models: models, Codec: a.Codec, Recorder: a.Ledger,
		Observer: a.observer, Sources: sources, Guardrail: a.Config.Guardrail, Budget: a.budget, SourceActions: shipped.SourceActions(),
		Find: func(ctx context.Context, owner, id string) (media.Output, error) {
			rec, err := a.Ledger.MediaRecord(ctx, owner, id)
			return rec.Output, err
		},
	})
	return runner, closeAll, err
}

// actions opens the sources, appends them to opened and registers the actions on them.
func (a *Atelier) actions(ctx context.Context, s Sources, opened *[]io.Closer) (*action.Registry, map[string]agent.Source, error) {
	registry, err := action.NewRegistry(action.Config{Store: a.Codec, Recorder: a.Ledger, Fetch: a.fetch.Fetch})
	if err != nil {
		return nil, nil, err
	}
	all := slices.Concat(picture.Actions(a.Gateway), visual.Actions(), mediaset.Actions(), a.Config.Actions)
	if s.Files != "" {
		files, err := file.Open(file.Config{Dir: s.Files}) //nolint:contextcheck // a short check of the folder
		if err != nil {
			return nil, nil, err
		}
		t := tables.New(tables.Config{Files: files})
		*opened = append(*opened, t, files)
		all = slices.Concat(all, files.Actions(), t.Actions())
	}
	found, err := a.Config.Search.searcher()
	if err != nil {
		return nil, nil, err
	}
	if found != nil {
		w, err := web.New(web.Config{Search: found, Fetch: web.NewFetcher(found.API())})
		if err != nil {
			return nil, nil, err
		}
		all = append(all, w.Actions()...)
	}
	if s.Database != "" {
		db, err := database.Open(ctx, database.Config{URL: s.Database})
		if err != nil {
			return nil, nil, err
		}
		*opened = append(*opened, db)
		all = append(all, db.Actions()...)
	}
	if s.Knowledge != "" {
		kb, err := knowledge.Open(ctx, knowledge.Config{Dir: s.Knowledge, Data: filepath.Join(a.Config.Dir, "kb")})
		if err != nil {
			return nil, nil, err
		}
		*opened = append(*opened, kb)
		all = append(all, kb.Actions()...)
	}
	return registry, sourcesOf(s, found != nil), registry.Register(all...)
}

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

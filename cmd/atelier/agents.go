package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier/action"
	"atelier/action/diagram"
	"atelier/action/file"
	"atelier/action/infographic"
	"atelier/action/mediaset"
	"atelier/action/mermaid"
	"atelier/action/network"
	"atelier/action/picture"
	"atelier/action/sketch"
	tables "atelier/action/table"
	"atelier/action/visual"
	"atelier/action/wordcloud"
	"atelier/agent"
	"atelier/agents"
	"atelier/generate"
	"atelier/media"
	"atelier/run"
)

// crew is everything that runs agents.
type crew struct {
	*outfit
	service  *run.Service
	observer *run.Observer
}

// outfit is a runner of agents and what it works with.
type outfit struct {
	runner   *agent.Runner
	files    *file.Files    // nil without a folder
	tables   *tables.Tables // those of the folder
	research *research      // the other sources
	actions  *action.Registry
}

// crewConfig is what the command line says about runs.
type crewConfig struct {
	// files is the folder that agents may read; empty means none.
	files string
	// kb is a folder of documents to search, db a database to query; empty means none.
	kb, db string
	// agents is a folder of definitions beside the shipped ones; empty means none.
	agents string
	// model is the chat model that the command named; empty means none.
	model string
	// durable makes runs survive their process; takesOver makes the crew go on with those
	// of processes that ended.
	durable, takesOver bool
	// events is told how generations go on.
	events func(ctx context.Context, e generate.Event)
}

// close ends what is running and closes the folder.
func (c *crew) close() {
	c.service.Close()
	c.outfit.close()
}

func (o *outfit) close() {
	if o.files != nil {
		_ = o.tables.Close() // a folder that stays behind is temporary
		_ = o.files.Close()  // opened for reading only
	}
	o.research.close()
}

func (a *app) crew(ctx context.Context, cfg crewConfig) (_ *crew, err error) {
	c := &crew{}
	if c.observer, err = run.NewObserver(run.ObserverConfig{Ledger: a.ledger}); err != nil {
		return nil, err
	}
	if c.outfit, err = a.outfit(ctx, cfg, c.observer); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.outfit.close()
		}
	}()
	rc := run.Config{Agents: c.runner, Ledger: a.ledger, Observer: c.observer, Gateway: a.gateway}
	if cfg.durable {
		if rc.Setting, err = cfg.setting(); err != nil {
			return nil, err
		}
		rc.Outfit = func(ctx context.Context, saved json.RawMessage) (run.Agents, func(), error) {
			other, err := cfg.as(saved)
			if err != nil {
				return nil, nil, err
			}
			o, err := a.outfit(ctx, other, c.observer)
			if err != nil {
				return nil, nil, err
			}
			return o.runner, o.close, nil
		}
		if rc.Engine, err = a.engine(ctx, cfg.takesOver); err != nil {
			return nil, err
		}
	}
	if c.service, err = run.NewService(rc); err != nil && rc.Engine != nil { //nolint:contextcheck // the engine has a context of its own
		err = errors.Join(err, rc.Engine.Close(ctx))
	}
	return c, err
}

// setting is what a crew was set up with, for whoever takes its runs over. The address
// of a database with a password in it is not kept.
type setting struct {
	Files  string `json:"files,omitempty"`
	KB     string `json:"kb,omitempty"`
	DB     string `json:"db,omitempty"`
	Secret bool   `json:"db_secret,omitempty"`
	Agents string `json:"agents,omitempty"`
	Model  string `json:"model,omitempty"`
}

func (c crewConfig) setting() (json.RawMessage, error) {
	s := setting{Model: c.model}
	db := c.db
	if u, err := url.Parse(c.db); strings.Contains(c.db, "://") {
		db, s.DB = "", c.db
		if err != nil || u.User != nil || u.RawQuery != "" {
			s.DB, s.Secret = "", true
		}
	}
	for _, f := range []struct {
		from string
		to   *string
	}{{c.files, &s.Files}, {c.kb, &s.KB}, {c.agents, &s.Agents}, {db, &s.DB}} {
		if f.from == "" {
			continue
		}
		path, err := filepath.Abs(f.from) // means the same in another folder
		if err != nil {
			return nil, media.Errorf(media.CodeInvalid, "find %s: %w", f.from, err)
		}
		*f.to = path
	}
	return json.Marshal(s)
}

// as is the configuration for a run that was begun with a setting.
func (c crewConfig) as(saved json.RawMessage) (crewConfig, error) {
	var s setting
	if len(saved) > 0 {
		if err := json.Unmarshal(saved, &s); err != nil {
			return c, media.Errorf(media.CodeCorrupt, "read how the run was set up: %w", err)
		}
	}
	if s.Secret && c.db == "" {
		return c, media.Errorf(media.CodeInvalid, "the run was begun with a database whose address is not kept: give it with --db")
	}
	if !s.Secret {
		c.db = s.DB
	}
	c.files, c.kb, c.agents, c.model = s.Files, s.KB, s.Agents, s.Model
	return c, nil
}

// outfit opens what runs work with.
func (a *app) outfit(ctx context.Context, cfg crewConfig, observer *run.Observer) (_ *outfit, err error) {
	o := &outfit{}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	definitions, err := definitions(cfg.agents)
	if err != nil {
		return nil, err
	}
	registry, err := action.NewRegistry(action.Config{Store: a.codec, Recorder: a.ledger, Fetch: action.FetcherFunc(a.fetch.Fetch)})
	if err != nil {
		return nil, err
	}
	acts := slices.Concat(picture.Actions(a.gateway), drawings(), mediaset.Actions())
	if cfg.files != "" {
		if o.files, err = file.Open(file.Config{Dir: cfg.files}); err != nil { //nolint:contextcheck // a short look at the folder
			return nil, err
		}
		o.tables = tables.New(tables.Config{Files: o.files})
		acts = append(acts, slices.Concat(o.files.Actions(), o.tables.Actions())...)
	}
	if o.research, err = a.openResearch(ctx, cfg); err != nil {
		return nil, err
	}
	acts = append(acts, o.research.actions()...)
	if err := registry.Register(acts...); err != nil {
		return nil, err
	}
	o.actions = registry
	guard, err := a.settings.guardrail()
	if err != nil {
		return nil, err
	}
	models := a.chat
	if cfg.model != a.chatModel {
		if models, err = newChat(a, appConfig{chatModel: cfg.model}); err != nil {
			return nil, err
		}
	}
	o.runner, err = agent.NewRunner(agent.Config{
		Definitions: definitions, Actions: registry, Models: models, Codec: a.codec, Recorder: a.ledger,
		Observer: observer, Sources: o.research.sources(cfg.files != ""), Guardrail: guard, Budget: a.budget, SourceActions: sourceActions(),
		Find: func(ctx context.Context, owner, id string) (media.Output, error) {
			rec, err := a.ledger.MediaRecord(ctx, owner, id)
			return rec.Output, err
		},
	})
	return o, err
}

// drawings are the actions that draw without a model.
func drawings() []action.Action {
	return slices.Concat(visual.Actions(), diagram.Actions(), network.Actions(), wordcloud.Actions(), sketch.Actions(), mermaid.Actions(), infographic.Actions())
}

// definitions loads the shipped agents and those of a folder.
func definitions(dir string) (*agent.Definitions, error) {
	folders := []agent.Folder{shippedAgents()}
	if dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, media.Errorf(media.CodeInvalid, "--agents %s is not a folder that can be read", dir)
		}
		if _, _, err := locate(dir); err != nil {
			return nil, media.Errorf(media.CodeInvalid, "--agents: %w", err)
		}
		folders = append(folders, agent.Folder{Name: dir, Files: os.DirFS(dir)})
	}
	return agent.LoadFolders(folders...)
}

// shippedFolder is the name of the shipped definitions in messages.
const shippedFolder = "(shipped)"

func shippedAgents() agent.Folder { return agent.Folder{Name: shippedFolder, Files: agents.FS()} }

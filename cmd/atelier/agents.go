package main

import (
	"context"
	"os"
	"slices"

	"atelier/action"
	"atelier/action/diagram"
	"atelier/action/file"
	"atelier/action/infographic"
	"atelier/action/mediaset"
	"atelier/action/mermaid"
	"atelier/action/network"
	"atelier/action/picture"
	"atelier/action/sketch"
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
	service  *run.Service
	observer *run.Observer
	files    *file.Files // nil without --files
	research *research   // the other sources
	actions  *action.Registry
}

// crewConfig is what the command line says about a run.
type crewConfig struct {
	// files is the folder that agents may read; empty means none.
	files string
	// kb is a folder of documents to search, db a database to query; empty means none.
	kb, db string
	// agents is a folder of definitions beside the shipped ones; empty means none.
	agents string
	// events is told how generations go on.
	events func(ctx context.Context, e generate.Event)
}

// close ends what is running and closes the folder.
func (c *crew) close() {
	c.service.Close()
	if c.files != nil {
		_ = c.files.Close() // opened for reading only
	}
	c.research.close()
}

func (a *app) crew(ctx context.Context, cfg crewConfig) (_ *crew, err error) {
	c := &crew{}
	defer func() {
		if err != nil {
			c.research.close()
		}
	}()
	if c.observer, err = run.NewObserver(run.ObserverConfig{Ledger: a.ledger}); err != nil {
		return nil, err
	}
	definitions, err := definitions(cfg.agents)
	if err != nil {
		return nil, err
	}
	registry, err := action.NewRegistry(action.Config{Store: a.codec, Recorder: a.ledger, Fetch: action.FetcherFunc(a.get)})
	if err != nil {
		return nil, err
	}
	acts := slices.Concat(picture.Actions(a.gateway), drawings(), mediaset.Actions())
	if cfg.files != "" {
		if c.files, err = file.Open(file.Config{Dir: cfg.files}); err != nil { //nolint:contextcheck // a short look at the folder
			return nil, err
		}
		acts = append(acts, c.files.Actions()...)
	}
	if c.research, err = a.openResearch(ctx, cfg); err != nil {
		return nil, err
	}
	acts = append(acts, c.research.actions()...)
	if err := registry.Register(acts...); err != nil {
		return nil, err
	}
	c.actions = registry
	guard, err := a.settings.guardrail()
	if err != nil {
		return nil, err
	}
	runner, err := agent.NewRunner(agent.Config{
		Definitions: definitions, Actions: registry, Models: a.chat, Codec: a.codec, Recorder: a.ledger,
		Observer: c.observer, Sources: c.research.sources(cfg.files != ""), Guardrail: guard,
		Find: func(ctx context.Context, owner, id string) (media.Output, error) {
			rec, err := a.ledger.MediaRecord(ctx, owner, id)
			return rec.Output, err
		},
	})
	if err != nil {
		return nil, err
	}
	c.service, err = run.NewService(run.Config{Agents: runner, Ledger: a.ledger, Observer: c.observer})
	return c, err
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

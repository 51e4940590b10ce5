// Package atelier is a runtime for agents that view media, make media and report with it, and a gateway to media
// models. [Open] creates an [Atelier] from a [Config]; the methods of the Atelier do the work.
//
//	a, err := atelier.Open(ctx, atelier.Config{Dir: "data"})
//	if err != nil {
//		return err
//	}
//	defer a.Close()
//	res, err := a.Generate(ctx, generate.Request{Prompt: "a lighthouse at dusk"})
//	if err != nil {
//		return err
//	}
//	return a.Save(ctx, res.Outputs()[0], "lighthouse.png")
//
// [Atelier.Run] runs an agent. It returns the events of the run and, last, the result:
//
//	for event, err := range a.Run(ctx, atelier.Request{
//		Request: agent.Request{Agent: "research-agent", Message: "Which year was the warmest?"},
//		Sources: atelier.Sources{Files: "examples/energy"},
//	}) {
//		…
//	}
//
// Without any key, the offline models are used. Set keys in Config.Keys, or read them from the environment with
// [ConfigFromEnv]. Requests, results and events never contain bytes: they name media by ref and digest.
// [Atelier.OpenMedia] and [Atelier.Save] read the bytes.
//
// Programs that need more can use the components of an Atelier (Gateway, Ledger, Chat …), which are its fields. Every
// error has a code; see package media.
package atelier

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"atelier/chat"
	"atelier/chat/bedrock"
	"atelier/chat/offline"
	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/gateway"
	"atelier/internal/export"
	"atelier/internal/recent"
	"atelier/internal/safehttp"
	"atelier/journal"
	"atelier/media"
	"atelier/media/wire"
	"atelier/run"
	"atelier/run/generations"
	"atelier/run/lease"
	"atelier/run/operations"
	"atelier/run/record"
	"atelier/run/subactions"
	"atelier/run/workflows"
	"atelier/workflow"
	"atelier/workflow/module"
	"atelier/workflow/subaction"
)

// Atelier holds the components of one process. It is safe for concurrent use.
type Atelier struct {
	*Stores
	// Codec replaces media with tokens in bytes that are read, and restores the media in bytes that are written.
	Codec *wire.Codec
	// Catalogue holds the media models.
	Catalogue *catalog.Catalog
	// Gateway calls the media models.
	Gateway *gateway.Gateway
	// Chat holds the chat models.
	Chat *chat.Registry

	fetch *safehttp.Client
	// budget limits generations and chat model calls together.
	budget   *run.Budget
	observer *record.Observer
	// counts holds the counters of this process.
	counts *counts
	// previews holds the recent previews of this process.
	previews recent.Cache[previewKey, bool]
	// leases keeps the leases of this process.
	leases *lease.Keeper
	// workflows runs media workflows.
	workflows *workflows.Service
	// subActions executes the sub-actions of workflow interactions.
	subActions *subactions.Service
	// settings stores the sources of runs.
	settings *settings

	runs runs
}

// Open opens the data folder and the database, and creates all components. The caller must close the Atelier. The error
// has code media.CodeInvalid for an invalid configuration.
func Open(ctx context.Context, c Config) (*Atelier, error) {
	go func() { // load the embedded catalogues while the database opens; later loads report any error
		_, _ = catalog.Load()
		_, _ = chat.LoadProfiles()
	}()
	s, err := OpenStores(ctx, c)
	if err != nil {
		return nil, err
	}
	a, err := s.Compose()
	if err == nil && (len(c.Actions)+len(c.GoAgents) > 0 || c.Agents != nil) { // their mistakes are found before the first run
		_, _, err = a.Runner(ctx, Sources{Agents: c.Sources.Agents})
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return a, nil
}

// Compose is like [Open], but uses stores that are already open.
func (s *Stores) Compose() (a *Atelier, err error) {
	open, end := context.WithCancel(context.Background())
	a = &Atelier{
		Stores: s, fetch: safehttp.New(safehttp.Config{}), leases: lease.NewKeeper(s.Ledger), runs: runs{open: open, end: end},
		previews: recent.Cache[previewKey, bool]{For: time.Hour, Limit: 1000},
		counts:   &counts{runs: map[string]float64{}, operations: map[[2]string]float64{}},
		settings: &settings{key: s.key.Secret, database: s.Config.Sources.Database},
	}
	c := a.Config
	a.Codec, err = wire.NewCodec(wire.Config{Blobs: a.Blobs, Keys: []wire.Key{a.key}, Register: a.Ledger.RegisterBlob, Forget: a.Ledger.ForgetBlob, MaxAnswerBytes: c.MaxAnswer, DiskWait: max(0, cmp.Or(c.DiskWait, 30*time.Second))})
	if err != nil {
		return a, err
	}
	if a.Catalogue, err = loadWithAdditions("ATELIER_CATALOGUE", c.Catalogue, catalog.Load); err != nil {
		return a, err
	}
	if a.observer, err = record.NewObserver(record.Config{Ledger: a.Ledger}); err != nil {
		return a, err
	}
	own := c.Budget.OnSettle
	c.Budget.OnSettle = func(charge generate.Charge) {
		a.counts.addCharge(charge)
		if own != nil {
			own(charge)
		}
	}
	if a.budget, err = run.NewBudget(a.Ledger, c.Budget); err != nil {
		return a, err
	}
	drivers, err := a.drivers()
	if err != nil {
		return a, err
	}
	origins := map[string]string{} // each origin is trusted only for the calls and links of its provider
	maps.Copy(origins, c.BaseURLs)
	for _, e := range a.Catalogue.Endpoints() {
		origins[e.Provider] = cmp.Or(c.BaseURLs[e.Provider], e.BaseURL)
	}
	a.Gateway, err = gateway.New(gateway.Config{
		Drivers: drivers, Catalogue: a.Catalogue, Storage: a.Codec, Fetch: a.fetch.Fetch, Origins: origins, Partials: c.Partials,
		Recorder: a.Ledger, Operations: operations.NewLog(a.Ledger, a.leases), Budget: a.budget, Events: a.forwardEvent,
		DefaultModel: c.ImageModel, Fallback: c.ImageFallback, MinFree: c.MinFree, Notify: a.webhookResolver(),
	})
	if err != nil {
		return a, err
	}
	if a.Chat, err = a.newChat(c.Sources); err != nil {
		return a, err
	}
	actions := subaction.New(a.Catalogue, now)
	a.subActions = a.newSubActions(actions)
	a.workflows, err = a.newWorkflows(actions)
	return a, err
}

// newChat creates the chat models of runs for which a person chose the models in s.
func (a *Atelier) newChat(s Sources) (*chat.Registry, error) {
	profiles, err := loadWithAdditions("ATELIER_CHAT_PROFILES", a.Config.ChatProfiles, chat.LoadProfiles)
	if err != nil {
		return nil, err
	}
	service, err := a.chatService(profiles)
	if err != nil {
		return nil, err
	}
	return chat.NewRegistry(chat.Config{
		Profiles: profiles, Keys: a.Config.Keys, Default: cmp.Or(s.ChatModel, a.Config.ChatModel), AnyOpenAI: a.Config.BaseURLs["openai"] != "",
		Own:     a.Config.ChatModels,
		Offline: offline.Model{Blobs: a.Codec, Painter: painter{gateway: a.Gateway, model: s.ImageModel}},
		Open:    service.Open,
		Openers: map[string]chat.Opener{"bedrock": bedrock.Opener(a.bedrock())},
	})
}

// forwardEvent forwards an event of a generation to everything that observes it.
func (a *Atelier) forwardEvent(ctx context.Context, e generate.Event) {
	a.notePreview(ctx, e) // before anybody learns its address
	if watch, ok := ctx.Value(eventReceiverKey{}).(func(generate.Event)); ok {
		watch(e)
	}
	subactions.Observe(ctx, e)
	a.counts.operation(e)
	if a.Config.OnGeneration != nil {
		a.Config.OnGeneration(ctx, e)
	}
	if !generations.AfterRun(ctx) {
		a.observer.Progress(ctx, e)
	}
}

// CheckModels checks that the named models exist and have their keys. An empty name is valid.
func (a *Atelier) CheckModels(ctx context.Context, chatModel, imageModel string) (err error) {
	if chatModel != "" {
		_, err = a.Chat.Named(ctx, chatModel)
	}
	if err == nil && imageModel != "" {
		_, err = a.Gateway.Plan(ctx, generate.Request{Prompt: "x", Model: imageModel})
	}
	return err
}

// Observer returns the source of the events of all runs in this process.
func (a *Atelier) Observer() *record.Observer { return a.observer }

// Close ends [Atelier.Serve], cancels the runs of this process and the calls of [Atelier.Generate], waits until what they
// made is saved, and closes the database and the idle connections to providers. A second call does nothing.
//
//nolint:contextcheck,nolintlint // it must end what has started, whatever the caller's context
func (a *Atelier) Close() error {
	a.subActions.HandOver(journal.HandOver(0))
	if !a.runs.close() {
		return nil
	}
	a.fetch.CloseIdle()
	return a.Stores.Close()
}

// Scoped adds the owner and a run tree to a context, for direct calls to the Gateway or the Ledger.
func (a *Atelier) Scoped(ctx context.Context, tree string) context.Context {
	return media.WithScope(ctx, media.Scope{Owner: a.owner(ctx), Tree: tree})
}

// Generate requests pictures or sound from a model, records them and returns the result. The result also reports
// failures; see [gateway.Gateway.Generate].
func (a *Atelier) Generate(ctx context.Context, r generate.Request) (*generate.Result, error) {
	ctx, leave, err := a.runs.admit(ctx, &a.runs.calls)
	if err != nil {
		return nil, err
	}
	defer leave()
	return a.Gateway.Generate(a.Scoped(ctx, newID()), r)
}

// newWorkflows creates the service of workflows.
func (a *Atelier) newWorkflows(actions *subaction.Registry) (*workflows.Service, error) {
	c := module.Config{Agents: workflows.Agents{Ledger: a.Ledger}, Exports: export.Exports{Ledger: a.Ledger, Codec: a.Codec}}
	all := module.All(c)
	if a.Config.Modules != nil {
		all = append(all, a.Config.Modules(c)...)
	}
	modules, err := workflow.NewModules(all...)
	if err != nil {
		return nil, err
	}
	return workflows.NewService(workflows.Config{
		Ledger: a.Ledger, Modules: modules, Actions: actions, Runs: a.Runs, Emit: a.observer.Emit, SubActions: a.subActions, Now: now,
	})
}

// newSubActions creates the service of sub-actions.
func (a *Atelier) newSubActions(actions *subaction.Registry) *subactions.Service {
	return subactions.New(subactions.Config{
		Ledger: a.Ledger, Gateway: a.Gateway, Interactions: func() subactions.Interactions { return a.workflows }, Actions: actions, Emit: a.observer.Emit, Now: now,
		Item: func(ctx context.Context, owner, run, id string) (media.Output, error) {
			return workflows.Item(ctx, a.Ledger, owner, run, id)
		},
	})
}

// Workflows returns the service that runs media workflows, shows and edits their interactions, and accepts answers.
func (a *Atelier) Workflows() *workflows.Service { return a.workflows }

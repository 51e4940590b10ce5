package main

import (
	"cmp"
	"context"
	"errors"
	"maps"

	"atelier/chat"
	"atelier/chat/bedrock"
	"atelier/chat/offline"
	"atelier/generate"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/relay"
	"atelier/run"
	"atelier/wire"
)

// app is the composition of all rooms for one command.
type app struct {
	*stores
	relay     *relay.Relay // nil if calls are this process's own
	codec     *wire.Codec
	fetch     *safehttp.Client
	catalogue *generate.Catalogue
	gateway   *generate.Gateway
	chat      *chat.Registry
	// budget bounds generations and the calls of chat models alike.
	budget *run.Budget
	// chatModel is the one that the command named.
	chatModel string
}

// appConfig is what a command adds to the environment.
type appConfig struct {
	// events is told how generations go on; may be nil.
	events func(ctx context.Context, e generate.Event)
	// chatModel overrides the operator's default.
	chatModel string
	// imageModel is the one that a person named for agents.
	imageModel string
	// partials asks for preview frames, which some providers bill.
	partials bool
}

// withApp builds everything, runs fn and closes it.
func (w *world) withApp(cfg appConfig, fn func(*app) error) (err error) {
	s, err := w.openStores()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.ledger.Close()) }()
	a, err := newApp(s, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	return fn(a)
}

func newApp(s *stores, cfg appConfig) (*app, error) {
	a := &app{stores: s, chatModel: cfg.chatModel}
	var err error
	if a.relay, err = newRelay(s.settings); err != nil {
		return nil, err
	}
	a.codec, err = wire.NewCodec(wire.Config{Blobs: s.blobs, Keys: []wire.Key{s.key}, Register: s.ledger.RegisterBlob, Forget: s.ledger.ForgetBlob, MaxAnswerBytes: s.settings.maxAnswer})
	if err != nil {
		return nil, err
	}
	if a.catalogue, err = readCatalogue(s.settings.catalogue); err != nil {
		return nil, err
	}
	a.fetch = safehttp.New(safehttp.Config{})
	if a.gateway, err = newGateway(a, cfg); err != nil {
		return nil, err
	}
	a.chat, err = newChat(a, cfg)
	return a, err
}

// close lets the relay go. What it has under way goes on.
func (a *app) close() error {
	if a.relay == nil {
		return nil
	}
	return a.relay.Close()
}

// origins are the addresses that the operator configured, by provider. Each is trusted for the
// calls and the links of its provider alone.
func origins(s settings, c *generate.Catalogue) map[string]string {
	out := maps.Clone(s.bases)
	for _, e := range c.Endpoints() {
		out[e.Provider] = e.BaseURL
	}
	return out
}

func newGateway(a *app, cfg appConfig) (*generate.Gateway, error) {
	drivers, err := a.drivers()
	if err != nil {
		return nil, err
	}
	if a.budget, err = run.NewBudget(a.ledger, a.settings.budget); err != nil {
		return nil, err
	}
	return generate.NewGateway(generate.Config{
		Drivers: drivers, Catalogue: a.catalogue, Storage: a.codec, Fetch: a.fetch.Fetch, Origins: origins(a.settings, a.catalogue), Partials: cfg.partials,
		Recorder: a.ledger, Operations: run.NewOperations(a.ledger), Budget: a.budget,
		Events: cfg.events, DefaultModel: a.settings.imageModel, Fallback: a.settings.fallback,
		MinFree: a.settings.minFree,
	})
}

func newChat(a *app, cfg appConfig) (*chat.Registry, error) {
	profiles, err := readProfiles(a.settings.profiles)
	if err != nil {
		return nil, err
	}
	def := a.settings.chatModel
	if cfg.chatModel != "" {
		def = cfg.chatModel
	}
	return chat.NewRegistry(chat.Config{
		Profiles: profiles, Keys: a.settings.keys, BaseURLs: a.settings.bases,
		Default: def, Offline: offline.Model{Blobs: a.codec, Painter: painter{gateway: a.gateway, model: cfg.imageModel}}, Codec: a.codec, Base: a.base(),
		Openers: map[string]chat.Opener{"bedrock": bedrock.Opener(a.bedrock())},
	})
}

// bedrock reads AWS's own variables.
func (a *app) bedrock() bedrock.Config {
	env := a.settings.env
	return bedrock.Config{
		Region:      cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION")),
		BearerToken: env("AWS_BEARER_TOKEN_BEDROCK"), AccessKeyID: env("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: env("AWS_SECRET_ACCESS_KEY"), SessionToken: env("AWS_SESSION_TOKEN"),
		BaseURL: a.settings.bases["bedrock"], Codec: a.codec, Base: a.base(),
	}
}

// scoped puts an owner and a new tree into the context of a command outside a run.
func scoped(ctx context.Context, tree string) context.Context {
	return media.WithScope(ctx, media.Scope{Owner: owner, Tree: tree})
}

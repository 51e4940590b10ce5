// Package atelier is a runtime for agents that see, make and report with media, and a
// gateway to the models that make it. This package is its front door: [Open] composes
// everything from a [Config], and the methods of an [Atelier] do the work.
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
// An agent is run by [Atelier.Run], which gives what happens and, at the end, the result:
//
//	for event, err := range a.Run(ctx, atelier.Request{
//		Request: agent.Request{Agent: "research-agent", Message: "Which year was the warmest?"},
//		Sources: atelier.Sources{Files: "examples/energy"},
//	}) {
//		…
//	}
//
// Without any key the offline models answer. Keys are given in Config.Keys, or read from the
// environment by [ConfigFromEnv]. Bytes never are in a request, a result or an event: media
// are named by ref and digest, and read by [Atelier.OpenMedia] and [Atelier.Save].
//
// The rooms behind the door (Gateway, Ledger, Chat …) are fields of an Atelier, for programs
// that need more. Errors carry a code, see package media.
package atelier

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/google/uuid"

	"atelier/chat"
	"atelier/chat/bedrock"
	"atelier/chat/offline"
	"atelier/generate"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/run"
	"atelier/wire"
)

// Atelier is everything that one process works with. It is safe for concurrent use.
type Atelier struct {
	*Stores
	// Codec takes media out of what is read, and puts them into what is written.
	Codec *wire.Codec
	// Catalogue knows the models that generate.
	Catalogue *generate.Catalogue
	// Gateway asks them.
	Gateway *generate.Gateway
	// Chat has the chat models.
	Chat *chat.Registry

	fetch *safehttp.Client
	// budget bounds generations and the calls of chat models alike.
	budget   *run.Budget
	observer *run.Observer
	// secrets are addresses of databases that are not written down, by id.
	secrets sync.Map

	mu     sync.Mutex // guards runs and closed
	runs   *runs
	closed bool
}

// Open opens the data folder and the database, and composes everything. The caller closes it.
// The error has code media.CodeInvalid for a configuration that is wrong.
func Open(ctx context.Context, c Config) (*Atelier, error) {
	s, err := OpenStores(ctx, c)
	if err != nil {
		return nil, err
	}
	a, err := s.Compose()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return a, nil
}

// Compose is [Open] on stores that are open already.
func (s *Stores) Compose() (*Atelier, error) {
	a := &Atelier{Stores: s, fetch: safehttp.New(safehttp.Config{})}
	return a, a.compose()
}

func (a *Atelier) compose() (err error) {
	c := a.Config
	a.Codec, err = wire.NewCodec(wire.Config{Blobs: a.Blobs, Keys: []wire.Key{a.key}, Register: a.Ledger.RegisterBlob, Forget: a.Ledger.ForgetBlob, MaxAnswerBytes: c.MaxAnswer})
	if err != nil {
		return err
	}
	if a.Catalogue, err = readCatalogue(c.Catalogue); err != nil {
		return err
	}
	if a.observer, err = run.NewObserver(run.ObserverConfig{Ledger: a.Ledger}); err != nil {
		return err
	}
	if a.budget, err = run.NewBudget(a.Ledger, c.Budget); err != nil {
		return err
	}
	drivers, err := a.drivers()
	if err != nil {
		return err
	}
	a.Gateway, err = generate.NewGateway(generate.Config{
		Drivers: drivers, Catalogue: a.Catalogue, Storage: a.Codec, Fetch: a.fetch.Fetch, Origins: a.origins(), Partials: c.Partials,
		Recorder: a.Ledger, Operations: run.NewOperations(a.Ledger), Budget: a.budget, Events: a.generated,
		DefaultModel: c.ImageModel, Fallback: c.ImageFallback, MinFree: c.MinFree,
	})
	if err != nil {
		return err
	}
	a.Chat, err = a.newChat(c.Sources)
	return err
}

// origins are the addresses that the operator configured, by provider. Each is trusted for the
// calls and the links of its provider alone.
func (a *Atelier) origins() map[string]string {
	out := map[string]string{}
	maps.Copy(out, a.Config.BaseURLs)
	for _, e := range a.Catalogue.Endpoints() {
		out[e.Provider] = e.BaseURL
	}
	return out
}

// newChat makes the chat models of runs in which a person named the models of s.
func (a *Atelier) newChat(s Sources) (*chat.Registry, error) {
	profiles, err := readProfiles(a.Config.ChatProfiles)
	if err != nil {
		return nil, err
	}
	def := a.Config.ChatModel
	if s.ChatModel != "" {
		def = s.ChatModel
	}
	return chat.NewRegistry(chat.Config{
		Profiles: profiles, Keys: a.Config.Keys, BaseURLs: a.Config.BaseURLs, Default: def, Codec: a.Codec,
		Offline: offline.Model{Blobs: a.Codec, Painter: painter{gateway: a.Gateway, model: s.ImageModel}},
		Openers: map[string]chat.Opener{"bedrock": bedrock.Opener(a.bedrock())},
	})
}

// generated passes on how a generation proceeds.
func (a *Atelier) generated(ctx context.Context, e generate.Event) {
	if a.Config.OnGeneration != nil {
		a.Config.OnGeneration(ctx, e)
	}
	if ctx.Value(afterRun{}) == nil {
		a.observer.Progress(ctx, e)
	}
}

// Observer tells what runs do, those of other requests included.
func (a *Atelier) Observer() *run.Observer { return a.observer }

// Close cancels the runs of this process, waits for them to save what they made, and closes
// the database. A second call does nothing.
//
//nolint:contextcheck,nolintlint // it has to end what has begun, whatever the context of its caller
func (a *Atelier) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	if a.runs != nil {
		a.runs.close()
	}
	return a.Stores.Close()
}

// Scoped puts the owner and a run tree into a context in which a Gateway or a Ledger is
// called directly.
func (a *Atelier) Scoped(ctx context.Context, tree string) context.Context {
	return media.WithScope(ctx, media.Scope{Owner: a.Config.Owner, Tree: tree})
}

// Generate asks a model for pictures or sound, records them, and gives the result, also of
// what failed; see [generate.Gateway.Generate].
func (a *Atelier) Generate(ctx context.Context, r generate.Request) (*generate.Result, error) {
	return a.Gateway.Generate(a.Scoped(ctx, uuid.Must(uuid.NewV7()).String()), r)
}

package atelier

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"atelier/api"
	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/operations"
)

// servedGenerations implements the resource of generations outside of runs.
type servedGenerations struct {
	*server
	// base is the context of the server's work. A generation outlives the request that started it.
	base    context.Context //nolint:containedctx // it ends with the server
	streams *hubs
	// cancels holds the cancel functions of the generations that run in this process.
	cancels sync.Map
}

// eventReceiverKey is the context key of the function that receives the events of a generation.
type eventReceiverKey struct{}

// errCancelledByPerson is the cause when a person cancels.
var errCancelledByPerson = errors.New("cancelled by a person")

// StartGeneration starts a generation and returns it as soon as it is journalled.
func (s *servedGenerations) StartGeneration(ctx context.Context, key string, g api.NewGeneration) (api.Generation, error) {
	r, err := s.gatewayRequest(ctx, g)
	if err != nil {
		return api.Generation{}, err
	}
	r.IdempotencyKey, r.Adopt = key, true
	r.Accept = s.Ledger.Record
	return s.begin(ctx, func(ctx context.Context) (*generate.Result, error) { return s.Gateway.Generate(ctx, r) })
}

// RetryGeneration retries failed results.
func (s *servedGenerations) RetryGeneration(ctx context.Context, id string, all bool) (api.Generation, error) {
	if err := s.requireGeneration(ctx, id); err != nil {
		return api.Generation{}, err
	}
	return s.begin(ctx, func(ctx context.Context) (*generate.Result, error) {
		return s.Gateway.Retry(ctx, gateway.RetryOptions{Operation: id, All: all})
	})
}

// begin executes do in the background and returns the generation as soon as its id is known.
//
//nolint:contextcheck // a generation outlives the request that started it
func (s *servedGenerations) begin(ctx context.Context, do func(context.Context) (*generate.Result, error)) (api.Generation, error) {
	type end struct {
		res *generate.Result
		err error
	}
	started, ended := make(chan string, 1), make(chan end, 1)
	work, cancel := context.WithCancelCause(s.base)
	work = media.WithScope(work, media.Scope{Owner: s.owner(ctx), Tree: newID()})
	hub := s.streams.hubFor(ctx)
	var first sync.Once
	var id atomic.Pointer[string]
	work = context.WithValue(work, eventReceiverKey{}, func(e generate.Event) {
		first.Do(func() {
			id.Store(&e.Operation)
			s.cancels.Store(e.Operation, func() { cancel(errCancelledByPerson) })
			started <- e.Operation
		})
		publishProgress(hub, e)
	})
	s.work.Go(func() {
		defer cancel(nil)
		res, err := do(work)
		if own := id.Load(); own != nil {
			s.cancels.Delete(*own)
		}
		ended <- end{res, err}
	})
	select {
	case id := <-started:
		return s.Generation(ctx, id)
	case e := <-ended:
		if e.res != nil && e.res.Operation != "" {
			return s.Generation(ctx, e.res.Operation)
		}
		if s.base.Err() != nil {
			e.err = errStopping
		}
		return api.Generation{}, e.err
	}
}

// publishProgress publishes the progress of a generation to its owner's streams.
func publishProgress(hub *api.Hub, e generate.Event) {
	kind := cmp.Or(map[generate.EventKind]string{
		generate.EventStarted: "operation-started", generate.EventPartial: "operation-partial", generate.EventFinished: "operation-finished",
	}[e.Kind], "operation-progress")
	payload := map[string]any{"operation": e.Operation, "model": e.Model, "provider": e.Provider, "n": e.N, "elapsed_ms": e.Elapsed.Milliseconds()}
	if e.Status != "" {
		payload["status"] = e.Status
	}
	if e.Slot > 0 {
		payload["slot"] = e.Slot
	}
	if e.Progress >= 0 && e.Kind == generate.EventProgress {
		payload["progress"] = e.Progress
	}
	if e.Output != nil {
		payload["output"] = outputView(*e.Output)
	}
	if e.Partial != nil {
		payload["output"] = media.NewOutput(*e.Partial, media.Meta{})
	}
	if e.Error != nil {
		payload["error"] = e.Error
	}
	hub.Publish(ledger.Event{Tree: e.Operation, Kind: kind, Payload: ledger.JSON(payload), CreatedAt: now()})
}

// gatewayRequest converts an HTTP request to a request of the gateway.
func (s *servedGenerations) gatewayRequest(ctx context.Context, g api.NewGeneration) (generate.Request, error) {
	r := generate.Request{
		Method: generate.Method(g.Method), Modality: media.Modality(g.Modality), Prompt: g.Prompt, NegativePrompt: g.NegativePrompt, Model: g.Model, Fallback: g.Fallback,
		N: g.N, Size: g.Size, AspectRatio: g.AspectRatio, Quality: g.Quality, Style: g.Style, Background: g.Background, Seed: g.Seed, OutputFormat: g.OutputFormat,
		Voice: g.Voice, Speed: g.Speed, Compression: g.Compression, Moderation: g.Moderation, Options: g.Options, Strict: g.Strict, Label: g.Label,
	}
	if len(g.Inputs) > 0 && r.Method == "" {
		r.Method = generate.MethodEdit
	}
	for _, in := range g.Inputs {
		o, err := s.input(ctx, in.MediaID)
		if err != nil {
			return r, err
		}
		r.Inputs = append(r.Inputs, o)
	}
	if g.Mask != nil {
		o, err := s.input(ctx, g.Mask.MediaID)
		if err != nil {
			return r, err
		}
		r.Mask = &o
	}
	return r, nil
}

func (s *servedGenerations) input(ctx context.Context, id string) (media.Output, error) {
	rec, err := s.record(ctx, id)
	o := rec.Output
	o.Promoted, o.Origin.Direction = false, "input"
	return o, err
}

// PlanGeneration returns the plan of a request without executing it.
func (s *servedGenerations) PlanGeneration(ctx context.Context, g api.NewGeneration) (api.Plan, error) {
	r, err := s.gatewayRequest(ctx, g)
	if err != nil {
		return api.Plan{}, err
	}
	p, err := s.Gateway.DryRun(s.Scoped(ctx, newID()), r)
	if err != nil {
		return api.Plan{}, err
	}
	return api.Plan{
		Model: p.Model.Name, Provider: p.Model.Provider, Calls: len(p.Calls), Makes: p.ResultCount, Settings: settingsOfPlan(p.Dispositions),
		EstimatedUSD: p.EstimatedUSD, Warnings: append([]string{}, p.Warnings...),
	}, nil
}

// requireGeneration returns a not-found error if the owner does not have the generation.
func (s *servedGenerations) requireGeneration(ctx context.Context, id string) error {
	_, _, _, err := s.Ledger.Operation(ctx, s.owner(ctx), id)
	return describeNotFound(err, "generation", id)
}

// Generation returns a generation with its results.
func (s *servedGenerations) Generation(ctx context.Context, id string) (api.Generation, error) {
	o, slots, _, err := s.Ledger.Operation(ctx, s.owner(ctx), id)
	if err != nil {
		return api.Generation{}, describeNotFound(err, "generation", id)
	}
	v := generationView(o)
	for _, sl := range slots {
		out := api.Slot{Index: sl.Index, Status: sl.Status, RevisedPrompt: sl.RevisedPrompt, Seed: sl.Seed, Error: failureView(sl.Failure)}
		if sl.MediaID != "" {
			rec, err := s.Ledger.MediaRecord(ctx, s.owner(ctx), sl.MediaID)
			if err == nil {
				m := mediaView(rec)
				out.Media = &m
			} else if media.CodeOf(err) != media.CodeNotFound { // otherwise the item was deleted
				return v, err
			}
		}
		v.Slots = append(v.Slots, out)
	}
	return v, nil
}

func generationView(o ledger.Operation) api.Generation {
	requested, _ := prompts(o)
	return api.Generation{
		ID: o.ID, Status: o.Status, Method: o.Method, Modality: string(o.Modality), Prompt: requested, Model: o.Model, Provider: o.Provider, RunID: o.RunID,
		Slots: []api.Slot{}, Settings: settingViews(o.Dispositions), Warnings: append([]string{}, o.Warnings...), Error: failureView(o.Failure),
		Cost: operationCost(o), CreatedAt: o.CreatedAt.UTC(), FinishedAt: timeOrNil(o.FinishedAt),
	}
}

func operationCost(o ledger.Operation) api.Cost {
	return api.Cost{EstimatedUSD: o.EstimatedUSD, ReportedUSD: o.ReportedUSD, Complete: o.EstimatedUSD != nil || o.ReportedUSD != nil}
}

// ListGenerations lists generations, newest first.
func (s *servedGenerations) ListGenerations(ctx context.Context, q api.GenerationQuery) (api.List[api.Generation], error) {
	list, err := s.Ledger.ListOperations(ctx, s.owner(ctx), ledger.OperationQuery{Tree: s.treeOf(ctx, q.Run), Status: q.Status, Page: pageOf(q.Page)})
	return views(list, generationView), err
}

// cancelTimeout is how long a cancelled generation of this process may take to end.
const cancelTimeout = 10 * time.Second

// CancelGeneration cancels a generation.
func (s *servedGenerations) CancelGeneration(ctx context.Context, id string) (api.Generation, error) {
	if err := s.requireGeneration(ctx, id); err != nil {
		return api.Generation{}, err
	}
	held, _ := s.cancels.Load(id)
	cancel, own := held.(func())
	if !own {
		if _, err := s.Gateway.Cancel(s.Scoped(ctx, ""), id); err != nil {
			return api.Generation{}, err
		}
		return s.Generation(ctx, id)
	}
	cancel()
	ended, stop := context.WithTimeout(ctx, cancelTimeout)
	defer stop()
	poll(ended, 10*time.Millisecond, func() bool {
		_, running := s.cancels.Load(id)
		return !running
	})
	return s.Generation(context.WithoutCancel(ctx), id)
}

// repeatRequest returns a request that repeats an operation with the model that executed it; nil if the operation's
// record contains no request.
func repeatRequest(o ledger.Operation) *api.NewGeneration {
	r, _, err := operations.Requested(o)
	if err != nil || r.Prompt == "" && len(r.Inputs) == 0 {
		return nil
	}
	g := &api.NewGeneration{
		Method: string(r.Method), Modality: string(o.Modality), Prompt: r.Prompt, NegativePrompt: r.NegativePrompt, Model: o.Model, N: r.N, Size: r.Size,
		AspectRatio: r.AspectRatio, Quality: r.Quality, Style: r.Style, Background: r.Background, Seed: r.Seed, OutputFormat: r.OutputFormat, Voice: r.Voice,
		Speed: r.Speed, Compression: r.Compression, Moderation: r.Moderation, Options: r.Options, Strict: r.Strict, Label: r.Label,
	}
	for _, in := range r.Inputs {
		g.Inputs = append(g.Inputs, mediaReference(in))
	}
	if r.Mask != nil {
		mask := mediaReference(*r.Mask)
		g.Mask = &mask
	}
	return g
}

// mediaReference returns a reference that finds the item again: its id, or its ref if it has no record.
func mediaReference(o media.Output) api.RunFile {
	return api.RunFile{MediaID: cmp.Or(o.ID, string(o.Ref))}
}

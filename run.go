package atelier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

// Request is a request to an agent, with its sources. If Sources is empty, the sources of the configuration are used.
type Request struct {
	agent.Request
	Sources Sources
}

// Event is an event of a run. Kind is an [agent.EventType], and Payload the JSON of its payload type. An event without
// an ID is not saved: progress, previews, partial messages. The last event of a sequence contains only the result.
type Event struct {
	ledger.Event
	// Result is set when the run has ended or paused.
	Result *agent.Result
}

// Run runs an agent. The sequence, which can be used once, yields events in order and then the result, with the error if
// the run failed. If the run cannot start, the sequence yields only the error. Leaving the loop, or the end of ctx,
// cancels the run and waits until what it made is saved; the error wraps the cause of ctx.
func (a *Atelier) Run(ctx context.Context, r Request) iter.Seq2[Event, error] {
	if r.RunID == "" {
		r.RunID = newID()
	}
	return a.follow(ctx, cmp.Or(r.Owner, a.owner(ctx)), r.RunID, 0, func() (*run.Run, error) { return a.Start(ctx, r) })
}

// Start starts a run. The run ends with the process, or as [run.Run] describes. [Atelier.Run] also follows it.
func (a *Atelier) Start(ctx context.Context, r Request) (*run.Run, error) {
	s, err := a.Runs(ctx)
	if err != nil {
		return nil, err
	}
	if r.Sources == (Sources{}) {
		r.Sources = a.Config.Sources
	}
	r.Owner = cmp.Or(r.Owner, a.owner(ctx))
	setting, err := a.settings.write(r.Sources.absolute())
	if err != nil {
		return nil, err
	}
	return s.StartWith(ctx, r.Request, setting)
}

// Resume answers a paused run or, if reply is nil, continues one whose process died, which requires Config.Adopt. The
// sequence is that of [Atelier.Run], without earlier events.
func (a *Atelier) Resume(ctx context.Context, runID string, reply *agent.Reply) iter.Seq2[Event, error] {
	return a.follow(ctx, a.owner(ctx), runID, a.lastEvent(ctx, runID), func() (*run.Run, error) {
		s, err := a.Runs(ctx)
		if err != nil {
			return nil, err
		}
		return s.Resume(ctx, a.owner(ctx), runID, reply)
	})
}

// Fork is a [run.Fork] with other models: ChatModel is that of [Sources], and the agents prefer ImageModel. Empty names
// keep the models of the run.
type Fork struct {
	run.Fork
	ChatModel, ImageModel string
}

// Fork starts a run that repeats another run of an owner from a step on; see [run.Service.Fork]. The errors include
// those of [Atelier.CheckModels].
func (a *Atelier) Fork(ctx context.Context, owner, runID string, f Fork) (*run.Run, error) {
	s, err := a.Runs(ctx)
	if err = cmp.Or(err, a.CheckModels(ctx, f.ChatModel, f.ImageModel)); err != nil {
		return nil, err
	}
	if f.ImageModel != "" {
		f.ImageModels = []string{f.ImageModel}
	}
	if f.ChatModel != "" {
		f.Setting = func(saved json.RawMessage) (json.RawMessage, error) {
			kept, err := readSetting(saved)
			kept.ChatModel = f.ChatModel
			return ledger.JSON(kept), err
		}
	}
	return s.Fork(ctx, owner, runID, f.Fork)
}

// Cancel cancels a run of an owner in any process, with the open interaction and the sub-actions of a workflow run. Its
// media are kept. The errors are those of [run.Service.End].
func (a *Atelier) Cancel(ctx context.Context, owner, runID string) error {
	err := a.workflows.Cancel(ctx, owner, runID)
	if media.CodeOf(err) != media.CodeNotFound { // otherwise it is not a workflow run
		return err
	}
	s, err := a.Runs(ctx)
	if err != nil {
		return err
	}
	return s.End(ctx, owner, runID)
}

// lastEvent returns the number of the last event of a run; 0 if there is none.
func (a *Atelier) lastEvent(ctx context.Context, runID string) (last int64) {
	for {
		events, err := a.Ledger.ListEvents(ctx, a.owner(ctx), runID, last, ledger.MaxLimit)
		if err != nil || len(events) == 0 {
			return last // an unknown run has nothing to follow
		}
		last = events[len(events)-1].Sequence
	}
}

// follow starts a run and returns its events after the number last, and its result.
func (a *Atelier) follow(ctx context.Context, owner, id string, last int64, begin func() (*run.Run, error)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		events, stop := a.observer.Subscribe(id)
		defer func() { stop() }()
		r, err := begin()
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer func() {
			r.Cancel()
			_, _ = r.Wait(context.WithoutCancel(ctx)) // the result was returned, or the loop has ended
		}()
		defer context.AfterFunc(ctx, r.Cancel)()
		give := func(e ledger.Event) bool {
			if e.Sequence != 0 { // otherwise it is not saved
				if e.Sequence <= last {
					return true
				}
				last = e.Sequence
			}
			return yield(Event{Event: e}, nil)
		}
		for over := false; !over; {
			select {
			case e, ok := <-events:
				if ok {
					if !give(e) {
						return
					}
					continue
				}
				events, stop = a.observer.Subscribe(id) // the subscription was dropped because this loop was too slow
			case <-r.Done():
				over = true
			}
			if !a.yieldSaved(ctx, owner, id, last, give) {
				return
			}
		}
		res, err := r.Wait(context.WithoutCancel(ctx))
		if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", err, cause)
		}
		yield(Event{Result: res}, err)
	}
}

// yieldSaved returns the saved events after a number. It reports whether the loop continues.
func (a *Atelier) yieldSaved(ctx context.Context, owner, id string, last int64, give func(ledger.Event) bool) bool {
	ctx = context.WithoutCancel(ctx)
	_ = a.observer.Flush(ctx) // unsaved records are in the result's warnings
	for {
		events, err := a.Ledger.ListEvents(ctx, owner, id, last, ledger.MaxLimit)
		if err != nil || len(events) == 0 {
			return true
		}
		for _, e := range events {
			if last = e.Sequence; !give(e) {
				return false
			}
		}
	}
}

// runs holds the service of runs, which is opened on first use, its sources, and the calls of [Atelier.Generate].
type runs struct {
	mu      sync.Mutex     // guards the fields below
	service *run.Service   // nil until it is opened
	closer  func()         // closes the sources of the configuration, if service is set
	ended   error          // why this process starts no more runs, if running work was handed over
	calls   sync.WaitGroup // the generations in progress
	servers sync.WaitGroup // the calls of [Atelier.Serve]
	// open ends when close is called.
	open context.Context //nolint:containedctx // it is the Atelier's own end
	end  context.CancelFunc
}

// The errors of calls after the end of an Atelier and of its server.
var (
	errClosed   = media.Errorf(media.CodeUnavailable, "this Atelier is closed: open a new one")
	errStopping = media.Errorf(media.CodeUnavailable, "the server is stopping: send the request again in a moment")
)

// admit admits a call, which close cancels and awaits. The caller calls leave when it is over.
func (r *runs) admit(ctx context.Context, among *sync.WaitGroup) (_ context.Context, leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open.Err() != nil {
		return nil, nil, errClosed
	}
	among.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(r.open, cancel)
	return ctx, func() {
		stop()
		cancel()
		among.Done()
	}, nil
}

// close ends the work of this process, and reports whether this is the first call.
func (r *runs) close() bool {
	r.mu.Lock()
	first := r.open.Err() == nil
	r.end() // calls that come from now on are refused
	r.mu.Unlock()
	if !first {
		return false
	}
	r.servers.Wait() // they hand over the runs
	if r.service != nil && r.ended == nil {
		r.service.Close()
	}
	if r.service != nil {
		r.closer()
	}
	r.calls.Wait()
	return true
}

// handOver ends the service. Another process continues its runs.
func (r *runs) handOver(ctx context.Context) {
	r.mu.Lock()
	r.ended = errStopping
	r.mu.Unlock() // calls that come from now on do not wait for the grace period
	r.service.HandOver(ctx)
}

// stopServing makes further runs fail for good: the server has ended.
func (r *runs) stopServing() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = errClosed
}

// Runs returns the service behind [Atelier.Run]. It cancels, retries and forks runs, and lists their steps. The service
// is opened on first use, with the durable engine.
func (a *Atelier) Runs(ctx context.Context) (*run.Service, error) {
	a.runs.mu.Lock()
	defer a.runs.mu.Unlock()
	switch {
	case a.runs.open.Err() != nil:
		return nil, errClosed
	case a.runs.ended != nil:
		return nil, a.runs.ended
	}
	if a.runs.service != nil {
		return a.runs.service, nil
	}
	ctx = context.WithoutCancel(ctx)
	runner, closer, err := a.Runner(ctx, a.Config.Sources)
	if err != nil {
		return nil, err
	}
	c := run.Config{
		Agents: runner, Ledger: a.Ledger, Observer: a.observer, Gateway: a.Gateway,
		NewAgents: func(ctx context.Context, saved json.RawMessage) (*agent.Runner, func(), error) {
			s, err := a.settings.read(saved)
			if err != nil {
				return nil, nil, err
			}
			return a.Runner(ctx, s)
		},
	}
	c.Setting, err = a.settings.write(a.Config.Sources)
	if err == nil && !a.Config.WithoutEngine {
		c.Engine, err = a.Engine(ctx, a.Config.Adopt)
	}
	var service *run.Service
	if err == nil {
		service, err = run.NewService(c) //nolint:contextcheck // the engine has its own context
	}
	if err != nil {
		closer()
		if c.Engine != nil {
			err = errors.Join(err, c.Engine.Close(ctx))
		}
		return nil, err
	}
	a.runs.service, a.runs.closer = service, closer
	return service, nil
}

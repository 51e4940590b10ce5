package atelier

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

// Request is what an agent is asked, and what it works with. Empty sources are those of the
// configuration.
type Request struct {
	agent.Request
	Sources Sources
}

// Event is something that happened in a run. The last one has the result and nothing else.
type Event struct {
	ledger.Event
	// Result is set when the run has ended, and when it waits for an answer.
	Result *agent.Result
}

// Run runs an agent. The sequence gives what happens in order and at the end the result, with
// the error if the run failed; an error before the run began comes alone. Leaving the loop, or
// the end of ctx, cancels the run and waits until what it made is kept.
func (a *Atelier) Run(ctx context.Context, r Request) iter.Seq2[Event, error] {
	if r.RunID == "" {
		r.RunID = uuid.Must(uuid.NewV7()).String()
	}
	return a.follow(ctx, r.RunID, 0, func() (*run.Run, error) { return a.Start(ctx, r) })
}

// Start begins a run, which ends with the process or as [run.Run] says; [Atelier.Run] follows one.
func (a *Atelier) Start(ctx context.Context, r Request) (*run.Run, error) {
	s, err := a.Runs(ctx)
	if err != nil {
		return nil, err
	}
	if r.Sources == (Sources{}) {
		r.Sources = a.Config.Sources
	}
	if r.Owner == "" {
		r.Owner = a.Config.Owner
	}
	setting, err := a.setting(r.Sources)
	if err != nil {
		return nil, err
	}
	return s.StartWith(ctx, r.Request, setting)
}

// Resume answers a run that waits, or, without a reply, takes up one whose process ended. The
// sequence is that of [Atelier.Run], without what happened before.
func (a *Atelier) Resume(ctx context.Context, runID string, reply *agent.Reply) iter.Seq2[Event, error] {
	return a.follow(ctx, runID, a.lastEvent(ctx, runID), func() (*run.Run, error) {
		s, err := a.Runs(ctx)
		if err != nil {
			return nil, err
		}
		return s.Resume(ctx, a.Config.Owner, runID, reply)
	})
}

// lastEvent is the number of the last event of a run, 0 if there is none.
func (a *Atelier) lastEvent(ctx context.Context, runID string) (last int64) {
	for {
		events, err := a.Ledger.ListEvents(ctx, a.Config.Owner, runID, last, ledger.MaxLimit)
		if err != nil || len(events) == 0 {
			return last // of a run that is not known there is nothing to follow
		}
		last = events[len(events)-1].Sequence
	}
}

// follow begins a run and gives its events after a number, and its result.
func (a *Atelier) follow(ctx context.Context, id string, last int64, begin func() (*run.Run, error)) iter.Seq2[Event, error] {
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
			_, _ = r.Wait(context.WithoutCancel(ctx)) // it has given its result, or nobody wants it
		}()
		defer context.AfterFunc(ctx, r.Cancel)()
		ended := make(chan struct{})
		var res *agent.Result
		var failed error
		go func() {
			defer close(ended)
			res, failed = r.Wait(context.WithoutCancel(ctx))
		}()
		give := func(e ledger.Event) bool {
			if e.Sequence <= last {
				return true
			}
			last = e.Sequence
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
				events, stop = a.observer.Subscribe(id) // it was dropped, for this loop was slow
			case <-ended:
				over = true
			}
			if !a.missed(ctx, id, last, give) {
				return
			}
		}
		yield(Event{Result: res}, failed)
	}
}

// missed gives the events of the record after a number; false when nobody wants more.
func (a *Atelier) missed(ctx context.Context, id string, last int64, give func(ledger.Event) bool) bool {
	ctx = context.WithoutCancel(ctx)
	_ = a.observer.Flush(ctx) // a record that was not saved is in the result's warnings
	for {
		events, err := a.Ledger.ListEvents(ctx, a.Config.Owner, id, last, ledger.MaxLimit)
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

// runs is the service of runs and what it was opened with.
type runs struct {
	service  *run.Service
	standard *outfit // that of the configuration's sources
	over     bool    // what was under way was handed over
}

func (r *runs) close() {
	if !r.over {
		r.service.Close()
	}
	r.standard.close()
}

// handOver ends the service; its runs proceed in another process.
func (a *Atelier) handOver(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs.service.HandOver(ctx)
	a.runs.over = true
}

// Runs is the service behind [Atelier.Run]: to cancel, retry and fork runs, and to list their
// steps. It is opened, with the durable engine, when it is first asked for.
func (a *Atelier) Runs(ctx context.Context) (*run.Service, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, media.Errorf(media.CodeUnavailable, "the Atelier is closed: open another one")
	}
	if a.runs != nil {
		return a.runs.service, nil
	}
	r, err := a.openRuns(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	a.runs = r
	return r.service, nil
}

func (a *Atelier) openRuns(ctx context.Context) (_ *runs, err error) {
	standard, err := a.outfit(ctx, a.Config.Sources)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			standard.close()
		}
	}()
	c := run.Config{Agents: standard.runner, Ledger: a.Ledger, Observer: a.observer, Gateway: a.Gateway, Outfit: a.open}
	if c.Setting, err = a.setting(a.Config.Sources); err != nil {
		return nil, err
	}
	if !a.Config.WithoutEngine {
		if c.Engine, err = a.Engine(ctx, a.Config.TakeOver); err != nil {
			return nil, err
		}
	}
	service, err := run.NewService(c) //nolint:contextcheck // the engine has a context of its own
	if err != nil {
		if c.Engine != nil {
			err = errors.Join(err, c.Engine.Close(ctx))
		}
		return nil, err
	}
	return &runs{service: service, standard: standard}, nil
}

// open opens what a run works with that was begun with a setting.
func (a *Atelier) open(ctx context.Context, saved json.RawMessage) (run.Agents, func(), error) {
	s, err := a.sourcesOf(saved)
	if err != nil {
		return nil, nil, err
	}
	return a.Runner(ctx, s)
}

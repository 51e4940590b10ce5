package run

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/agent"
	"atelier/generate/gateway"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/conversation"
	"atelier/run/record"
)

// work is a part of a run as the engine stores it: from the beginning of the run or a person's answer to the end or the
// next question.
type work struct {
	Request agent.Request        `json:"request"`
	Thread  *conversation.Thread `json:"thread,omitempty"`
	Setting json.RawMessage      `json:"setting,omitempty"`
	// Part is the number of earlier parts. Kept means that the ledger has the state from which the part continues;
	// Request then only identifies the run.
	Part int  `json:"part,omitempty"`
	Kept bool `json:"kept,omitempty"`

	forked *record.Origin
	// maybeStarted means that another process may have started the part.
	maybeStarted bool
}

// saved is what the ledger stores for a run that continues later.
type saved struct {
	State  agent.State          `json:"state"`
	Thread *conversation.Thread `json:"thread,omitempty"`
	Forked *record.Origin       `json:"forked,omitempty"`
}

// partID returns the id of the durable work of a part. The first part has the id of the run.
func partID(run string, part int) string {
	if part == 0 {
		return run
	}
	return run + "." + strconv.Itoa(part)
}

// readSaved decodes a saved state.
func readSaved(st ledger.RunState) (saved, error) {
	var v saved
	if err := json.Unmarshal(st.State, &v); err != nil {
		return v, media.Errorf(media.CodeCorrupt, "read the state of run %s: %w", st.RunID, err)
	}
	return v, nil
}

// player executes parts of runs, and ends runs outside of their agents.
type player struct {
	ledger   ledger.Store
	observer *record.Observer
	gateway  *gateway.Gateway // nil: open generations stay
	threads  conversation.Store
	now      func() time.Time
}

// recallPart reads the state from which a part continues. If the part has already ended, ended is its result.
func (p player) recallPart(ctx context.Context, w *work, started bool) (ended *agent.Result, err error) {
	if !started && !w.Kept {
		return nil, nil
	}
	st, err := p.ledger.RunState(ctx, w.Request.Owner, w.Request.RunID)
	if media.CodeOf(err) == media.CodeNotFound && !w.Kept {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := readSaved(st)
	if err != nil {
		return nil, err
	}
	if st.Number != w.Part || st.Status != ledger.WaitAnswered {
		ended = &agent.Result{RunID: st.RunID, Agent: v.State.Request.Agent, Status: agent.StatusRunning, Pending: v.State.Pending, State: &v.State}
		if st.Status == ledger.WaitPaused {
			ended.Status = agent.StatusPaused
		}
		return ended, nil
	}
	w.Request, w.Thread, w.forked = v.State.Request, v.Thread, v.Forked
	w.Request.State = &v.State
	return nil, p.carry(ctx, *w)
}

// play executes a part and saves its outcome. Its transcript contains the steps of earlier parts, and records those of
// this part in j and for the next one; j may be nil.
func (p player) play(ctx context.Context, agents *agent.Runner, w work, j journal.Journal) (*agent.Result, error) {
	if j == nil {
		j = journal.Memory{}
	}
	var known map[string][]byte
	if w.Request.State != nil {
		known = w.Request.State.Known()
	}
	w.Request.Journal = journal.NewTranscript(j, known)
	if w.forked != nil {
		ctx = record.WithOrigin(ctx, *w.forked)
	}
	w.Request.Begun = w.maybeStarted
	w.Request.OnClose = func(ctx context.Context, status agent.Status) []media.Output {
		if status != agent.StatusCancelled && !w.maybeStarted && w.Part == 0 {
			return nil // no earlier process left open generations
		}
		return p.closeOpen(ctx, w.Request, status)
	}
	res, err := p.execute(ctx, agents, w.Request, w.Thread)
	if journal.HandedOver(ctx) {
		return res, err
	}
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	if res != nil && res.Status == agent.StatusPaused {
		if err := p.pause(save, w, res); err != nil || ctx.Err() == nil || journal.HandedOver(ctx) {
			return res, err
		}
		// It was cancelled just as it paused.
		st, err := p.ledger.RunState(save, w.Request.Owner, w.Request.RunID)
		if err == nil && st.Status == ledger.WaitPaused {
			err = p.endPaused(save, st)
		}
		if err == nil {
			err = media.Errorf(media.CodeCancelled, "the run was cancelled; what it made is kept")
		}
		return res, err
	}
	if w.Kept {
		st := ledger.RunState{RunID: w.Request.RunID, Owner: w.Request.Owner, Number: w.Part, Status: ledger.WaitFinished}
		if err := p.ledger.ChangeRunState(save, ledger.WaitAnswered, st); err != nil {
			slog.WarnContext(ctx, "end of a run's state not saved", slog.String("run", w.Request.RunID), slog.String("error", media.ErrorText(err.Error())))
		}
	}
	return res, err
}

// pause saves a waiting run. If that fails, the run has not paused: it is replayed.
func (p player) pause(ctx context.Context, w work, res *agent.Result) error {
	kept := *res.State
	kept.Emitted = nil // the ledger has each event once, even if this process dies before saving it
	state, err := json.Marshal(saved{State: kept, Thread: w.Thread, Forked: w.forked})
	if err != nil {
		return media.Errorf(media.CodeInternal, "write the state of run %s: %w", res.RunID, err)
	}
	pending, err := json.Marshal(res.Pending)
	if err != nil {
		return media.Errorf(media.CodeInternal, "write the questions of run %s: %w", res.RunID, err)
	}
	err = p.ledger.SaveRunState(ctx, ledger.RunState{
		RunID: w.Request.RunID, Owner: w.Request.Owner, Number: w.Part + 1, Status: ledger.WaitPaused,
		Pending: pending, State: state, Setting: w.Setting, AskedAt: p.now(),
	})
	if err != nil && media.CodeOf(err) != media.CodeConflict { // a conflict means that it is already saved
		return &unsaved{err}
	}
	return nil
}

// unsaved is the error of a pause that was not saved.
type unsaved struct{ cause error }

func (e *unsaved) Error() string { return "save the paused run: " + e.cause.Error() }
func (e *unsaved) Unwrap() error { return e.cause }

// flushLimit bounds the wait for the last events of a run.
const flushLimit = 30 * time.Second

// execute grants the run its media, runs the agent and sums the cost. In a conversation, it saves the answer, even of a
// failed run; a paused run has no answer yet.
func (p player) execute(ctx context.Context, agents *agent.Runner, req agent.Request, t *conversation.Thread) (*agent.Result, error) {
	if !req.Deadline.IsZero() {
		over := media.Errorf(media.CodeDeadline, "the run reached its time limit")
		limited, stop := context.WithDeadlineCause(ctx, req.Deadline, over)
		defer stop()
		ctx = limited
	}
	var g step.Given
	var res *agent.Result
	var err error
	if len(req.Granted) > 0 || t != nil { // as a step, so that nothing is recorded twice
		g, err = journal.Do(ctx, req.Journal, step.Name{Kind: step.KindGiven}, func(ctx context.Context) (step.Given, error) {
			return p.grantMedia(ctx, req, t)
		})
	}
	if err == nil {
		req.Granted, req.Warnings = g.Granted, append(g.Warnings, req.Warnings...)
		if t != nil {
			req.History, t.Inherited, t.Answer = t.History, g.Inherited, g.Answer
			req.Granted = append(slices.Clone(g.Inherited), g.Granted...)
		}
		res, err = agents.Run(ctx, req)
	}
	if res != nil && t != nil {
		res.Conversation = t.ID
	}
	if journal.HandedOver(ctx) {
		return res, err
	}
	if res != nil {
		save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
		defer cancel()
		if err := p.observer.Flush(save); err != nil {
			res.Warnings = append(res.Warnings, "the last events of this run may not be in its log yet")
		}
		var unread error
		if res.Cost, unread = p.observer.Total(save, req.Owner, req.RunID, req.RunID, res.Cost); unread != nil {
			res.Warnings = append(res.Warnings, "the cost of this run's generations could not be read: "+media.ErrorText(unread.Error()))
		}
	}
	if t != nil && (res == nil || res.Status != agent.StatusPaused) {
		save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit) // slow events leave it its full time
		defer cancel()
		warnings := p.threads.Answer(save, t, req, res, err)
		if res != nil {
			res.Warnings = append(res.Warnings, warnings...)
		}
	}
	return res, err
}

// grantMedia grants the media of a run to its tree.
func (p player) grantMedia(ctx context.Context, req agent.Request, t *conversation.Thread) (step.Given, error) {
	var g step.Given
	var err error
	if g.Granted, g.Warnings, err = grant(ctx, p.ledger, req, req.Granted); err != nil {
		return g, err
	}
	if len(g.Granted) == 0 && len(req.Images) > 0 {
		return g, media.Errorf(media.CodeNotFound, "the pictures of the message cannot be shown: %s", strings.Join(g.Warnings, "; "))
	}
	if t == nil {
		return g, nil
	}
	g.Warnings = append(g.Warnings, p.threads.Attach(ctx, req.Owner, t.Asked.ID, g.Granted)...)
	inherited, more, err := grant(ctx, p.ledger, req, conversation.Without(t.Inherited, g.Granted))
	g.Inherited, g.Warnings, g.Answer = inherited, append(g.Warnings, more...), p.threads.NewID()
	return g, err
}

// grant makes the refs of items valid in the run's tree: an item with a record is granted, one without gets a record.
// Deleted items are omitted, with a warning.
func grant(ctx context.Context, l ledger.Store, req agent.Request, items []media.Output) (granted []media.Output, warnings []string, err error) {
	ctx = media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: req.RunID, Run: req.RunID})
	for _, o := range items {
		o.Origin.Direction, o.Promoted = "input", false
		switch rec, err := l.Record(ctx, o); {
		case err == nil:
			granted = append(granted, rec)
		case media.CodeOf(err) == media.CodeNotFound:
			warnings = append(warnings, media.ErrorText(err.Error()))
		default:
			return nil, nil, err
		}
	}
	return granted, warnings, nil
}

// suggestOtherRun adds to the error of an unknown ref the media id of the owner's item that has the ref in another run.
func suggestOtherRun(ctx context.Context, l ledger.Store, owner string, err error) error {
	wrong, ok := errors.AsType[*agent.ImageError](err)
	if !ok || wrong.Ref == "" || media.CodeOf(err) != media.CodeUnknownRef {
		return err
	}
	list, unread := l.ListMedia(ctx, owner, ledger.MediaQuery{Ref: wrong.Ref, Page: ledger.Page{Limit: 1}})
	if unread != nil || len(list.Items) == 0 {
		return err
	}
	e := media.Errorf(media.CodeUnknownRef, "%w; its media id is %s", err, list.Items[0].ID)
	e.Valid = []string{list.Items[0].ID}
	return e
}

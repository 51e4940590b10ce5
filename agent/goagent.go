package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier/action"
	"atelier/agent/contract"
	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/chat"
	"atelier/journal/step"
	"atelier/media"
	"atelier/media/wire"
)

// GoAgent is an agent written in Go. It is called with the task and the granted
// media of its run; what it stores is kept whatever it returns. A panic fails the run.
// Where a run is replayed, the code runs again, and its acts give what they gave before:
// it asks for the same ones in the same order.
type GoAgent func(ctx context.Context, c *Context) (Answer, error)

// Answer is what a Go agent gives back.
type Answer struct {
	// Message is the chat text.
	Message string
	// Payload is the result; it may hold anything that an action's output may hold,
	// media is taken out of it.
	Payload map[string]any
	// Promote chooses items for the answer.
	Promote []contract.Promotion
	// Warnings reach the run's result.
	Warnings []string
}

// Context is what the code of a Go agent, or of an action (see [ContextOf]), uses of
// its run. It is safe for concurrent use and must not outlive the call.
type Context struct {
	// Task is what was asked, Input what was handed down beside it.
	Task  string
	Input map[string]any

	run *run
	// act is the step of the action that the code belongs to; empty in a Go agent.
	act step.Name
	// waits is set where something in the code waits for a person.
	waits atomic.Bool
	asked atomic.Int64 // questions, for their names

	mu    sync.Mutex     // guards calls
	calls map[string]int // how often the action made each call

	recall *recall // of a Go agent
}

type contextKey struct{}

// ContextOf gives the run's Context to an action that is called by an agent.
func ContextOf(ctx context.Context) (*Context, bool) {
	c, ok := ctx.Value(contextKey{}).(*Context)
	return c, ok
}

// RunID is the id of the agent run.
func (c *Context) RunID() string { return c.run.id }

// ToolContext is what the caller of the run gives its actions and Go agents, and no model; see
// [action.ToolValue].
func (c *Context) ToolContext() action.ToolContext { return maps.Clone(c.run.request.ToolContext) }

// History is what was said in the conversation before the task, oldest first; empty
// outside of a conversation and for sub-agents.
func (c *Context) History() []chat.Message { return c.run.remembered() }

// Store reads r to its end, stores and records the item and adds it to the run's
// set. It is not promoted. Limits are [media.CodeTooLarge]; memory is O(64 KiB).
func (c *Context) Store(ctx context.Context, r io.Reader, m media.Meta) (media.Output, error) {
	return c.run.intake.store(ctx, c.run.spec.slug, r, m)
}

// StoreURL fetches an address, guarded, and stores what comes as Store does.
func (c *Context) StoreURL(ctx context.Context, url string, m media.Meta) (media.Output, error) {
	o, err := c.run.intake.interceptor.StoreURL(ctx, c.run.intake.target(c.run.spec.slug), url, m)
	if err == nil {
		c.run.stored(ctx, []media.Output{o})
	}
	return o, err
}

// Promote chooses items of this run for the answer, with their labels and
// descriptions where set. An item of another run is [media.CodeUnknownRef].
func (c *Context) Promote(outputs ...media.Output) error {
	var unknown []string
	for _, o := range outputs {
		if _, ok := c.run.set.Promote(o.Ref, wire.NameMedia(o.Label), wire.NameMedia(o.Description)); !ok {
			unknown = append(unknown, string(o.Ref))
		}
	}
	if len(unknown) > 0 {
		return c.run.set.Unknown(unknown...)
	}
	return nil
}

// Outputs copies the run's visible items in the order in which they were made.
func (c *Context) Outputs() []media.Output { return c.run.set.List() }

// Open reads an item of this run; the caller closes it.
func (c *Context) Open(ctx context.Context, ref media.Ref) (io.ReadCloser, error) {
	o, ok := c.run.set.Lookup(ref)
	if !ok {
		return nil, c.run.set.Unknown(string(ref))
	}
	return c.run.r.cfg.Codec.Open(ctx, o.Digest)
}

// Action runs a registered action; what it makes is in the run's set. Whatever goes
// wrong is in the outcome.
//
// Get Agent Media Details with IncludeData gives the item's bytes as well, as dataUri; neither
// journal nor record nor a model gets them.
//
// Where the action needs a person's approval, Err is [ErrPaused]; see [Context.Ask].
func (c *Context) Action(ctx context.Context, name string, params map[string]any) action.Outcome {
	params, data := withoutData(name, params)
	at, params := c.run.acts.next(ctx), c.run.intake.values(ctx, params)
	if c.within() {
		at.within, at.nested = c.callWithin(name, params)
	}
	out := c.run.acts.do(ctx, contract.ActionCall{Name: wire.NameMedia(name), Params: params}, at)
	c.recall.ask(ctx, at.name())
	c.run.acts.drew(out)
	if errors.Is(out.Err, ErrPaused) {
		c.waits.Store(true)
	}
	if data && out.Success {
		return c.withData(ctx, out)
	}
	return out
}

// withoutData takes the wish for an item's bytes out of the parameters of a call.
func withoutData(name string, params map[string]any) (rest map[string]any, wanted bool) {
	if !plain.SameName(name, "Get Agent Media Details") {
		return params, false
	}
	rest = maps.Clone(params)
	for key, v := range params {
		if is, ok := v.(bool); ok && plain.SameName(key, "IncludeData") {
			wanted = is
			delete(rest, key)
		}
	}
	return rest, wanted
}

// withData adds an item's bytes to its details.
func (c *Context) withData(ctx context.Context, out action.Outcome) action.Outcome {
	ref, _ := out.Outputs["refId"].(string)
	var uri strings.Builder
	o, err := c.run.set.Find(ref)
	if err == nil {
		err = c.run.r.cfg.Codec.WriteDataURI(ctx, &uri, o.Blob)
	}
	if err != nil {
		return refused(out.Name, err)
	}
	out.Outputs = maps.Clone(out.Outputs)
	out.Outputs["dataUri"] = uri.String()
	return out
}

// within reports whether the code is that of an action.
func (c *Context) within() bool { return c.act.Kind != step.KindOther }

// callWithin names a call that an action makes by what it asks for, so that it has the same
// place when the action runs again, whatever ran beside it. blind is set where its parameters
// could not be read, so that it is known by its number only.
func (c *Context) callWithin(name string, params map[string]any) (call step.Name, blind bool) {
	what := plain.JSON(map[string]any{"name": name, "params": params})
	sum := sha256.Sum256(what)
	key := hex.EncodeToString(sum[:6])
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[key]++
	return c.act.Called(key, c.calls[key]), string(what) == "null"
}

// Ask puts a question to a person and gives the answer. Where there is none yet the
// error is [ErrPaused] and the run pauses when the code returns; when the answer is
// there, the code runs again from its beginning, in an action too: ask before anything
// that must not be done twice, and always in the same order. schema is the JSON Schema
// of the answer's value; empty asks for {answer: string}. A bad question or schema is
// [media.CodeInvalid].
func (c *Context) Ask(ctx context.Context, question string, schema json.RawMessage) (Reply, error) {
	q, err := inquiry(c.run.intake.text(ctx, question), schema)
	if err != nil {
		return Reply{}, err
	}
	at := callIndex{turn: 1, index: int(c.asked.Add(1)), nested: c.within()}
	name := step.Name{Kind: step.KindCodeQuestion, Index: at.index}
	if c.within() {
		name = c.act.Numbered(step.TailAsk, at.index)
	}
	return c.answer(ctx, name, at, q)
}

// answer waits for the answer to a question of the code.
func (c *Context) answer(ctx context.Context, name step.Name, at callIndex, q Question) (Reply, error) {
	p, err := c.run.pauses.await(ctx, name, at, q)
	c.recall.ask(ctx, name)
	if errors.Is(err, ErrPaused) {
		c.waits.Store(true)
	}
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{Value: p.Value, ReplaceImages: p.Replace, Note: p.Note}
	for _, i := range p.Images {
		reply.Images = append(reply.Images, Image{Ref: i.Ref, MIMEType: i.MIMEType, FileName: i.FileName, Detail: i.Detail})
	}
	c.run.take(ctx, p)
	return reply, nil
}

// newContext gives code what it uses of the run: that of an action, or of a Go agent where act is empty.
func (r *run) newContext(act step.Name) *Context {
	return &Context{Task: r.task, Input: r.input, run: r, act: act}
}

// code runs a Go agent as the one step of its run.
func (r *run) code(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = media.Errorf(media.CodeInternal, "agent %s failed on a defect in its code (panic of type %T)", r.spec.slug, p)
		}
	}()
	defer r.meter.During(r.r.cfg.Now)()
	own := r.newContext(step.Name{})
	own.recall = r.past.recalled()
	own.recall.ask(ctx, step.Name{})
	r.set.Quote(r.task)
	answer, err := r.spec.code(ctx, own)
	if answer.Payload != nil {
		r.draft.Payload, _ = r.intake.value(ctx, r.spec.slug, answer.Payload).(map[string]any)
	}
	r.draft.Message = r.intake.text(ctx, answer.Message)
	r.warn(ctx, answer.Warnings...)
	if bad := r.draft.Promote(answer.Promote); len(bad) > 0 {
		r.warn(ctx, r.set.Unknown(bad...).Message)
	}
	r.acceptRefs(ctx)
	if r.pauses.some.Load() {
		return ErrPaused // whatever the code made of it
	}
	return err
}

// Stage is a numbered part of what a Go agent does: a step of a workflow. It is an act of the
// run's record, and all that it does is journalled by its number, so that a replay finds it and a
// fork can begin at it. What it does follows each other; a Stage is not safe for concurrent use.
type Stage struct {
	c      *Context
	number int
	rec    StepRecord
	done   int // what was done in it, for the names
}

// StageName is the name of the first step of a stage: a fork from there does the stage anew.
func StageName(number int) string {
	return step.Name{Kind: step.KindCode, Turn: number, Index: 1}.String()
}

// Stage begins the stage with a number, from 1, which no other one of the run has. name and params
// are for its record.
func (c *Context) Stage(ctx context.Context, number int, name string, params json.RawMessage) (*Stage, error) {
	s := &Stage{c: c, number: number}
	began, err := s.time(ctx)
	if err != nil {
		return nil, err
	}
	s.rec = c.run.begin(StepCode, name, callIndex{turn: number, index: 1})
	s.rec.Name, s.rec.Params, s.rec.StartedAt = name, params, began
	c.run.saveStep(ctx, s.rec)
	s.Emit(ctx, EventStepStarted, StepStarted{StepID: name, Number: number})
	return s, nil
}

// time is the time of now, of a replay that of then.
func (s *Stage) time(ctx context.Context) (at time.Time, err error) {
	b, err := s.Step(ctx, func(context.Context) ([]byte, error) { return json.Marshal(s.c.run.r.cfg.Now()) })
	if err == nil {
		err = json.Unmarshal(b, &at)
	}
	return at, err
}

// Step does something once: a replay gets the result again, JSON without media bytes, and fn does
// not run. An error is not kept: fn runs again when the run is tried again. After a crash in
// fn it runs again, too.
func (s *Stage) Step(ctx context.Context, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	s.done++
	name := step.Name{Kind: step.KindCode, Turn: s.number, Index: s.done}
	if err := s.c.run.past.begins(ctx, name); err != nil {
		return nil, err
	}
	b, err := s.c.run.journal.Step(ctx, name, fn)
	s.c.recall.ask(ctx, name)
	return b, err
}

// Ask is [Context.Ask] in a stage. The question is made when there is no answer yet; a replay
// that has the answer does not call inquire.
func (s *Stage) Ask(ctx context.Context, inquire func(ctx context.Context) (question string, schema json.RawMessage, err error)) (Reply, error) {
	r := s.c.run
	s.done++
	at := callIndex{turn: s.number, index: s.done}
	name := step.Name{Kind: step.KindStageAsk, Turn: at.turn, Index: at.index}
	var q Question
	if !r.journal.Knows(name) {
		text, schema, err := inquire(ctx)
		if err == nil {
			q, err = inquiry(r.intake.text(ctx, text), schema)
		}
		if err != nil {
			return Reply{}, err
		}
	}
	return s.c.answer(ctx, name, at, q)
}

// Agent runs another agent to its end; its record, media and cost are parts of the run's. It is
// [ErrPaused] where the agent waits for a person. Granted are items of the run's tree.
func (s *Stage) Agent(ctx context.Context, call contract.AgentCall, granted []media.Output) (*Result, error) {
	r := s.c.run
	s.done++
	at := callIndex{turn: s.number, index: s.done + 1} // the record of the stage has the first
	rec := r.begin(StepAgent, call.Name, at)
	rec.Params = plain.JSON(call)
	if err := notBegun(ctx); err != nil {
		return nil, err
	}
	sp, err := r.r.spec(call.Name)
	if err != nil {
		return nil, err
	}
	child, err := r.child(ctx, sp, at, granted)
	if err != nil {
		return nil, err
	}
	child.task = r.intake.text(ctx, call.Task)
	out, res, ok := r.conduct(ctx, rec, child, granted)
	if !ok {
		return nil, ctx.Err()
	}
	r.absorb(ctx, child)
	switch {
	case out.Waits:
		return nil, ErrPaused
	case !out.Success:
		return res, &media.Error{Code: out.Error.Code, Message: "agent " + sp.slug + ": " + out.Error.Message, Retryable: out.Error.Retryable}
	}
	return res, nil
}

// Emit puts an event into the log of the run.
func (s *Stage) Emit(ctx context.Context, t EventType, data any) { s.c.run.emit(ctx, t, data) }

// End puts the result of the stage on record, or why it has none; one that waits for a person
// stays open. outputs is JSON without media bytes. It gives the error back.
func (s *Stage) End(ctx context.Context, outputs json.RawMessage, err error) error {
	r, rec := s.c.run, s.rec
	if errors.Is(err, ErrPaused) {
		r.pauses.hold(ctx, rec, nil)
		return err
	}
	if err == nil {
		rec.FinishedAt, err = s.time(ctx)
	}
	rec.Status, rec.Outputs = StatusSucceeded, outputs
	end := StepFinished{StepID: rec.Name, Number: s.number}
	if err != nil {
		p := transcript.Problem(err)
		rec.Status, rec.Outputs, rec.FinishedAt = statusOf(ctx, err), nil, time.Time{}
		rec.Code, rec.Message, end.Error = string(p.Code), p.Message, &p
	}
	r.end(ctx, rec)
	end.Status = rec.Status
	s.Emit(ctx, EventStepFinished, end)
	return err
}

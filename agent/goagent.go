package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// GoAgent is an agent written in Go. It is called with the task and the granted media of its run. What it stores is
// kept regardless of what it returns. A panic fails the run. When a run is replayed, the code runs again, and its acts
// return their recorded results. The code must therefore request the same acts in the same order.
type GoAgent func(ctx context.Context, c *Context) (Answer, error)

// Answer is the answer of a Go agent.
type Answer struct {
	// Message is the text of the answer.
	Message string
	// Payload is the structured result. It may contain anything that an action's output may
	// contain; media is replaced with refs.
	Payload map[string]any
	// Promote chooses items for the answer.
	Promote []contract.Promotion
	// Warnings are added to the run's result.
	Warnings []string
}

// Context gives the code of a Go agent, or of an action (see [ContextOf]), access to its run. It is
// safe for concurrent use and must not outlive the call.
type Context struct {
	// Task is the task of the run; Input is the structured input passed with it.
	Task  string
	Input map[string]any

	run *run
	// act is the step of the action to which the code belongs; empty in a Go agent.
	act step.Name
	// pausePending is set if something in the code waits for a person.
	pausePending atomic.Bool
	asked        atomic.Int64 // counts questions, to name them

	mu    sync.Mutex     // guards calls
	calls map[string]int // number of times the action made each call

	recall *recall // of a Go agent
}

type contextKey struct{}

// ContextOf returns the run's Context in an action that is called by an agent.
func ContextOf(ctx context.Context) (*Context, bool) {
	c, ok := ctx.Value(contextKey{}).(*Context)
	return c, ok
}

// RunID returns the ID of the agent run.
func (c *Context) RunID() string { return c.run.id }

// ToolContext returns the values that the caller of the run passes to actions and Go agents, and
// that no model sees; see [action.ToolValue].
func (c *Context) ToolContext() action.ToolContext { return maps.Clone(c.run.request.ToolContext) }

// History returns the messages of the conversation before the task, oldest first; empty outside a
// conversation and for sub-agents.
func (c *Context) History() []chat.Message { return c.run.remembered() }

// Store reads r to its end, stores and records the item and adds it to the run's set. It does not
// promote the item. Exceeding a limit is [media.CodeTooLarge]. Memory is O(64 KiB).
func (c *Context) Store(ctx context.Context, r io.Reader, m media.Meta) (media.Output, error) {
	return c.run.intake.store(ctx, c.run.spec.slug, r, m)
}

// StoreURL fetches an address through the guarded client and stores the content as Store does.
func (c *Context) StoreURL(ctx context.Context, url string, m media.Meta) (media.Output, error) {
	o, err := c.run.r.interceptor.StoreURL(ctx, c.run.intake.target(c.run.spec.slug), url, m)
	if err == nil {
		c.run.stored(ctx, []media.Output{o})
	}
	return o, err
}

// Promote chooses items of this run for the answer, with their labels and descriptions if set. An
// item of another run is [media.CodeUnknownRef].
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

// Outputs returns a copy of the run's visible items, in creation order.
func (c *Context) Outputs() []media.Output { return c.run.set.List() }

// Open reads an item of this run; the caller closes it.
func (c *Context) Open(ctx context.Context, ref media.Ref) (io.ReadCloser, error) {
	o, ok := c.run.set.Lookup(ref)
	if !ok {
		return nil, c.run.set.Unknown(string(ref))
	}
	return c.run.r.cfg.Codec.Open(ctx, o.Digest)
}

// Action runs a registered action. The items that it makes are added to the run's set. Errors are
// reported in the outcome.
//
// Get Agent Media Details with IncludeData also returns the item's bytes as dataUri. They are not
// passed to the journal, the records or a model.
//
// If the action needs a person's approval, Err is [ErrPaused]; see [Context.Ask].
func (c *Context) Action(ctx context.Context, name string, params map[string]any) action.Outcome {
	wantsData := false
	if plain.SameName(name, "Get Agent Media Details") {
		params = maps.Clone(params)
		for key, v := range params {
			if is, ok := v.(bool); ok && plain.SameName(key, "IncludeData") {
				wantsData = is
				delete(params, key)
			}
		}
	}
	at, params := c.run.acts.next(ctx), c.run.intake.values(ctx, params)
	if c.within() {
		at.within, at.nested = c.callWithin(name, params)
	}
	out := c.run.acts.do(ctx, contract.ActionCall{Name: wire.NameMedia(name), Params: params}, at)
	c.recall.markRequested(ctx, at.name())
	c.run.acts.recordImageOutcome(out)
	if errors.Is(out.Err, ErrPaused) {
		c.pausePending.Store(true)
	}
	if !wantsData || !out.Success {
		return out
	}
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

// within reports whether the code belongs to an action.
func (c *Context) within() bool { return c.act.Kind != step.KindOther }

// callWithin derives the name of a call made by an action from the call's content, so that the name
// is the same when the action runs again, regardless of concurrent calls. blind is set if the
// parameters could not be encoded, so that only a number identifies the call.
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

// Ask puts a question to a person and returns the answer. If there is no answer yet, the error is [ErrPaused] and the
// run pauses when the code returns. Once the answer exists, the code runs again from its beginning, also in an action.
// Ask before anything that must not be done twice, and always in the same order. schema is the JSON Schema of the
// answer's value; empty means {answer: string}. An invalid question or schema is [media.CodeInvalid].
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
	c.recall.markRequested(ctx, name)
	if errors.Is(err, ErrPaused) {
		c.pausePending.Store(true)
	}
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{Value: p.Value, ReplaceImages: p.Replace, Note: p.Note}
	for _, i := range p.Images {
		reply.Images = append(reply.Images, Image{Ref: i.Ref, MIMEType: i.MIMEType, FileName: i.FileName, Detail: i.Detail})
	}
	c.run.addAnswerMedia(ctx, p)
	return reply, nil
}

// newContext returns the Context of an action's code, or of a Go agent's code if act is empty.
func (r *run) newContext(act step.Name) *Context {
	return &Context{Task: r.task, Input: r.input, run: r, act: act}
}

// code runs a Go agent as the single step of its run.
func (r *run) code(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = media.Defect("agent "+r.spec.slug, fmt.Sprintf("panic of type %T", p))
		}
	}()
	defer r.meter.During(r.now)()
	own := r.newContext(step.Name{})
	own.recall = &recall{codeFinished: r.past.codeFinished, steps: map[string]bool{}}
	for _, n := range r.journal.Recalled() { // acts, and answers to questions
		asks := n.Kind == step.KindCodeQuestion || n.Kind == step.KindCode || n.Kind == step.KindStageAsk || n.Kind == step.KindAction && n.Turn == 1
		if asks && len(n.Tail) == 0 {
			own.recall.steps[n.String()] = true
		}
	}
	own.recall.markRequested(ctx, step.Name{})
	r.set.TreatAsText(r.task)
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
	if r.pauses.anyWaiting.Load() {
		return ErrPaused // even if the code ignored the error
	}
	return err
}

// Stage is a numbered part of a Go agent: a step of a workflow. It is recorded as an act of the
// run, and its operations are journalled under its number, so that a replay finds them and a fork
// can begin at the stage. Operations are sequential; a Stage is not safe for concurrent use.
type Stage struct {
	c      *Context
	number int
	rec    StepRecord
	done   int // number of operations so far, to name them
}

// StageName returns the name of the first step of a stage. A fork at that step runs the stage again.
func StageName(number int) string {
	return step.Name{Kind: step.KindCode, Turn: number, Index: 1}.String()
}

// Stage begins the stage with the given number, which counts from 1 and must be unique in the run.
// name and params are for its record.
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

// time returns the current time; in a replay, the recorded time.
func (s *Stage) time(ctx context.Context) (at time.Time, err error) {
	b, err := s.Step(ctx, func(context.Context) ([]byte, error) { return json.Marshal(s.c.run.r.cfg.Now()) })
	if err == nil {
		err = json.Unmarshal(b, &at)
	}
	return at, err
}

// Step runs fn once. A replay returns the recorded result, which is JSON without media bytes, and does not run fn.
// Errors are not recorded: fn runs again when the run is retried. It also runs again after a crash in fn.
func (s *Stage) Step(ctx context.Context, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	s.done++
	name := step.Name{Kind: step.KindCode, Turn: s.number, Index: s.done}
	if err := s.c.run.past.checkMayBegin(ctx, name); err != nil {
		return nil, err
	}
	b, err := s.c.run.journal.Step(ctx, name, fn)
	s.c.recall.markRequested(ctx, name)
	return b, err
}

// Ask is [Context.Ask] in a stage. It calls inquire only if there is no answer yet; a replay that
// has the answer does not call it.
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

// Agent runs another agent to its end. Its record, media and cost become part of the run. The error
// is [ErrPaused] if the agent waits for a person. granted are items of the run's tree.
func (s *Stage) Agent(ctx context.Context, call contract.AgentCall, granted []media.Output) (*Result, error) {
	r := s.c.run
	s.done++
	at := callIndex{turn: s.number, index: s.done + 1} // the stage's own record has index 1
	rec := r.begin(StepAgent, call.Name, at)
	rec.Params = plain.JSON(call)
	if err := checkNotEnded(ctx); err != nil {
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
	out, res, ok := r.runChild(ctx, rec, child, granted)
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

// Emit adds an event to the run's log.
func (s *Stage) Emit(ctx context.Context, t EventType, data any) { s.c.run.emit(ctx, t, data) }

// End records the result of the stage or its error. A stage that waits for a person stays open.
// outputs is JSON without media bytes. End returns the error.
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

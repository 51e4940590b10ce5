package agent

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"atelier/action"
	"atelier/chat"
	"atelier/journal/step"
	"atelier/media"
	"atelier/wire"
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
	Promote []Promotion
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
	// waits tells that something in the code waits for a person.
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

// History is what was said in the conversation before the task, oldest first; empty
// outside of a conversation and for sub-agents.
func (c *Context) History() []chat.Message { return c.run.remembered() }

// Store reads r to its end, stores and records the item and adds it to the run's
// set. It is not promoted. Limits are [media.CodeTooLarge]; memory is O(64 KiB).
func (c *Context) Store(ctx context.Context, r io.Reader, m media.Meta) (media.Output, error) {
	o, err := c.run.r.interceptor.Store(ctx, c.run.target(c.run.spec.slug), r, m)
	if err == nil {
		c.run.stored(ctx, []media.Output{o})
	}
	return o, err
}

// StoreURL fetches an address, guarded, and stores what comes as Store does.
func (c *Context) StoreURL(ctx context.Context, url string, m media.Meta) (media.Output, error) {
	o, err := c.run.r.interceptor.StoreURL(ctx, c.run.target(c.run.spec.slug), url, m)
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
	at, params := c.run.nextCall(ctx), c.run.clean(ctx, params)
	if c.within() {
		at.within, at.nested = c.callWithin(name, params)
	}
	out := c.run.act(ctx, ActionCall{Name: wire.NameMedia(name), Params: params}, at)
	c.recall.ask(ctx, at.name().String())
	c.run.drew(out)
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
	if !sameName(name, "Get Agent Media Details") {
		return params, false
	}
	rest = maps.Clone(params)
	for key, v := range params {
		if is, ok := v.(bool); ok && sameName(key, "IncludeData") {
			wanted = is
			delete(rest, key)
		}
	}
	return rest, wanted
}

// withData adds an item's bytes to its details.
func (c *Context) withData(ctx context.Context, out action.Outcome) action.Outcome {
	ref, _ := out.Outputs["refId"].(string)
	uri, err := c.dataURI(ctx, media.Ref(ref))
	if err != nil {
		return refused(out.Name, err)
	}
	out.Outputs = maps.Clone(out.Outputs)
	out.Outputs["dataUri"] = uri
	return out
}

// dataURI is an item as a data: URL.
func (c *Context) dataURI(ctx context.Context, ref media.Ref) (string, error) {
	in, err := c.Open(ctx, ref)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }() // only read
	o, _ := c.run.set.Lookup(ref)
	var text strings.Builder
	text.WriteString("data:" + o.MIMEType + ";base64,")
	enc := base64.NewEncoder(base64.StdEncoding, &text)
	if _, err := io.Copy(enc, in); err != nil {
		return "", err
	}
	if err := enc.Close(); err != nil {
		return "", err
	}
	return text.String(), nil
}

// within reports whether the code is that of an action.
func (c *Context) within() bool { return c.act.Kind != step.KindOther }

// callWithin names a call that an action makes by what it asks for, so that it has the same
// place when the action runs again, whatever ran beside it. blind tells that its parameters
// could not be read, so that it is known by its number only.
func (c *Context) callWithin(name string, params map[string]any) (call step.Name, blind bool) {
	what := plain(map[string]any{"name": name, "params": params})
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
	q, err := inquiry(c.run.cleanText(ctx, question), schema)
	if err != nil {
		return Reply{}, err
	}
	at := callIndex{turn: 1, index: int(c.asked.Add(1)), nested: c.within()}
	name := step.Name{Kind: step.KindCodeQuestion, Index: at.index}
	if c.within() {
		name = c.act.Numbered(step.TailAsk, at.index)
	}
	p, err := c.run.await(ctx, name, at, q)
	c.recall.ask(ctx, name.String())
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

// code runs a Go agent as the one step of its run.
func (r *run) code(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = media.Errorf(media.CodeInternal, "agent %s stopped on a defect of its own (panic of type %T)", r.spec.slug, p)
		}
	}()
	defer r.meter.during(r.r.cfg.Now)()
	recall := r.recalled()
	recall.ask(ctx, "")
	r.set.Quote(r.task)
	answer, err := r.spec.code(ctx, &Context{Task: r.task, Input: r.input, run: r, recall: recall})
	if answer.Payload != nil {
		r.payload, _ = r.intercept(ctx, r.spec.slug, answer.Payload).(map[string]any)
	}
	r.message = r.cleanText(ctx, answer.Message)
	r.warn(ctx, answer.Warnings...)
	if bad := r.promote(ctx, answer.Promote); len(bad) > 0 {
		r.warn(ctx, r.set.Unknown(bad...).Message)
	}
	r.acceptRefs(ctx)
	if r.paused.Load() {
		return ErrPaused // whatever the code made of it
	}
	return err
}

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"atelier/action"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal/step"
	"atelier/media"
	"atelier/wire"
)

// modelCall is one call of the run's model. name is that of its durable step; a
// schema asks for JSON.
type modelCall struct {
	name   step.Name
	system string
	// number tells the calls of one turn and kind apart.
	number   int
	messages []chat.Message
	schema   json.RawMessage
}

// call makes one model call, journalled and recorded. The text of the response holds
// placeholders instead of tokens, and the media that the model made is in the set.
func (r *run) call(ctx context.Context, c modelCall) (chat.Response, error) {
	rec := r.promptOf(c)
	lost := r.unanswered(ctx, c.name, rec.ID)
	r.savePrompt(ctx, c, rec)
	scope := media.ScopeOf(ctx)
	scope.PromptRun = rec.ID
	ctx = media.WithScope(ctx, scope)
	req := chat.Request{System: rec.System, Messages: rec.Messages, Schema: c.schema}
	if c.schema != nil {
		req.SchemaName = schemaName
	}
	if lost > 0 {
		r.forgo(ctx, c.name, lost, req)
	}
	done, err := r.generate(ctx, c.name, req, lost)
	rec.FinishedAt = r.r.cfg.Now()
	if !done.Ended.IsZero() {
		rec.StartedAt, rec.FinishedAt = done.Began, done.Ended
	}
	if err != nil {
		rec.Status, rec.Error = statusOf(ctx, err), problemOf(err).Message
		if refused := done.Response; refused.Usage != (chat.Usage{}) {
			r.count(r.model.Profile(), refused)
			rec.Usage, rec.CostUSD = refused.Usage, refused.CostUSD
		}
		if done.MayHaveCost || errors.Is(err, chat.ErrUnsettled) {
			r.mayCost(cmp.Or(done.MayCostUSD, r.expected(req).USD)) // as the budgets count it
		}
		r.savePrompt(ctx, c, rec)
		return chat.Response{}, err
	}
	resp, err := r.accept(ctx, c, done)
	if err != nil {
		return resp, err
	}
	rec.Status, rec.Usage, rec.CostUSD = StatusSucceeded, resp.Usage, resp.CostUSD
	rec.Response, rec.Model = resp.Text, cmp.Or(resp.Model, rec.Model)
	r.savePrompt(ctx, c, rec)
	return resp, nil
}

// promptOf makes the record of a call that begins.
func (r *run) promptOf(c modelCall) PromptRecord {
	p := r.model.Profile()
	return PromptRecord{
		ID: r.newID("prompt "+c.name.String(), callIndex{turn: r.turns, index: c.number}), RunID: r.id, AgentPath: r.path, Turn: r.turns, Model: p.ID, Provider: p.Provider,
		System: c.system, Messages: c.messages, Status: StatusRunning, StartedAt: r.r.cfg.Now(),
	}
}

// savePrompt puts a call on record, unless it is there as it was put to the model then.
func (r *run) savePrompt(ctx context.Context, c modelCall, rec PromptRecord) {
	if r.said(c.name) {
		return
	}
	r.save(ctx, "model call", func(ctx context.Context) error { return r.r.cfg.Observer.SavePrompt(ctx, rec) })
}

// accept counts an answer and gives it as the run goes on with it.
func (r *run) accept(ctx context.Context, c modelCall, done CallResult) (resp chat.Response, err error) {
	p, resp := r.model.Profile(), done.Response
	if done.MayHaveCost {
		r.mayCost(done.MayCostUSD)
	}
	r.count(p, resp)
	r.warn(ctx, resp.Warnings...)
	resp.Media, err = r.keep(ctx, c.name, p, resp.Media)
	return resp, err
}

func statusOf(ctx context.Context, err error) Status {
	if ctx.Err() != nil || media.CodeOf(err) == media.CodeCancelled {
		return StatusCancelled
	}
	return StatusFailed
}

// CallResult is what the durable step of a model call keeps, of a failure too: a replay
// does not ask again.
type CallResult struct {
	Response  chat.Response `json:"response"`
	Failure   *failure      `json:"failure,omitempty"`
	Unsettled bool          `json:"unsettled,omitempty"`
	// MayHaveCost tells that the model was asked without an answer, by this call or by one of
	// an earlier process that ended meanwhile; MayCostUSD estimates all of them.
	MayHaveCost bool    `json:"may_have_cost,omitempty"`
	MayCostUSD  *string `json:"may_cost_usd,omitempty"`
	// Offline tells a model that costs nothing.
	Offline bool `json:"offline,omitempty"`
	// Lost are pictures that could not be read: the model was not asked.
	Lost  []lost    `json:"lost,omitempty"`
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
}

// failure is an error as the journal remembers it.
type failure struct {
	Code       media.Code    `json:"code"`
	Message    string        `json:"message"`
	Retryable  bool          `json:"retryable,omitempty"`
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	Valid      []string      `json:"valid,omitempty"`
}

func failureOf(err error) *failure {
	f := &failure{Code: media.CodeOf(err), Message: media.ErrorText(err.Error()), Retryable: media.Retryable(err)}
	var e *media.Error
	if errors.As(err, &e) {
		f.RetryAfter, f.Valid = e.RetryAfter, e.Valid
	}
	return f
}

// err gives the error back.
func (f *failure) err() *media.Error {
	return &media.Error{Code: f.Code, Message: f.Message, Retryable: f.Retryable, RetryAfter: f.RetryAfter, Valid: f.Valid}
}

// err gives the error back.
func (a CallResult) err() error {
	if len(a.Lost) > 0 {
		return &lostError{a.Lost}
	}
	if a.Failure == nil {
		return nil
	}
	e := a.Failure.err()
	if a.Unsettled {
		e.Cause = chat.ErrUnsettled
	}
	return e
}

// asks counts a call of the step that may be billed though no answer came.
func (a *CallResult) asks(c generate.Charge) {
	a.MayHaveCost, a.MayCostUSD = true, sumUSD(a.MayCostUSD, c.USD)
}

// generate is the journalled call. lost is how often earlier processes made it and had no
// answer.
func (r *run) generate(ctx context.Context, name step.Name, req chat.Request, lost int) (CallResult, error) {
	var before CallResult
	for range lost {
		before.asks(r.expected(req))
	}
	var failed error // the error itself, where the call was made just now
	live := false
	b, err := r.journal.Step(ctx, name.String(), func(ctx context.Context) ([]byte, error) {
		live = true
		a := before
		var cut error
		if failed, cut = r.attempt(ctx, req, &a); cut != nil {
			return nil, cut
		}
		return json.Marshal(a)
	})
	if err != nil {
		if errors.Is(err, chat.ErrUnsettled) {
			before.asks(r.expected(req))
		}
		return before, err
	}
	var a CallResult
	if err := json.Unmarshal(b, &a); err != nil {
		return a, media.Errorf(media.CodeInternal, "read journalled answer: %w", err)
	}
	r.countAct(a.Began, a.Ended, live, generate.Charge{
		ID: media.ScopeOf(ctx).PromptRun, USD: a.Response.CostUSD, Images: int64(pictures(a.Response.Media)),
	})
	if failed != nil {
		return a, failed
	}
	return a, a.err()
}

// attempt asks the model, unless a picture is lost, and notes what came of it. failed is the
// error that was noted; cut is one that is not kept, because the end of ctx made it.
func (r *run) attempt(ctx context.Context, req chat.Request, a *CallResult) (failed, cut error) {
	p := r.model.Profile()
	a.Began, a.Lost, a.Offline = r.r.cfg.Now(), r.missing(ctx, req.Messages), p.Offline
	if len(a.Lost) > 0 {
		return nil, nil
	}
	a.Response, failed = r.billed(ctx, req)
	if failed != nil {
		if ctx.Err() != nil {
			return nil, failed
		}
		if code := media.CodeOf(failed); code == media.CodeNotFound || code == media.CodeCorrupt {
			a.Lost = r.missing(ctx, req.Messages)
		}
		if len(a.Lost) > 0 {
			return nil, nil // the bytes went away on the way to the provider
		}
		a.Failure, a.Unsettled = failureOf(failed), errors.Is(failed, chat.ErrUnsettled)
		if a.Unsettled {
			a.asks(r.expected(req))
		}
	}
	// What the provider's text holds of tokens and media never gets into a durable step.
	text, found := r.r.interceptor.Recording(nil).Text(ctx, action.Target{Source: p.ID}, r.r.cfg.Codec.Placeholders(r.tree, a.Response.Text))
	a.Response.Text, a.Response.Media = text, append(a.Response.Media, found.Media...)
	a.Response.Model = wire.NameMedia(a.Response.Model)
	a.Response.Warnings = append(a.Response.Warnings, found.Warnings...)
	a.Ended = r.r.cfg.Now()
	return failed, nil
}

// count adds a call to usage and cost.
func (r *run) count(p chat.Profile, resp chat.Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.add(usageOf(resp))
	r.spend(resp.Usage)
	r.cost.addCall(resp, p.Offline)
	use := ModelUse{ID: p.ID, Name: p.Name, Offline: p.Offline}
	if !slices.Contains(r.models, use) {
		r.models = append(r.models, use)
	}
}

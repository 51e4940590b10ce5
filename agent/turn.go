package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier/action"
	"atelier/chat"
	"atelier/generate"
	"atelier/media"
)

// maxRepairs is how many answers in a row may be unusable before the run fails.
const maxRepairs = 3

// finishLength is how a model says that its answer was cut off.
const finishLength = "length"

// loop asks the model for one step after another until the work is done.
func (r *run) loop(ctx context.Context) error {
	if err := r.choose(ctx); err != nil {
		return err
	}
	images, err := r.admitImages(ctx)
	if err != nil {
		return err
	}
	r.recall()
	r.history.begin(opening{task: r.task, input: r.input, granted: r.set.List(), images: images, unseen: r.unseen})
	broken := 0
	for r.lastTurn == "" {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.announceLast(ctx)
		r.turns++
		step, err := r.turn(ctx)
		if err == nil && step != nil {
			var done bool
			if done, err = r.follow(ctx, step); done || err != nil {
				return err
			}
			broken = 0
			continue
		}
		if media.CodeOf(err) != media.CodeBadResponse || !media.Retryable(err) {
			return err
		}
		if broken++; broken > maxRepairs {
			return media.Errorf(media.CodeBadResponse, "agent %s: the model's answers could not be used %d times in a row: %w", r.spec.slug, broken, err)
		}
		p := problemOf(err)
		p.Message += ". Answer again with one JSON object as described under How to answer."
		r.tell(results{Errors: []action.Problem{p}})
	}
	return r.overBudget()
}

// choose opens the chat model.
func (r *run) choose(ctx context.Context) error {
	wish := append(slices.Clone(r.prefer.chat), r.spec.def.ChatModels...)
	c, err := r.r.cfg.Models.Choose(ctx, wish)
	if err != nil {
		return fmt.Errorf("choose chat model: %w", err)
	}
	r.model = c.Model
	if c.Asked == "" {
		return nil
	}
	p := c.Model.Profile()
	r.mu.Lock()
	r.dispositions = append(r.dispositions, generate.Disposition{
		Setting: "chat_model", Asked: c.Asked, Applied: p.Name, Outcome: generate.OutcomeSubstituted, Reason: c.Reason,
	})
	r.mu.Unlock()
	return nil
}

// tell puts results into the history.
func (r *run) tell(res results) { r.history.add(r.turns, res.message(), &res) }

// turn asks the model once and reads its step. An unusable answer is in the history
// when the error, bad_response and retryable, comes back.
func (r *run) turn(ctx context.Context) (*Step, error) {
	r.expire(ctx)
	profile := r.model.Profile()
	r.emit(ctx, EventTurnStarted, TurnStarted{Turn: r.turns, Model: profile.ID})
	resp, err := r.askWithin(ctx)
	if err != nil {
		r.emit(ctx, EventTurnFinished, TurnFinished{Turn: r.turns, Model: profile.ID, Error: problemOf(err).Message})
		if media.CodeOf(err) == media.CodeBadResponse {
			// What the provider sent is no answer to send back to the model.
			return nil, &media.Error{Code: media.CodeBadResponse, Message: "ask " + profile.Name + ": " + err.Error(), Cause: err}
		}
		return nil, fmt.Errorf("ask %s: %w", profile.Name, err)
	}
	step, err := r.r.steps.parse(resp.Text)
	if err != nil && len(resp.Media) > 0 && !strings.Contains(resp.Text, "{\"") {
		// A model that paints answers with a picture and a sentence instead of a step.
		step, err = painted(resp), nil
		resp.Text = string(plain(step))
	}
	if err != nil && resp.FinishReason == finishLength {
		err = badStep("the answer was cut off at the model's length limit: answer with less, and bring a long text into the payload in several steps with payloadPatch")
	}
	done := TurnFinished{Turn: r.turns, Model: resp.Model, InputTokens: resp.Usage.InputTokens, OutputTokens: resp.Usage.OutputTokens}
	if err != nil {
		r.history.add(r.turns, chat.Text(chat.RoleAssistant, clip(media.Scrub(resp.Text), 4000)), nil)
		done.Error = err.Error()
		r.emit(ctx, EventTurnFinished, done)
		return nil, err
	}
	text := resp.Text
	if suspicious(text) {
		r.cleanStep(ctx, step)
		// What is too short to be kept as media is no media, but no text either.
		text = media.Scrub(string(plain(step)))
	}
	r.history.add(r.turns, chat.Text(chat.RoleAssistant, text), nil)
	done.Reasoning, done.Done = step.Reasoning, step.Done
	for _, a := range step.Actions {
		done.Actions = append(done.Actions, a.Name)
	}
	for _, a := range step.Agents {
		done.Agents = append(done.Agents, a.Name)
	}
	r.emit(ctx, EventTurnFinished, done)
	return step, nil
}

// ask puts the conversation to the model, for its next step. shorter counts the times
// that the context was made shorter for it.
func (r *run) ask(ctx context.Context, shorter int) (chat.Response, error) {
	name := fmt.Sprintf("turn-%d-model", r.turns)
	if shorter > 0 {
		name += fmt.Sprintf("-short-%d", shorter)
	}
	whole := name
	for again := 1; ; again++ {
		resp, err := r.call(ctx, modelCall{
			name: whole, number: shorter,
			system: r.r.systems[r.spec.slug], messages: r.withinSight(ctx, r.history.messages()), schema: stepSchema,
		})
		gone, ok := errors.AsType[*lostError](err)
		if !ok {
			return resp, err
		}
		if err := r.lose(ctx, gone); err != nil {
			return resp, err
		}
		whole = fmt.Sprintf("%s-seeing-%d", name, again)
	}
}

// modelCall is one call of the run's model. name is that of its durable step; a
// schema asks for JSON.
type modelCall struct {
	name, system string
	// number tells the calls of one turn and kind apart.
	number   int
	messages []chat.Message
	schema   json.RawMessage
}

// call makes one model call, journalled and recorded. The text of the response holds
// placeholders instead of tokens, and the media that the model made is in the set.
func (r *run) call(ctx context.Context, c modelCall) (chat.Response, error) {
	p := r.model.Profile()
	rec := PromptRecord{
		ID: r.newID("prompt "+c.name, callIndex{turn: r.turns, index: c.number}), RunID: r.id, AgentPath: r.path, Turn: r.turns, Model: p.ID, Provider: p.Provider,
		System: c.system, Messages: c.messages, Status: StatusRunning, StartedAt: r.r.cfg.Now(),
	}
	save := func() {
		if r.said(c.name) {
			return // as it was put to the model then
		}
		r.save(ctx, "model call", func(ctx context.Context) error { return r.r.cfg.Observer.SavePrompt(ctx, rec) })
	}
	save()
	scope := media.ScopeOf(ctx)
	scope.PromptRun = rec.ID
	ctx = media.WithScope(ctx, scope)
	req := chat.Request{System: rec.System, Messages: rec.Messages, Schema: c.schema}
	if c.schema != nil {
		req.SchemaName = schemaName
	}
	done, err := r.generate(ctx, c.name, req)
	resp := done.Response
	rec.FinishedAt = r.r.cfg.Now()
	if !done.Ended.IsZero() {
		rec.StartedAt, rec.FinishedAt = done.Began, done.Ended
	}
	if err != nil {
		rec.Status, rec.Error = statusOf(ctx, err), problemOf(err).Message
		if errors.Is(err, chat.ErrUnsettled) {
			r.mu.Lock()
			r.cost.Complete = false
			r.mu.Unlock()
		}
		save()
		return chat.Response{}, err
	}
	resp.Text = r.r.cfg.Codec.Placeholders(r.tree, resp.Text)
	r.count(p, resp)
	r.warn(ctx, resp.Warnings...)
	if resp.Media, err = r.keep(ctx, c.name, p, resp.Media); err != nil {
		return resp, err
	}
	rec.Status, rec.Usage, rec.CostUSD = StatusSucceeded, resp.Usage, resp.CostUSD
	rec.Response = media.Scrub(resp.Text)
	if resp.Model != "" {
		rec.Model = resp.Model
	}
	save()
	return resp, nil
}

func statusOf(ctx context.Context, err error) Status {
	if ctx.Err() != nil || media.CodeOf(err) == media.CodeCancelled {
		return StatusCancelled
	}
	return StatusFailed
}

// answered is a model's answer as the journal remembers it, a failure too: a replay
// does not ask again.
type answered struct {
	Response  chat.Response `json:"response"`
	Failure   *failure      `json:"failure,omitempty"`
	Unsettled bool          `json:"unsettled,omitempty"`
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
	f := &failure{Code: media.CodeOf(err), Message: media.Scrub(err.Error()), Retryable: media.Retryable(err)}
	var e *media.Error
	if errors.As(err, &e) {
		f.RetryAfter, f.Valid = e.RetryAfter, e.Valid
	}
	return f
}

// err gives the error back.
func (a answered) err() error {
	if len(a.Lost) > 0 {
		return &lostError{a.Lost}
	}
	if a.Failure == nil {
		return nil
	}
	f := a.Failure
	e := &media.Error{Code: f.Code, Message: f.Message, Retryable: f.Retryable, RetryAfter: f.RetryAfter, Valid: f.Valid}
	if a.Unsettled {
		e.Cause = chat.ErrUnsettled
	}
	return e
}

// generate is the journalled call.
func (r *run) generate(ctx context.Context, name string, req chat.Request) (answered, error) {
	var failed error // the error itself, where the call was made just now
	live := false
	b, err := r.journal.Step(ctx, name, func(ctx context.Context) ([]byte, error) {
		live = true
		a := answered{Began: r.r.cfg.Now(), Lost: r.missing(ctx, req.Messages)}
		if len(a.Lost) > 0 {
			return json.Marshal(a)
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
				failed = nil // the bytes went away on the way to the provider
				return json.Marshal(a)
			}
			a.Failure, a.Unsettled = failureOf(failed), errors.Is(failed, chat.ErrUnsettled)
		}
		// What the provider's text holds of tokens never gets into a durable step.
		a.Response.Text = r.r.cfg.Codec.Placeholders(r.tree, a.Response.Text)
		a.Ended = r.r.cfg.Now()
		return json.Marshal(a)
	})
	if err != nil {
		return answered{}, err
	}
	var a answered
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

// count adds a call to usage and cost.
func (r *run) count(p chat.Profile, resp chat.Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.add(Usage{
		ModelCalls: 1, InputTokens: resp.Usage.InputTokens, OutputTokens: resp.Usage.OutputTokens, Images: pictures(resp.Media),
	})
	r.spend(resp.Usage)
	r.cost.addCall(resp, p.Offline)
	use := ModelUse{ID: p.ID, Name: p.Name, Offline: p.Offline}
	if !slices.Contains(r.models, use) {
		r.models = append(r.models, use)
	}
}

// cleanStep takes media data out of what a model wrote.
func (r *run) cleanStep(ctx context.Context, s *Step) {
	source := r.model.Profile().ID
	s.Reasoning, s.Message = r.cleanText(ctx, s.Reasoning), r.cleanText(ctx, s.Message)
	s.Payload, _ = r.clean(ctx, source, s.Payload).(map[string]any)
	s.PayloadPatch, _ = r.clean(ctx, source, s.PayloadPatch).(map[string]any)
	for i := range s.Actions {
		s.Actions[i].Params, _ = r.clean(ctx, source, s.Actions[i].Params).(map[string]any)
		s.Actions[i].Name = media.Scrub(s.Actions[i].Name)
	}
	for i := range s.Agents {
		s.Agents[i].Task, s.Agents[i].Name = r.cleanText(ctx, s.Agents[i].Task), media.Scrub(s.Agents[i].Name)
	}
	for i := range s.Promote {
		p := &s.Promote[i]
		p.Label, p.Description = media.Scrub(p.Label), media.Scrub(p.Description)
	}
	if s.Ask != nil {
		s.Ask.Question = r.cleanText(ctx, s.Ask.Question)
	}
}

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/action"
	"atelier/agent/contract"
	"atelier/agent/internal/plain"
	"atelier/agent/internal/preview"
	"atelier/agent/transcript"
	"atelier/agent/vision"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
	"atelier/media/wire"
)

// modelCall is one call of the run's model. name is the name of its durable step. If schema is set,
// the answer must be JSON.
type modelCall struct {
	name   step.Name
	system string
	// number distinguishes calls of the same kind in one turn.
	number   int
	messages []chat.Message
	schema   json.RawMessage
}

// calls makes the calls of a run's model. Each call is a durable step, recorded, counted and within
// the budgets. Pictures that the model makes are added to the run's set.
type calls struct {
	*core

	shown *preview.Message // of the current turn; nil before the model is called, and for a sub-agent
}

func (c *calls) profile() chat.Profile { return c.sights.Model.Profile() }

// addPossibleCost adds the price of unanswered calls that may be billed.
func (c *calls) addPossibleCost(usd *string) {
	c.outcome.update(func(t *tally) { t.cost.add(Cost{EstimatedUSD: usd}) })
}

// do makes one call. The response text contains placeholders instead of tokens.
func (c *calls) do(ctx context.Context, m modelCall) (chat.Response, error) {
	p := c.profile()
	rec := PromptRecord{
		ID: c.newID("prompt "+m.name.String(), callIndex{turn: c.turns, index: m.number}), RunID: c.id, AgentPath: c.path, Turn: c.turns,
		Model: p.ID, Provider: p.Provider, System: m.system, Messages: m.messages, Status: StatusRunning, StartedAt: c.now(),
	}
	lost := 0
	if !p.Offline {
		lost = c.past.unanswered(ctx, m.name, rec.ID)
	}
	c.save(ctx, m, rec)
	scope := media.ScopeOf(ctx)
	scope.PromptRun = rec.ID
	ctx = media.WithScope(ctx, scope)
	req := chat.Request{System: m.system, Messages: m.messages, Schema: m.schema}
	if m.schema != nil {
		req.SchemaName = contract.SchemaName
	}
	if lost > 0 { // the budgets count the unanswered call
		held := c.estimateCharge(req)
		held.ID = rec.ID
		_ = c.r.cfg.Budget.Settle(context.WithoutCancel(ctx), held) // on failure the reservation stays in place
		// Record that the call is repeated: if this process also ends during it, both calls count.
		// If the step cannot be recorded, the call fails for the same reason.
		_, _ = c.journal.Step(ctx, m.name.Numbered(step.TailAgain, lost), func(context.Context) ([]byte, error) { return []byte("{}"), nil })
	}
	done, err := c.generate(ctx, m.name, req, lost)
	rec.FinishedAt = c.now()
	if !done.Ended.IsZero() {
		rec.StartedAt, rec.FinishedAt = done.Began, done.Ended
	}
	resp := done.Response
	if err != nil {
		rec.Status, rec.Error = statusOf(ctx, err), transcript.Problem(err).Message
		if resp.Usage != (chat.Usage{}) { // a refusal may be billed
			c.count(p, resp)
			rec.Usage, rec.CostUSD = resp.Usage, resp.CostUSD
		}
		if done.MayHaveCost || errors.Is(err, chat.ErrUnsettled) {
			c.addPossibleCost(cmp.Or(done.MayCostUSD, c.estimateCharge(req).USD)) // the amount that the budgets count
		}
		c.save(ctx, m, rec)
		return chat.Response{}, err
	}
	if done.MayHaveCost {
		c.addPossibleCost(done.MayCostUSD)
	}
	c.count(p, resp)
	c.warn(ctx, resp.Warnings...)
	if resp.Media, err = c.recordPictures(ctx, m.name, p, resp.Media); err != nil {
		return resp, err
	}
	rec.Status, rec.Usage, rec.CostUSD = StatusSucceeded, resp.Usage, resp.CostUSD
	rec.Response, rec.Model = resp.Text, cmp.Or(resp.Model, rec.Model)
	c.save(ctx, m, rec)
	return resp, nil
}

// save saves the record of a call, unless it was already saved before the run paused.
func (c *calls) save(ctx context.Context, m modelCall, rec PromptRecord) {
	if c.past.recorded(m.name) {
		return
	}
	c.runLog.save(ctx, "model call", func(ctx context.Context) error { return c.r.cfg.Observer.SavePrompt(ctx, rec) })
}

func statusOf(ctx context.Context, err error) Status {
	if ctx.Err() != nil || media.CodeOf(err) == media.CodeCancelled {
		return StatusCancelled
	}
	return StatusFailed
}

// CallResult is the content of a model call's step.
type CallResult struct {
	step.ModelCall[chat.Response]
}

// err returns the stored failure as an error.
func (a CallResult) err() error {
	switch {
	case len(a.Lost) > 0:
		return &vision.LostError{List: a.Lost}
	case a.Failure == nil:
		return nil
	}
	e := a.Failure.Err()
	if a.Unsettled {
		e.Cause = chat.ErrUnsettled
	}
	return e
}

// addUnanswered counts a call of the step that may be billed without an answer.
func (a *CallResult) addUnanswered(c generate.Charge) {
	a.MayHaveCost, a.MayCostUSD = true, AddUSD(a.MayCostUSD, c.USD)
}

// generate makes the journalled call. lost is the number of calls by earlier processes that got no answer.
func (c *calls) generate(ctx context.Context, name step.Name, req chat.Request, lost int) (CallResult, error) {
	var before CallResult // what calls of earlier processes may have cost
	for range lost {
		before.addUnanswered(c.estimateCharge(req))
	}
	made, failed := false, error(nil) // failed is the original error that the result describes
	a, err := journal.Do(ctx, c.journal, name, func(ctx context.Context) (a CallResult, err error) {
		made, a = true, before
		failed, err = c.attempt(ctx, req, &a)
		return a, err
	})
	if err != nil {
		if errors.Is(err, chat.ErrUnsettled) {
			before.addUnanswered(c.estimateCharge(req))
		}
		return before, err
	}
	c.meter.Add(a.Began, a.Ended)
	if !made { // an earlier process made the call and counted it
		c.allowed.Recall(generate.Charge{ID: media.ScopeOf(ctx).PromptRun, USD: a.Response.CostUSD, Images: int64(pictures(a.Response.Media))})
	}
	return a, cmp.Or(failed, a.err())
}

// attempt calls the model unless a picture is lost, and stores the outcome in a. failed is the
// error stored in a; cut is an error that is not stored because the end of ctx caused it.
func (c *calls) attempt(ctx context.Context, req chat.Request, a *CallResult) (failed, cut error) {
	p := c.profile()
	a.Began, a.Lost, a.Offline = c.now().Round(0), c.sights.Missing(ctx, req.Messages), p.Offline
	if len(a.Lost) > 0 {
		return nil, nil
	}
	if c.depth == 0 && req.Schema != nil { // sub-agents and summaries send no message to a person
		c.shown = &preview.Message{Now: c.now, Emit: func(text string, offset int) {
			c.emit(ctx, EventMessageDelta, MessageDelta{Text: text, Offset: offset, Partial: true})
		}}
		req.OnText = c.shown.Write
	}
	a.Response, failed = c.callBudgeted(ctx, req)
	if failed != nil {
		if ctx.Err() != nil {
			return nil, failed
		}
		if code := media.CodeOf(failed); code == media.CodeNotFound || code == media.CodeCorrupt {
			a.Lost = c.sights.Missing(ctx, req.Messages)
		}
		if len(a.Lost) > 0 {
			return nil, nil // the bytes disappeared before they reached the provider
		}
		a.Failure, a.Unsettled = step.FailureOf(failed), errors.Is(failed, chat.ErrUnsettled)
		if a.Unsettled {
			a.addUnanswered(c.estimateCharge(req))
		}
	}
	// Tokens and media in the provider's text must not enter a durable step.
	text, found := c.r.interceptor.Recording(nil).Text(ctx, action.Target{Source: p.ID}, c.r.cfg.Codec.Placeholders(c.tree, a.Response.Text))
	a.Response.Text, a.Response.Media = text, append(a.Response.Media, found.Media...)
	a.Response.Model = wire.NameMedia(a.Response.Model)
	a.Response.Warnings = append(a.Response.Warnings, found.Warnings...)
	a.Ended = c.now().Round(0)
	return failed, nil
}

// count adds a call to the usage and the cost.
func (c *calls) count(p chat.Profile, resp chat.Response) {
	c.outcome.update(func(t *tally) {
		t.spend(usageOf(resp))
		t.cost.addCall(resp, p.Offline)
		plain.AddOnce(&t.models, ModelUse{ID: p.ID, Name: p.Name, Offline: p.Offline})
	})
	c.spent.Add(resp.Usage.InputTokens + resp.Usage.OutputTokens)
}

// pictureStep returns the step for an answer that consists of pictures and optional text.
func pictureStep(resp chat.Response) *contract.Step {
	s := &contract.Step{Reasoning: "The answer is a picture.", Message: strings.TrimSpace(resp.Text), Done: true}
	for _, o := range resp.Media {
		s.Promote = append(s.Promote, contract.Promotion{Ref: string(o.Ref)})
		if !slices.Contains(media.Refs(s.Message), o.Ref) {
			s.Message = strings.TrimSpace(s.Message + " " + o.Ref.Placeholder())
		}
	}
	return s
}

// recordPictures records the pictures that a chat model made itself (law 2) and returns those that the run can use. It
// is a durable step, so a replay does not record them again. call is the name of the call that made them.
func (c *calls) recordPictures(ctx context.Context, call step.Name, p chat.Profile, items []media.Output) (kept []media.Output, err error) {
	if len(items) == 0 {
		return nil, nil
	}
	record := func(ctx context.Context) (list step.Pictures, _ error) {
		for i, o := range items {
			list = append(list, c.recordPicture(ctx, p, i+1, o))
		}
		return list, nil
	}
	list, err := journal.Do(ctx, c.journal, call.With(step.TailMedia), record)
	if err != nil && !journal.HandedOver(ctx) {
		list, err = record(ctx) // a cancelled run also keeps what was made
	}
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		c.warn(ctx, k.Warning)
		added, err := c.set.Add(k.Output)
		if err != nil {
			c.warn(ctx, fmt.Sprintf("%s cannot be used: %s", k.Output, err))
			continue
		}
		c.stored(ctx, []media.Output{added})
		kept = append(kept, added)
	}
	return kept, nil
}

// recordPicture records the picture with the given number.
func (c *calls) recordPicture(ctx context.Context, p chat.Profile, number int, o media.Output) step.Picture {
	o.Origin = media.Origin{Direction: "output", Source: p.ID, AgentPath: c.path, Operation: o.Origin.Operation}
	if o.Label == "" && o.Modality == media.ModalityImage {
		o.Label = fmt.Sprintf("Picture %d by %s", number, p.Name)
	}
	if o.Metadata["digital_source_type"] == nil && !p.Offline {
		o.Metadata = maps.Clone(o.Metadata)
		if o.Metadata == nil {
			o.Metadata = map[string]any{}
		}
		o.Metadata["digital_source_type"], o.Metadata["model"] = "trainedAlgorithmicMedia", p.Name
	}
	if c.r.cfg.Recorder == nil {
		return step.Picture{Output: o}
	}
	recorded, err := c.r.cfg.Recorder.Record(context.WithoutCancel(ctx), o)
	if err != nil {
		return step.Picture{Output: o, Warning: fmt.Sprintf("%s is kept, but its record was not saved: %s", o, err)}
	}
	return step.Picture{Output: recorded}
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier/action"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal/step"
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
	r.set.Quote(r.task)
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
	if c.Asked != "" {
		r.dispose(generate.Disposition{
			Setting: "chat_model", Asked: c.Asked, Applied: c.Model.Profile().Name, Outcome: generate.OutcomeSubstituted, Reason: c.Reason,
		})
	}
	for _, d := range c.Changes {
		r.dispose(generate.Disposition{Setting: "chat_model", Asked: d.Asked, Applied: d.Applied, Outcome: generate.OutcomeAdapted, Reason: d.Reason})
	}
	r.warn(ctx, c.Warnings...)
	return nil
}

// tell puts results into the history.
func (r *run) tell(res results) { r.history.add(r.turns, res.message(), &res) }

// asking says of an error which model was asked, unless it does so itself.
func asking(name string, err error) error {
	if strings.HasPrefix(err.Error(), "ask "+name) {
		return err
	}
	return fmt.Errorf("ask %s: %w", name, err)
}

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
			return nil, &media.Error{Code: media.CodeBadResponse, Message: asking(profile.Name, err).Error(), Cause: err}
		}
		return nil, asking(profile.Name, err)
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
		r.history.add(r.turns, chat.Text(chat.RoleAssistant, clip(resp.Text, 4000)), nil)
		done.Error = err.Error()
		r.emit(ctx, EventTurnFinished, done)
		return nil, err
	}
	r.history.add(r.turns, chat.Text(chat.RoleAssistant, resp.Text), nil)
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
	name := step.In(r.turns, step.KindModel)
	if shorter > 0 {
		name = name.Numbered(step.TailShort, shorter)
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
		whole = name.Numbered(step.TailSeeing, again)
	}
}

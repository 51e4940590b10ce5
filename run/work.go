package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"atelier/agent"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/conversation"
)

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

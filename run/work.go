package run

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"atelier/agent"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// flushLimit bounds the wait for the last events of a run.
const flushLimit = 30 * time.Second

// execute runs the agent and, in a conversation, saves the answer, also when it fails;
// a run that pauses has none yet.
func (s *Service) execute(ctx context.Context, agents Agents, req agent.Request, t *thread) (*agent.Result, error) {
	if !req.Deadline.IsZero() {
		over := media.Errorf(media.CodeDeadline, "the time of the run was over")
		limited, stop := context.WithDeadlineCause(ctx, req.Deadline, over)
		defer stop()
		ctx = limited
	}
	res, err := s.work(ctx, agents, req, t)
	paused := res != nil && res.Status == agent.StatusPaused
	if t != nil && res != nil {
		res.Conversation = t.ID
	}
	if t == nil || paused || journal.Left(ctx) {
		return res, err
	}
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	warnings := s.answer(save, t, req, res, err)
	if res != nil {
		res.Warnings = append(res.Warnings, warnings...)
	}
	return res, err
}

// gift is what a run is given of media, as the journal remembers it.
type gift struct {
	Granted, Inherited []media.Output
	Warnings           []string
	// Answer is the id of the answer in a conversation.
	Answer string
}

// give grants the run's tree what it is given.
func (s *Service) give(ctx context.Context, req agent.Request, t *thread) (gift, error) {
	var g gift
	g.Granted, g.Warnings = s.grant(ctx, req, req.Granted)
	if len(g.Granted) == 0 && len(req.Granted) > 0 {
		return g, media.Errorf(media.CodeInvalid, "the media for this run could not be handed to it: %s", strings.Join(g.Warnings, "; "))
	}
	if t == nil {
		return g, nil
	}
	g.Warnings = append(g.Warnings, s.attach(ctx, req.Owner, t.Asked.ID, g.Granted)...)
	inherited, more := s.grant(ctx, req, without(t.Inherited, g.Granted))
	g.Inherited, g.Warnings, g.Answer = inherited, append(g.Warnings, more...), s.cfg.NewID()
	return g, nil
}

// given is give as a step: what was recorded once is not recorded again.
func (s *Service) given(ctx context.Context, req agent.Request, t *thread) (g gift, err error) {
	if req.Journal == nil || len(req.Granted) == 0 && t == nil {
		return s.give(ctx, req, t)
	}
	b, err := req.Journal.Step(ctx, step.Name{Kind: step.KindGiven}.String(), func(ctx context.Context) ([]byte, error) {
		g, err := s.give(ctx, req, t)
		if err != nil {
			return nil, err
		}
		return json.Marshal(g)
	})
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal(b, &g); err != nil {
		return g, media.Errorf(media.CodeCorrupt, "read what the run was given: %w", err)
	}
	return g, nil
}

// work gives the run its media, runs the agent and adds up what it cost.
func (s *Service) work(ctx context.Context, agents Agents, req agent.Request, t *thread) (*agent.Result, error) {
	g, err := s.given(ctx, req, t)
	if err != nil {
		return nil, err
	}
	warnings, granted := g.Warnings, g.Granted
	if t != nil {
		req.History, t.Inherited, t.Answer = t.History, g.Inherited, g.Answer
		granted = append(slices.Clone(g.Inherited), granted...)
	}
	req.Granted = granted
	res, runErr := agents.Run(ctx, req)
	if res == nil || journal.Left(ctx) {
		return res, runErr
	}
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	res.Warnings = append(warnings, res.Warnings...)
	if err := s.cfg.Observer.Flush(save); err != nil {
		res.Warnings = append(res.Warnings, "the last events of this run may not be in its log yet")
	}
	if res.Cost, err = s.cfg.Observer.total(save, req.Owner, req.RunID, req.RunID, res.Cost); err != nil {
		res.Warnings = append(res.Warnings, "the cost of this run's generations could not be read: "+media.ErrorText(err.Error()))
	}
	return res, runErr
}

// grant makes refs of items that a run is given mean something in its tree: recording an item
// that has a record grants it, and one without a record gets it. An item for which that fails
// is left out, with a warning.
func (s *Service) grant(ctx context.Context, req agent.Request, items []media.Output) (granted []media.Output, warnings []string) {
	ctx = media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: req.RunID, Run: req.RunID})
	for _, o := range items {
		o.Origin.Direction, o.Promoted = "input", false
		rec, err := s.cfg.Ledger.Record(ctx, o)
		if err != nil {
			warnings = append(warnings, media.ErrorText(err.Error()))
			continue
		}
		granted = append(granted, rec)
	}
	return granted, warnings
}

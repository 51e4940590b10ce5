package atelier

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

const (
	// slowest is the longest pause between looks at a task that is past its wait: links to
	// results end after ten minutes at the shortest.
	slowest = 5 * time.Minute
	// longest is how long after its beginning an operation is looked at by itself.
	longest = 24 * time.Hour
)

// generation is one that the server has gone on with.
type generation struct {
	// busy is one that it works on, or that it does not try again.
	busy bool
	// next is when one that is past its wait is looked at again.
	next time.Time
}

// afterRun marks the context of a generation whose run is over: nothing more is told in
// the run's log.
type afterRun struct{}

// takeGenerations goes on with operations that nobody works on: those outside of runs, and
// tasks that runs left behind. Those whose process lives are waited for.
func (s *server) takeGenerations(ctx, work context.Context) error {
	for _, status := range []generate.Status{generate.StatusQueued, generate.StatusSubmitted, generate.StatusRunning} {
		page := ledger.Page{Limit: ledger.MaxLimit}
		for {
			list, err := s.Ledger.ListOperations(ctx, s.Config.Owner, ledger.OperationQuery{Status: string(status), Page: page})
			if err != nil {
				return err
			}
			for _, op := range list.Items {
				if err := s.takeGeneration(ctx, work, op); err != nil {
					return err
				}
			}
			if page.After = list.Next; page.After == "" {
				break
			}
		}
	}
	return nil
}

// takeGeneration goes on with an operation, if it is time to and nobody else's to do. One
// that the server has waited for before is looked at.
func (s *server) takeGeneration(ctx, work context.Context, op ledger.Operation) error {
	s.mu.Lock()
	g, known := s.generations[op.ID]
	s.mu.Unlock()
	if g.busy || time.Now().Before(g.next) { //nolint:forbidigo // the clock of the server
		return nil
	}
	if op.RunID != "" {
		behind, err := s.leftBehind(ctx, op)
		if err != nil || !behind {
			return err
		}
		work = context.WithValue(work, afterRun{}, true)
	}
	s.note(op.ID, generation{busy: true})
	s.work.Go(func() {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-work.Done():
			return
		}
		s.goOn(work, op, known)
	})
	return nil
}

// leftBehind reports whether a run that has come to its end did not wait for the task of an
// operation. Of a run that was cancelled nothing more is wanted.
func (s *server) leftBehind(ctx context.Context, op ledger.Operation) (bool, error) {
	if op.Status != string(generate.StatusRunning) || !op.Left(time.Now()) { //nolint:forbidigo // the clock of the server
		return false, nil
	}
	r, err := s.Ledger.Run(ctx, op.Owner, op.Tree)
	if media.CodeOf(err) == media.CodeNotFound {
		return false, nil
	}
	return r.Status == ledger.StatusSucceeded || r.Status == ledger.StatusFailed, err
}

// goOn waits for an operation, or looks at one that was waited for before.
func (s *server) goOn(ctx context.Context, op ledger.Operation, waited bool) {
	resume := s.Gateway.Resume
	if waited {
		resume = s.Gateway.Look
	}
	res, err := resume(s.Scoped(ctx, ""), op.ID)
	elsewhere := waited && media.CodeOf(err) == media.CodeConflict // somebody waits for it
	if err != nil && !elsewhere && ctx.Err() == nil {
		slog.WarnContext(ctx, "generation not taken over", slog.String("operation", op.ID), slog.String("error", media.ErrorText(err.Error())))
	}
	now := time.Now() //nolint:forbidigo // the clock of the server
	switch {
	case elsewhere, err == nil && res.Status == generate.StatusRunning:
		if now.Sub(op.CreatedAt) < longest {
			s.note(op.ID, generation{next: now.Add(s.pace(op))})
		}
	case err == nil || media.Retryable(err):
		// One that is over may be asked again and left once more, and the database may have been
		// away; one that wants a key is not tried again.
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.generations, op.ID)
	}
}

// note keeps how an operation stands.
func (s *server) note(id string, g generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generations[id] = g
}

// pace is the pause between looks at an operation that is past its wait: as long as that.
func (s *server) pace(op ledger.Operation) time.Duration {
	m, err := s.Gateway.Lookup(op.Provider + "/" + op.APIModel)
	if err != nil {
		return slowest
	}
	return min(time.Duration(cmp.Or(m.WaitSeconds, int(slowest.Seconds())))*time.Second, slowest)
}

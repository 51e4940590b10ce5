package main

import (
	"context"
	"encoding/json"
	"slices"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/operations"
)

type operationsCmd struct {
	List operationsListCmd `cmd:"" help:"List generations, newest first."`
	Show operationsShowCmd `cmd:"" help:"Show one generation: its results, provider calls, settings and cost."`

	Retry operationsRetryCmd `cmd:"" help:"Retry the failed results of a generation. Results that the provider has finished since are fetched first."`

	Cancel operationsCancelCmd `cmd:"" help:"Cancel an unfinished generation. Its tasks are stopped if the provider supports it, and its budget reservation is released."`
}

type operationsListCmd struct {
	Status string `help:"Only operations with this status: queued, submitted, running, succeeded, partial, failed, moderated or cancelled."`
	Tree   string `name:"run" help:"Only operations of this run and its sub-agents." placeholder:"ID|last"`
	pageFlags
}

func (c *operationsListCmd) Run(w *world) error {
	known := []generate.Status{
		generate.StatusQueued, generate.StatusSubmitted, generate.StatusRunning, generate.StatusSucceeded,
		generate.StatusPartial, generate.StatusFailed, generate.StatusModerated, generate.StatusCancelled,
	}
	if c.Status != "" && !slices.Contains(known, generate.Status(c.Status)) {
		return media.Errorf(media.CodeInvalid, "--status %s: operations are queued, submitted, running, succeeded, partial, failed, moderated or cancelled", c.Status)
	}
	page, err := c.page()
	if err != nil {
		return err
	}
	return w.withStores(func(s *stores) error {
		if c.Tree, err = s.treeID(w.ctx, c.Tree); err != nil {
			return err
		}
		list, err := s.Ledger.ListOperations(w.ctx, owner, ledger.OperationQuery{Tree: c.Tree, Status: c.Status, Page: page})
		if err != nil {
			return err
		}
		return printPage(w, list, []string{"OPERATION", "STATUS", "MODEL", "COST", "STARTED", "PROMPT"}, func(o ledger.Operation) []string {
			return []string{o.ID, statusText(o), o.Model, priceOf(o), localTime(o.CreatedAt), short(promptOf(o), 60)}
		})
	})
}

// statusText returns an operation's status, and whether it is orphaned.
func statusText(o ledger.Operation) string {
	if o.Orphaned() {
		return o.Status + ", orphaned"
	}
	return o.Status
}

// priceOf formats the cost of an operation; one in progress may cost its estimate.
func priceOf(o ledger.Operation) string {
	var used generate.Usage
	if o.FinishedAt.IsZero() || len(o.Usage) == 0 || json.Unmarshal(o.Usage, &used) != nil {
		used.Unsettled = 1
	}
	return price(generate.Status(o.Status), generate.Cost{EstimatedUSD: o.EstimatedUSD, ReportedUSD: o.ReportedUSD}, used)
}

// promptOf returns the sent prompt of an operation; empty if it cannot be read.
func promptOf(o ledger.Operation) string {
	_, sent, _ := operations.Requested(o)
	return sent
}

type operationsShowCmd struct {
	ID string `arg:"" help:"The operation's id, the start of its id, or last."`
}

func (c *operationsShowCmd) Run(w *world) error {
	return w.withStores(func(s *stores) (err error) {
		if c.ID, err = s.operationID(w.ctx, c.ID); err != nil {
			return err
		}
		o, slots, tasks, err := s.Ledger.Operation(w.ctx, owner, c.ID)
		if err != nil {
			return err
		}
		if w.json {
			return w.printJSON(map[string]any{"operation": o, "slots": slots, "calls": tasks})
		}
		w.line("%s  %s  %s (%s)", o.ID, statusText(o), o.Model, o.Provider)
		w.line("prompt:  %s", promptOf(o))
		w.line("cost:    %s estimated, %s reported", estimateText(o.EstimatedUSD), amount(o.ReportedUSD))
		for _, sl := range slots {
			w.line("result %d  %s  %s%s", sl.Index, sl.Status, sl.Ref, failureText(sl.Failure))
		}
		for _, t := range tasks {
			w.line("call %d.%d  %s  %s  %s%s", t.Call, t.Attempt, localTime(t.CreatedAt), t.Provider, t.Status, failureText(t.Failure))
			if t.TaskID != "" {
				w.line("          task %s", t.TaskID)
			}
		}
		for _, warning := range o.Warnings {
			w.line("warning: %s", warning)
		}
		var dispositions []generate.Disposition
		if len(o.Dispositions) > 0 {
			if err := json.Unmarshal(o.Dispositions, &dispositions); err != nil {
				return media.Errorf(media.CodeCorrupt, "read the settings of operation %s: %w", o.ID, err)
			}
		}
		w.dispositions(dispositions)
		switch {
		case o.Orphaned():
			w.line("it is unfinished and no process is working on it; to continue it: atelier generate --wait %s; to cancel it: atelier operations cancel %[1]s", o.ID)
		case o.FinishedAt.IsZero():
			w.line("a process is working on it; to wait for it: atelier generate --wait %s", o.ID)
		case slices.ContainsFunc(slots, func(sl ledger.Slot) bool { return retryable(media.Code(sl.Failure.Code)) }):
			var u generate.Usage
			_ = json.Unmarshal(o.Usage, &u) // an unreadable usage counts as zero
			w.line("%s", retryHint(o.ID, u, slices.ContainsFunc(slots, func(sl ledger.Slot) bool { return sl.Status == string(generate.StatusCancelled) })))
		}
		return nil
	})
}

// retryable reports whether the same request can succeed after it failed with this code.
func retryable(c media.Code) bool {
	return c != "" && c != media.CodeInvalid && c != media.CodeModerated
}

type operationsRetryCmd struct {
	ID  string `arg:"" help:"The operation's id, the start of its id, or last."`
	All bool   `help:"Also retry results that were moderated, cancelled or deleted, or that were or may have been billed."`
	resultFlags
}

// Run retries the failed results.
func (c *operationsRetryCmd) Run(w *world) error {
	w, err := c.piped(w)
	if err != nil {
		return err
	}
	return c.proceed(w, c.ID, false, gateway.ErrCancelled, func(ctx context.Context, a *app, id string) (*generate.Result, error) {
		return a.Gateway.Retry(ctx, gateway.RetryOptions{Operation: id, All: c.All})
	})
}

// failureText formats a failure for the end of a line.
func failureText(f ledger.Failure) string {
	if f.Code == "" {
		return ""
	}
	return "  " + f.Code + ": " + f.Message
}

type operationsCancelCmd struct {
	ID string `arg:"" help:"The operation's id, the start of its id, or last."`
}

// Run cancels a generation. It fails if an unfinished run waits for the generation: cancel the run instead.
func (c *operationsCancelCmd) Run(w *world) error {
	return w.withApp(appConfig{}, func(a *app) (err error) {
		if c.ID, err = a.stores().operationID(w.ctx, c.ID); err != nil {
			return err
		}
		op, _, _, err := a.Ledger.Operation(w.ctx, owner, c.ID)
		if err != nil {
			return err
		}
		if op.FinishedAt.IsZero() && !op.Orphaned() {
			if op.RunID != "" {
				r, err := a.Ledger.Run(w.ctx, owner, op.Tree)
				switch {
				case err == nil && r.FinishedAt.IsZero():
					return media.Errorf(media.CodeConflict, "operation %s is part of run %s, which is waiting for it: cancel the run with atelier runs cancel %[2]s", op.ID, r.ID)
				case err != nil && media.CodeOf(err) != media.CodeNotFound:
					return err
				}
			}
			w.note("a process is working on it, or was some seconds ago; it has been asked to stop")
		}
		ctx := a.Scoped(w.ctx, "")
		res, err := a.Gateway.Cancel(ctx, c.ID)
		if err != nil {
			return err
		}
		shown := resultFlags{}
		slots, _, err := shown.slots(ctx, w, a, res, "")
		if err != nil {
			return err
		}
		return w.print(resultView(res, slots), func() { shown.printForPeople(w, res, slots) })
	})
}

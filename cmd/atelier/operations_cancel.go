package main

import "atelier/media"

type operationsCancelCmd struct {
	ID   string `arg:"" help:"The operation's id, the start of its id, or last."`
	JSON bool   `help:"Print JSON."`
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

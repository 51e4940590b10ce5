package main

import (
	"context"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// dispositions prints what became of settings that were not applied as asked.
func (w *world) dispositions(ds []generate.Disposition) {
	for _, d := range ds {
		if d.Outcome != generate.OutcomeApplied {
			w.line("%-11s %s: asked %q, got %q: %s", d.Outcome, d.Setting, d.Asked, d.Applied, d.Reason)
		}
	}
}

// warnings prints what people should know beside the answer.
func (w *world) warnings(list []string) {
	for _, warning := range list {
		w.note("warning: %s", warning)
	}
}

// print writes the files and the answer. Partial success is success; nothing made
// at all is the provider's failure.
func (c *generateCmd) print(ctx context.Context, w *world, a *app, res *generate.Result) error {
	slots, firstErr, unsaved := c.slots(ctx, w, a, res, c.Output)
	if c.JSON {
		if err := w.printJSON(resultView(res, slots)); err != nil {
			return err
		}
	} else {
		c.people(w, res, slots)
	}
	if unsaved != nil {
		return unsaved
	}
	return ending(res, firstErr)
}

// slots writes the files of a result. A file that could not be written does not hide
// the others.
func (c *generateCmd) slots(ctx context.Context, w *world, a *app, res *generate.Result, to string) (slots []slotView, firstErr *generate.SlotError, unsaved error) {
	slots = make([]slotView, 0, len(res.Slots))
	for _, s := range res.Slots {
		v := slotView{s.Index, s.Status, nil, s.Error, s.RevisedPrompt, s.Seed, s.Safety}
		if s.Output != nil {
			name := numbered(to, s.Index, len(res.Slots))
			if to == toStdout {
				name = to
				to = "" // it holds one
			}
			file, err := w.save(ctx, a.stores, *s.Output, name)
			if unsaved == nil {
				unsaved = err
			}
			if file.path != "" && foreignSVG(*s.Output) {
				res.Warnings = append(res.Warnings, rawSVG(file.path))
			}
			if note := file.note(); note != "" && !c.JSON {
				w.note("%s", note)
			}
			o := viewOf(*s.Output, file)
			v.Output = &o
		} else if firstErr == nil {
			firstErr = s.Error
		}
		slots = append(slots, v)
	}
	return slots, firstErr, unsaved
}

// foreignSVG reports whether an item is an SVG that did not come from a drawing action of this program.
func foreignSVG(o media.Output) bool {
	return o.MIMEType == "image/svg+xml" && (o.Origin.Operation != "" || o.Origin.Direction == "input")
}

// rawSVG says what a person has to know of such a file.
func rawSVG(path string) string {
	return path + " is as it came: an SVG can hold scripts and load from elsewhere, which a browser does when the file is opened by itself; as a picture in a page it does neither"
}

// resultView is a result as programs see it.
func resultView(res *generate.Result, slots []slotView) map[string]any {
	return map[string]any{
		"operation": res.Operation, "status": res.Status, "slots": slots,
		"dispositions": orEmpty(res.Dispositions), "cost": res.Cost, "model": res.Model, "provider": res.Provider,
		"warnings": orEmpty(res.Warnings),
	}
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// ending turns what became of an operation into an exit code.
func ending(res *generate.Result, firstErr *generate.SlotError) error {
	switch {
	case res.Status == generate.StatusRunning:
		return quiet{exitRunning}
	case res.Status == generate.StatusCancelled:
		return quiet{exitInterrupted}
	case len(res.Outputs()) > 0:
		return nil
	case firstErr == nil, firstErr.Code == media.CodeTooLarge, firstErr.Code == media.CodeBlockedAddress, firstErr.Code == media.CodeConflict:
		// A slot is too large, leads to a forbidden place, or met another request, by what the
		// provider sent.
		return quiet{exitProvider}
	}
	return quiet{exitCode(firstErr.Code)}
}

func (c *generateCmd) people(w *world, res *generate.Result, slots []slotView) {
	for _, s := range slots {
		if s.Output == nil {
			msg := string(s.Status)
			if s.Error != nil {
				msg = s.Error.Message
			}
			w.note("%d  %s", s.Index, msg)
			continue
		}
		where := s.Output.Path
		if where == "" {
			where = "atelier media get " + string(s.Output.Ref)
		}
		w.line("%d  %s  %s  %s  %s  %s", s.Index, s.Output.Ref, s.Output.MIMEType, s.Output.extent(), size(s.Output.Size), where)
	}
	w.line("%s by %s (%s)%s, cost %s", res.Status, res.Model, res.Provider, askedAs(res), price(res.Status, res.Cost, res.Usage))
	w.dispositions(res.Dispositions)
	w.warnings(res.Warnings)
	switch {
	case res.Status == generate.StatusRunning:
		w.line("it goes on: atelier generate --wait %s", res.Operation)
	case slices.ContainsFunc(res.Slots, func(s generate.Slot) bool { return s.Error != nil && again(s.Error.Code) }):
		w.note("%s", askAgain(res.Operation, res.Usage, slices.ContainsFunc(res.Slots, func(s generate.Slot) bool { return s.Status == generate.StatusCancelled })))
	}
}

// askedAs is the name by which a person asked for the model, if it is another one.
func askedAs(res *generate.Result) string {
	for _, d := range res.Dispositions {
		if d.Setting == "model" && d.Outcome == generate.OutcomeApplied && !strings.EqualFold(d.Asked, res.Model) {
			return ", asked for as " + d.Asked
		}
	}
	return ""
}

// askAgain says how to ask again for what failed, and for what needs more than that.
func askAgain(operation string, u generate.Usage, cancelled bool) string {
	text := "ask again for what failed: atelier operations retry " + operation
	switch {
	case cancelled:
		text += " (with --all also for what was cancelled at its provider or may have been billed)"
	case u.Unsettled > 0:
		text += " (with --all also for what may have been billed)"
	}
	return text
}

// price says what was paid: what was reported, else what can be said of it.
func price(s generate.Status, c generate.Cost, u generate.Usage) string {
	used := u.Images > 0 || u.Unsettled > 0 || u.InputTokens > 0 || u.OutputTokens > 0
	switch {
	case c.ReportedUSD != nil:
		return money(c.ReportedUSD)
	case !used && s != generate.StatusModerated && s != generate.StatusRunning:
		return "nothing"
	case !used || c.EstimatedUSD == nil: // some providers bill what they refuse
		return "unknown"
	}
	return "about " + strings.TrimPrefix(about(c.EstimatedUSD), "about ")
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/generate"
	"atelier/generate/plan"
	"atelier/media"
	"atelier/media/imaging"
)

// comparisonEntry is one model of a comparison, with its result.
type comparisonEntry struct {
	req  generate.Request
	plan *plan.Plan
	res  *generate.Result
	err  error // why there is no result, or the error that ends the command
	took time.Duration
}

// compare makes the same request to several models, side by side.
func (c *generateCmd) compare(ctx context.Context, w *world, a *app, req generate.Request, shown *progress) error {
	rivals := make([]comparisonEntry, len(c.Model))
	for i, m := range c.Model {
		r := req
		r.Model, r.Options = m, c.optionsOf(a, req, m)
		p, err := a.Gateway.Plan(ctx, r)
		if c.DryRun && media.CodeOf(err) == media.CodeMissingKey { // a dry run needs no key
			if p, err = a.Gateway.DryRun(ctx, r); media.CodeOf(err) == media.CodeOverBudget {
				err = nil // comparePlans checks the budgets for all models together
			}
		}
		if err != nil {
			return fmt.Errorf("compare: %w", err)
		}
		if err := c.writable(p, c.Format); err != nil {
			return err
		}
		if slices.ContainsFunc(rivals[:i], func(o comparisonEntry) bool { return o.plan.Model.Name == p.Model.Name }) {
			return media.Errorf(media.CodeInvalid, "%s appears twice in this comparison: name different models", p.Model.Name)
		}
		rivals[i].req, rivals[i].plan = r, p
	}
	if c.DryRun {
		return c.comparePlans(ctx, w, a, rivals)
	}
	if err := c.prepare(); err != nil {
		return err
	}
	var all sync.WaitGroup
	for i := range rivals {
		all.Go(func() {
			began := time.Now() //nolint:forbidigo // the clock of the command line
			rivals[i].res, rivals[i].err = a.Gateway.Generate(ctx, rivals[i].req)
			rivals[i].took = time.Since(began)
		})
	}
	all.Wait()
	shown.clear()
	return c.printComparison(ctx, w, a, rivals)
}

// optionsOf returns the options of a comparison without those for its other models.
func (c *generateCmd) optionsOf(a *app, req generate.Request, model string) map[string]map[string]any {
	provider := func(name string) string {
		m, _ := a.Gateway.Lookup(name) // the plan reports an unknown name
		return m.Provider
	}
	used := []string{provider(model)}
	for _, name := range c.Fallback {
		used = append(used, provider(name))
	}
	out := maps.Clone(req.Options)
	maps.DeleteFunc(out, func(key string, _ map[string]any) bool {
		key = strings.ToLower(key)
		return !slices.Contains(used, key) && slices.ContainsFunc(c.Model, func(m string) bool { return provider(m) == key })
	})
	return out
}

// comparisonView is the JSON form of one model's part of a comparison.
type comparisonView struct {
	Result  map[string]any      `json:"result"`
	Seconds float64             `json:"seconds"`
	Error   *generate.SlotError `json:"error,omitempty"`
}

// printComparison writes the files, the contact sheet and the table, and says how to fetch unfinished results.
func (c *generateCmd) printComparison(ctx context.Context, w *world, a *app, rivals []comparisonEntry) error {
	views := make([]comparisonView, 0, len(rivals))
	var rows [][]string
	var unsaved error
	for i := range rivals {
		r := &rivals[i]
		if r.res == nil {
			e := slotError(r.err)
			views = append(views, comparisonView{Seconds: r.took.Seconds(), Error: e})
			rows = append(rows, []string{r.plan.Model.Name, "failed", seconds(r.took), "", "", e.Message})
			continue
		}
		name := r.res.Model
		if name != r.plan.Model.Name { // two models can fall back to the same one
			name += " for " + r.plan.Model.Name
		}
		slots, firstErr, err := c.slots(ctx, w, a, r.res, fileOf(c.Output, name))
		unsaved = cmp.Or(unsaved, err)
		r.err = outcomeError(r.res, firstErr)
		views = append(views, comparisonView{Result: resultView(r.res, slots), Seconds: r.took.Seconds()})
		for _, s := range slots {
			extent, result := "", ""
			switch {
			case s.Output != nil:
				extent, result = s.Output.extent(), cmp.Or(s.Output.Path, string(s.Output.Ref))
			case s.Error != nil:
				result = s.Error.Message
			case r.res.Status == generate.StatusRunning:
				result = "it continues"
			}
			rows = append(rows, []string{r.res.Model, string(s.Status), seconds(r.took), price(r.res.Status, r.res.Cost, r.res.Usage), extent, result})
		}
		if !w.json {
			w.warnings(r.res.Warnings)
		}
	}
	sheet, err := c.contactSheet(ctx, w, a, rivals)
	unsaved = cmp.Or(unsaved, err)
	if w.json {
		unsaved = cmp.Or(w.printJSON(map[string]any{"comparison": views, "contact_sheet": sheet}), unsaved)
	} else {
		table(w.stdout, []string{"MODEL", "STATUS", "TIME", "COST", "SIZE", "RESULT"}, rows)
		if sheet != nil {
			w.line("contact sheet: %s", sheet.where())
		}
		for _, r := range rivals {
			if r.res != nil && r.res.Status == generate.StatusRunning {
				w.line("%s is still running; to wait for it: atelier generate --wait %s", r.res.Model, r.res.Operation)
			}
		}
	}
	return cmp.Or(unsaved, endingOf(rivals))
}

// endingOf returns how a comparison ended, whatever the order of its models: running if a model is
// still running, else interrupted if one was, else nil if one succeeded, else the first error.
func endingOf(rivals []comparisonEntry) error {
	for _, code := range []int{exitRunning, exitInterrupted} {
		if slices.ContainsFunc(rivals, func(r comparisonEntry) bool { return r.code() == code }) {
			return reportedError{code}
		}
	}
	var failed error
	for _, r := range rivals {
		if r.err == nil {
			return nil
		}
		failed = cmp.Or(failed, r.err)
	}
	return failed
}

// code returns the exit code that the model alone would have.
func (r comparisonEntry) code() int {
	if q, ok := errors.AsType[reportedError](r.err); ok {
		return q.code
	}
	return exitCode(media.CodeOf(r.err))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// fileOf inserts part, such as the model's name, into a file name.
func fileOf(name, part string) string {
	if name == "" {
		return ""
	}
	slug := strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' {
			return c
		}
		return '-'
	}, strings.ToLower(part)), "-.")
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + slug + ext
}

// contactSheet makes one picture of all results and stores it; nil if there are no pictures.
func (c *generateCmd) contactSheet(ctx context.Context, w *world, a *app, rivals []comparisonEntry) (*outputView, error) {
	var items []imaging.SheetItem
	var parents []media.Parent
	for _, r := range rivals {
		if r.res == nil {
			continue
		}
		for _, o := range r.res.Outputs() {
			if o.Modality != media.ModalityImage || o.Width == 0 || len(items) == imaging.MaxSheetItems {
				continue
			}
			items = append(items, imaging.SheetItem{
				Open:  func(ctx context.Context) (io.ReadCloser, error) { return a.Codec.Open(ctx, o.Digest) },
				Facts: o.Facts,
				Caption: fmt.Sprintf("%s, %d × %d, %s, %s", r.res.Model, o.Width, o.Height, seconds(r.took),
					price(r.res.Status, r.res.Cost, r.res.Usage)),
			})
			if !slices.ContainsFunc(parents, func(p media.Parent) bool { return p.Ref == o.Ref }) {
				parents = append(parents, media.Parent{Ref: o.Ref, Role: "input"})
			}
		}
	}
	if len(items) == 0 {
		return nil, nil
	}
	// Show what was paid for even if the command is cancelled.
	ctx = context.WithoutCancel(ctx)
	var page bytes.Buffer
	if err := imaging.ContactSheet(ctx, &page, items, imaging.Limits{}, imaging.Generated("several models", "Atelier")); err != nil {
		return nil, fmt.Errorf("make contact sheet: %w", err)
	}
	b, err := a.Codec.Store(ctx, &page, "image/png")
	if err != nil {
		return nil, fmt.Errorf("store contact sheet: %w", err)
	}
	o := media.NewOutput(b, media.Meta{Label: "Comparison: " + short(c.Prompt, 60)})
	o.Lineage, o.Origin = parents, media.Origin{Direction: "output", Source: "Atelier"}
	if o, err = a.Ledger.Record(ctx, o); err != nil {
		return nil, fmt.Errorf("record contact sheet: %w", err)
	}
	name := c.Output
	if name != "" {
		name = strings.TrimSuffix(name, filepath.Ext(name)) + ".png"
	}
	file, err := w.save(ctx, a.stores(), o, fileOf(name, "contact-sheet"))
	v := viewOf(o, file)
	return &v, err
}

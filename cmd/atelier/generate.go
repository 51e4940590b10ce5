package main

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/generate/plan"
	"atelier/journal"
	"atelier/media"
	"atelier/media/imaging"
)

type generateCmd struct {
	requestFlags
	DryRun bool   `help:"Show the request, its estimated cost and whether the budgets allow it, without calling a provider. No key is needed."`
	Wait   string `help:"Wait for an operation that is still running, or continue one whose process died." placeholder:"OPERATION"`
	resultFlags
	inputFlags
}

// requestFlags are the settings of a request, without its input pictures.
type requestFlags struct {
	Prompt         string   `arg:"" optional:"" help:"What to draw, how to edit the picture, or the text to speak."`
	Model          []string `short:"m" help:"Display name, id or alias; see atelier models list. Repeat the flag to compare models: it prints a table of time and cost, and makes a contact sheet." placeholder:"NAME" sep:"none"`
	Fallback       []string `help:"A model to use for the results that the models before it failed to give. Repeat the flag for several, in order." placeholder:"NAME" sep:"none"`
	Modality       string   `help:"image or audio. The default is what the model makes." placeholder:"M"`
	N              *int     `short:"n" help:"How many results. The default is one, or as many as the model makes in one call." placeholder:"N"`
	Size           string   `help:"WIDTHxHEIGHT in pixels, or auto." placeholder:"WxH"`
	AspectRatio    string   `help:"W:H. --size takes precedence." placeholder:"W:H"`
	Quality        string   `help:"low, medium, high, auto, standard or hd." placeholder:"Q"`
	Style          string   `help:"natural or vivid." placeholder:"STYLE"`
	NegativePrompt string   `help:"What to avoid." placeholder:"TEXT"`
	Background     string   `help:"transparent, opaque or auto." placeholder:"B"`
	Seed           *int64   `help:"The seed, for a repeatable result, if the model supports one." placeholder:"N"`
	Format         string   `help:"Pictures: png, jpeg or webp. Sound: mp3, wav, opus, aac or flac. Text: txt. The default is the extension of -o. It is an error if the model does not support it." placeholder:"F"`
	Voice          string   `help:"The voice; see atelier models show." placeholder:"NAME"`
	Speed          *float64 `help:"The speed of speech, 0.25 to 4." placeholder:"X"`
	Partials       bool     `help:"Request preview frames and show them as they arrive. Some providers charge for them."`
	Compression    *int     `help:"0 to 100, for jpeg and webp." placeholder:"N"`
	Option         []string `help:"A provider-specific option, PROVIDER.NAME=VALUE. Repeat the flag for more." placeholder:"P.N=V" sep:"none"`
	Strict         bool     `help:"Fail instead of adapting or dropping a setting."`
}

// outputView is the JSON form of one item.
type outputView struct {
	Ref      media.Ref      `json:"ref"`
	Modality media.Modality `json:"modality"`
	MIMEType string         `json:"mime_type"`
	Width    int            `json:"width"`
	Height   int            `json:"height"`
	// Duration is the length of sound and film.
	Duration float64      `json:"duration_seconds,omitempty"`
	Size     int64        `json:"size_bytes"`
	Digest   media.Digest `json:"digest"`
	Label    string       `json:"label"`
	// Path is the file with a copy; empty if none was written.
	Path string `json:"path"`
	// Marking says how that file is labelled as made by AI; empty if no model made the item. Size and
	// Digest are those of the stored bytes: a file with a label has others.
	Marking imaging.Marking `json:"marking,omitempty"`
}

func viewOf(o media.Output, file savedFile) outputView {
	return outputView{o.Ref, o.Modality, o.MIMEType, o.Width, o.Height, o.DurationSeconds, o.SizeBytes, o.Digest, o.Label, file.path, file.marking}
}

// where returns the file with the item, or the command that writes one.
func (v outputView) where() string { return cmp.Or(v.Path, "atelier media get "+string(v.Ref)) }

// extent formats the size in pixels or the duration.
func (v outputView) extent() string {
	return dimensions(media.Output{Blob: media.Blob{Facts: media.Facts{Width: v.Width, Height: v.Height, DurationSeconds: v.Duration}}})
}

// slotView is the JSON form of one slot.
type slotView struct {
	Index         int                 `json:"index"`
	Status        generate.Status     `json:"status"`
	Output        *outputView         `json:"output,omitempty"`
	Error         *generate.SlotError `json:"error,omitempty"`
	RevisedPrompt string              `json:"revised_prompt"`
	Seed          *int64              `json:"seed"`
	Safety        *generate.Safety    `json:"safety,omitempty"`
}

func (c *generateCmd) Run(w *world) error {
	w, err := c.piped(w)
	switch {
	case err != nil:
		return err
	case c.Output == toStdout && len(c.Model) > 1:
		return media.Errorf(media.CodeInvalid, "-o - takes one result, but a comparison makes several: name a file")
	}
	if c.Wait != "" {
		return c.wait(w)
	}
	req, err := c.request()
	if err != nil {
		return err
	}
	p := newProgress(w)
	return w.withApp(appConfig{events: p.generation, partials: c.Partials}, func(a *app) error {
		wanted, end := w.interruptible(gateway.ErrCancelled)
		defer end()
		ctx := a.Scoped(wanted, uuid.Must(uuid.NewV7()).String())
		if err := c.fill(ctx, a, &req); err != nil {
			return err
		}
		if len(c.Model) > 1 {
			return c.compare(ctx, w, a, req, p)
		}
		if plan, _ := a.Gateway.DryRun(ctx, req); plan != nil { // errors of the request are reported below
			if err := c.writable(plan, c.Format); err != nil {
				return err
			}
		}
		if c.DryRun {
			return c.plan(ctx, w, a, req)
		}
		if err := c.prepare(); err != nil {
			return err
		}
		if m, err := a.Gateway.Lookup(req.Model); err == nil && m.Modality == media.ModalityAudio || req.Modality == media.ModalityAudio {
			p.noun = "sound"
		}
		res, err := a.Gateway.Generate(ctx, req)
		p.clear()
		if err == nil {
			return c.print(ctx, w, a, res)
		}
		// A request refused before any call has a result with the refused settings. The exit
		// code is that of the refusal.
		switch {
		case res == nil:
		case w.json:
			refused := resultView(res, []slotView{})
			refused["error"] = slotError(err)
			_ = w.printJSON(refused) // the command ends with err
		default:
			w.dispositions(res.Dispositions)
		}
		return err
	})
}

// leaveGrace is how long a call that cannot be repeated may continue after Ctrl-C.
const leaveGrace = 30 * time.Second

// wait continues an operation. Ctrl-C ends the wait, not the operation.
func (c *generateCmd) wait(w *world) error {
	other := *c
	other.Prompt, other.Partials, other.Wait, other.resultFlags = strings.TrimSpace(c.Prompt), false, "", resultFlags{}
	if !reflect.ValueOf(other).IsZero() {
		return media.Errorf(media.CodeInvalid, "--wait continues %s with its original request: omit the prompt and all flags except -o, --json and --partials", c.Wait)
	}
	return c.proceed(w, c.Wait, c.Partials, journal.HandOver(leaveGrace), func(ctx context.Context, a *app, id string) (*generate.Result, error) {
		return a.Gateway.Resume(ctx, id)
	})
}

func (c *generateCmd) request() (generate.Request, error) {
	r := generate.Request{
		Prompt: c.Prompt, NegativePrompt: c.NegativePrompt, Size: c.Size, AspectRatio: c.AspectRatio,
		Quality: c.Quality, Style: c.Style, Background: c.Background, Seed: c.Seed, OutputFormat: c.Format,
		Compression: c.Compression, Strict: c.Strict, Voice: c.Voice,
		Modality: media.Modality(strings.ToLower(strings.TrimSpace(c.Modality))), Fallback: c.Fallback,
	}
	if len(c.Model) == 1 {
		r.Model = c.Model[0]
	}
	if m := r.Modality; m != "" && m != media.ModalityImage && m != media.ModalityAudio {
		return r, media.Errorf(media.CodeInvalid, "--modality %q: use image or audio", c.Modality)
	}
	if err := c.check(strings.TrimSpace(c.Prompt)); err != nil {
		return r, err
	}
	if c.N != nil {
		if r.N = *c.N; r.N < 1 {
			return r, media.Errorf(media.CodeInvalid, "-n is %d: ask for 1 to 100 results", r.N)
		}
	}
	if c.Speed != nil {
		if r.Speed = *c.Speed; r.Speed == 0 {
			return r, media.Errorf(media.CodeInvalid, "--speed is 0: use 0.25 to 4")
		}
	}
	format, _, err := formatOf(c.Output)
	switch {
	case err != nil:
		return r, err
	case r.OutputFormat == "":
		r.OutputFormat = format
	case format != "" && format != strings.Replace(strings.ToLower(r.OutputFormat), "jpg", "jpeg", 1):
		return r, media.Errorf(media.CodeInvalid, "--format %s and -o %s do not match: omit --format, or change the file extension", r.OutputFormat, c.Output)
	}
	r.Options, err = options(c.Option)
	return r, err
}

// options parses the flags --option.
func options(flags []string) (all map[string]map[string]any, err error) {
	for _, o := range flags {
		name, text, ok := strings.Cut(o, "=")
		provider, key, ok2 := strings.Cut(name, ".")
		if !ok || !ok2 {
			return nil, media.Errorf(media.CodeInvalid, "--option %q: want PROVIDER.NAME=VALUE", o)
		}
		if all == nil {
			all = map[string]map[string]any{}
		}
		if provider = strings.ToLower(provider); all[provider] == nil {
			all[provider] = map[string]any{}
		}
		if _, again := all[provider][key]; again {
			return nil, media.Errorf(media.CodeInvalid, "--option %s was given more than once: give it once", name)
		}
		var v any
		err := json.Unmarshal([]byte(text), &v)
		if n, number := v.(float64); err != nil || number && math.Abs(n) > 1<<53 { // a number would be rounded
			v = text
		}
		all[provider][key] = v
	}
	return all, nil
}

func sameFormat(requested, real string) bool {
	requested = strings.ToLower(requested)
	return requested == real || requested == ".jpeg" && real == ".jpg" || requested == ".opus" && real == ".ogg"
}

// planView is the JSON form of what a request would do.
type planView struct {
	*plan.Plan
	// Error is why the request would still be refused: a budget.
	Error *generate.SlotError `json:"error,omitempty"`
}

// slotError returns the JSON form of an error; nil for none.
func slotError(err error) *generate.SlotError {
	if err == nil {
		return nil
	}
	return &generate.SlotError{Code: media.CodeOf(err), Message: media.ErrorText(err.Error())}
}

// plan shows the calls and the cost of a request. It returns the error with which the request would be
// refused before any call, including that of a budget.
func (c *generateCmd) plan(ctx context.Context, w *world, a *app, req generate.Request) error {
	plan, err := a.Gateway.DryRun(ctx, req)
	if err != nil && media.CodeOf(err) != media.CodeOverBudget {
		return err
	}
	if w.json {
		return cmp.Or(w.printJSON(planView{plan, slotError(err)}), err)
	}
	w.line("model     %s (%s)", plan.Model.Name, plan.Model.Provider)
	w.line("calls     %s", callsText(plan))
	w.line("estimate  %s", estimateText(plan.EstimatedUSD))
	w.dispositions(plan.Dispositions)
	w.warnings(plan.Warnings)
	return err
}

// callsText describes the number of calls, and the number of results if it differs from the requested one.
func callsText(p *plan.Plan) string {
	text := plural(len(p.Calls), "call")
	if p.ResultCount != p.N() {
		text += ", " + plural(p.ResultCount, "result")
	}
	return text
}

// comparePlans shows the calls and the cost of a comparison. It fails if no model fits into the
// budgets, and warns if the models do not fit together.
func (c *generateCmd) comparePlans(ctx context.Context, w *world, a *app, rivals []comparisonEntry) error {
	var views []planView
	var plans []*plan.Plan
	var rows [][]string
	var refused error
	fitting := 0
	for _, r := range rivals {
		err := a.Gateway.CheckRemaining(ctx, r.plan)
		if err != nil && media.CodeOf(err) != media.CodeOverBudget {
			return err
		}
		if refused = cmp.Or(refused, err); err == nil {
			fitting++
		}
		views, plans = append(views, planView{r.plan, slotError(err)}), append(plans, r.plan)
		rows = append(rows, []string{r.plan.Model.Name, r.plan.Model.Provider, callsText(r.plan), estimateText(r.plan.EstimatedUSD)})
	}
	together := a.Gateway.CheckRemaining(ctx, plans...)
	if w.json {
		if err := w.printJSON(map[string]any{"comparison": views, "error": slotError(together)}); err != nil {
			return err
		}
	} else {
		table(w.stdout, []string{"MODEL", "PROVIDER", "CALLS", "ESTIMATE"}, rows)
		for _, p := range plans {
			w.warnings(p.Warnings)
		}
	}
	if fitting == 0 {
		return refused
	}
	if together != nil {
		w.note("warning: some results would not be made: %s", media.ErrorText(together.Error()))
	}
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/generate"
	"atelier/media"
)

type generateCmd struct {
	Prompt         string   `arg:"" optional:"" help:"What the picture shows, what changes in it, or the text to speak."`
	Model          string   `short:"m" help:"Display name, id or alias; see atelier models list." placeholder:"NAME"`
	Modality       string   `help:"image or audio; what the model makes, if it is named." placeholder:"M"`
	N              int      `short:"n" help:"How many results." default:"1"`
	Size           string   `help:"WIDTHxHEIGHT in pixels, or auto." placeholder:"WxH"`
	AspectRatio    string   `help:"W:H; an explicit size wins." placeholder:"W:H"`
	Quality        string   `help:"low, medium, high, auto, standard or hd." placeholder:"Q"`
	Style          string   `help:"natural or vivid." placeholder:"STYLE"`
	NegativePrompt string   `help:"What to avoid." placeholder:"TEXT"`
	Background     string   `help:"transparent, opaque or auto." placeholder:"B"`
	Seed           *int64   `help:"Repeat a result where the model has seeds." placeholder:"N"`
	Format         string   `help:"png, jpeg or webp, or mp3, wav, opus, aac or flac for sound; the ending of -o otherwise." placeholder:"F"`
	Voice          string   `help:"Who speaks; see atelier models show." placeholder:"NAME"`
	Speed          float64  `help:"How fast, 0.25 to 4." placeholder:"X"`
	Partials       bool     `help:"Ask for preview frames and show how they come; some providers bill them."`
	Compression    *int     `help:"0 to 100, for jpeg and webp." placeholder:"N"`
	Option         []string `help:"A provider's own option, PROVIDER.NAME=VALUE; repeatable." placeholder:"P.N=V"`
	Strict         bool     `help:"Refuse instead of adapting or dropping a setting."`
	DryRun         bool     `help:"Show what would be asked and what it would cost; call nobody."`
	Output         string   `short:"o" help:"The file to write; with several results NAME-1, NAME-2." placeholder:"FILE"`
	JSON           bool     `help:"Print JSON."`
	inputFlags
}

// outputView is one item as programs see it.
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
	// Path is the file that holds a copy; empty if none was written.
	Path string `json:"path"`
}

func viewOf(o media.Output, path string) outputView {
	return outputView{o.Ref, o.Modality, o.MIMEType, o.Width, o.Height, o.DurationSeconds, o.SizeBytes, o.Digest, o.Label, path}
}

// extent writes its size in pixels or its length.
func (v outputView) extent() string {
	return dimensions(media.Output{Blob: media.Blob{Facts: media.Facts{Width: v.Width, Height: v.Height, DurationSeconds: v.Duration}}})
}

// slotView is one slot as programs see it.
type slotView struct {
	Index         int                 `json:"index"`
	Status        generate.Status     `json:"status"`
	Output        *outputView         `json:"output,omitempty"`
	Error         *generate.SlotError `json:"error,omitempty"`
	RevisedPrompt string              `json:"revised_prompt"`
	Seed          *int64              `json:"seed"`
}

// Run generates.
func (c *generateCmd) Run(w *world) error {
	req, err := c.request()
	if err != nil {
		return err
	}
	p := newProgress(w, c.JSON)
	return w.withApp(appConfig{events: p.generation, partials: c.Partials}, func(a *app) error {
		ctx := scoped(w.ctx, uuid.Must(uuid.NewV7()).String())
		if err := c.fill(ctx, a, &req, !c.DryRun); err != nil {
			return err
		}
		if c.DryRun {
			return c.plan(ctx, w, a, req)
		}
		if err := c.prepare(); err != nil {
			return err
		}
		if m, err := a.gateway.Lookup(req.Model); err == nil && m.Modality == media.ModalityAudio || req.Modality == media.ModalityAudio {
			p.noun = "sound"
		}
		res, err := a.gateway.Generate(ctx, req)
		p.clear()
		if err == nil {
			return c.print(w, a, res)
		}
		// A refusal before any call has a result: the settings that were refused. The
		// exit code is the refusal's.
		switch {
		case res == nil:
		case c.JSON:
			_ = c.print(w, a, res)
		default:
			w.dispositions(res.Dispositions)
		}
		return err
	})
}

func (c *generateCmd) request() (generate.Request, error) {
	r := generate.Request{
		Prompt: c.Prompt, NegativePrompt: c.NegativePrompt, Model: c.Model, N: c.N, Size: c.Size, AspectRatio: c.AspectRatio,
		Quality: c.Quality, Style: c.Style, Background: c.Background, Seed: c.Seed, OutputFormat: c.Format,
		Compression: c.Compression, Strict: c.Strict, Voice: c.Voice, Speed: c.Speed,
		Modality: media.Modality(strings.ToLower(strings.TrimSpace(c.Modality))),
	}
	if m := r.Modality; m != "" && m != media.ModalityImage && m != media.ModalityAudio {
		return r, media.Errorf(media.CodeInvalid, "--modality %q: use image or audio", c.Modality)
	}
	if err := c.check(strings.TrimSpace(c.Prompt)); err != nil {
		return r, err
	}
	if c.N < 1 {
		return r, media.Errorf(media.CodeInvalid, "-n is %d: ask for 1 to 100 results", c.N)
	}
	if r.OutputFormat == "" && c.Output != "" {
		format, err := formatOf(c.Output)
		if err != nil {
			return r, err
		}
		r.OutputFormat = format
	}
	for _, o := range c.Option {
		name, text, ok := strings.Cut(o, "=")
		provider, key, ok2 := strings.Cut(name, ".")
		if !ok || !ok2 {
			return r, media.Errorf(media.CodeInvalid, "--option %q: want PROVIDER.NAME=VALUE", o)
		}
		if r.Options == nil {
			r.Options = map[string]map[string]any{}
		}
		if r.Options[provider] == nil {
			r.Options[provider] = map[string]any{}
		}
		var v any = text
		if json.Unmarshal([]byte(text), &v) != nil {
			v = text
		}
		r.Options[provider][key] = v
	}
	return r, nil
}

func formatOf(file string) (string, error) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".png":
		return "png", nil
	case ".jpg", ".jpeg":
		return "jpeg", nil
	case ".ogg":
		return "opus", nil
	case ".webp", ".mp3", ".wav", ".opus", ".aac", ".flac":
		return strings.ToLower(filepath.Ext(file)[1:]), nil
	}
	return "", media.Errorf(media.CodeInvalid, "-o %s: end the name in .png, .jpg or .webp; for sound in .mp3, .wav, .opus, .aac or .flac", file)
}

func (c *generateCmd) plan(ctx context.Context, w *world, a *app, req generate.Request) error {
	plan, err := a.gateway.Plan(ctx, req)
	if err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(plan)
	}
	w.line("model     %s (%s)", plan.Model.Name, plan.Model.Provider)
	w.line("calls     %s", plural(len(plan.Calls), "call"))
	w.line("estimate  %s", money(plan.EstimatedUSD))
	w.dispositions(plan.Dispositions)
	return nil
}

// dispositions prints what became of settings that were not applied as asked.
func (w *world) dispositions(ds []generate.Disposition) {
	for _, d := range ds {
		if d.Outcome != generate.OutcomeApplied {
			w.line("%-11s %s: asked %q, got %q: %s", d.Outcome, d.Setting, d.Asked, d.Applied, d.Reason)
		}
	}
}

// print writes the files and the answer. Partial success is success; nothing made
// at all is the provider's failure.
func (c *generateCmd) print(w *world, a *app, res *generate.Result) error {
	slots := make([]slotView, 0, len(res.Slots))
	var firstErr *generate.SlotError
	var unsaved error // a file that could not be written does not hide the results
	for _, s := range res.Slots {
		v := slotView{s.Index, s.Status, nil, s.Error, s.RevisedPrompt, s.Seed}
		if s.Output != nil {
			path, err := c.save(a, *s.Output, s.Index, len(res.Slots))
			if unsaved == nil {
				unsaved = err
			}
			o := viewOf(*s.Output, path)
			v.Output = &o
		} else if firstErr == nil {
			firstErr = s.Error
		}
		slots = append(slots, v)
	}
	if c.JSON {
		err := w.printJSON(map[string]any{
			"operation": res.Operation, "status": res.Status, "slots": slots,
			"dispositions": orEmpty(res.Dispositions), "cost": res.Cost, "model": res.Model, "provider": res.Provider,
		})
		if err != nil {
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
	case firstErr == nil, firstErr.Code == media.CodeTooLarge, firstErr.Code == media.CodeBlockedAddress:
		// A slot is too large, or leads to a forbidden place, by what the provider sent.
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
	w.line("%s by %s (%s), cost %s", res.Status, res.Model, res.Provider, money(firstKnown(res.Cost.ReportedUSD, res.Cost.EstimatedUSD)))
	w.dispositions(res.Dispositions)
}

func firstKnown(a, b *string) *string {
	if a != nil {
		return a
	}
	return b
}

// save copies one result to where -o says; the ending follows the bytes.
func (c *generateCmd) save(a *app, o media.Output, index, of int) (string, error) {
	if c.Output == "" {
		return "", nil
	}
	name := c.Output
	ext := filepath.Ext(name)
	if of > 1 {
		name = strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(index) + ext
	}
	if real := filepath.Ext(agent.FileName(o)); !sameFormat(ext, real) {
		name = strings.TrimSuffix(name, ext) + real
	}
	// What is paid for is written even if the command is being cancelled.
	in, err := a.codec.Open(context.Background(), o.Digest)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }()
	if err := writeFile(name, in); err != nil {
		return "", media.Errorf(media.CodeOf(err), "%w; it is kept: atelier media get %s", err, o.Ref)
	}
	return name, nil
}

// prepare checks that files can be written where -o says, before anything is paid for.
func (c *generateCmd) prepare() error {
	if c.Output == "" {
		return nil
	}
	dir := filepath.Dir(c.Output)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return diskError("make the folder "+dir, err)
	}
	if info, err := os.Stat(c.Output); err == nil && info.IsDir() {
		return media.Errorf(media.CodeInvalid, "-o %s is a folder: add the name of a file", c.Output)
	}
	f, err := os.CreateTemp(dir, ".atelier-*")
	if err != nil {
		return diskError("write into the folder "+dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func sameFormat(asked, real string) bool {
	asked = strings.ToLower(asked)
	return asked == real || asked == ".jpeg" && real == ".jpg" || asked == ".opus" && real == ".ogg"
}

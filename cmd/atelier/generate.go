package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelier/generate"
	"atelier/imaging"
	"atelier/journal"
	"atelier/media"
)

type generateCmd struct {
	Prompt         string   `arg:"" optional:"" help:"What the picture shows, what changes in it, or the text to speak."`
	Model          []string `short:"m" help:"Display name, id or alias; see atelier models list. Repeat it to compare models: a table of time and cost, and a contact sheet." placeholder:"NAME" sep:"none"`
	Fallback       []string `help:"A model to ask for what the one before could not give; repeat it for a chain." placeholder:"NAME" sep:"none"`
	Modality       string   `help:"image or audio; what the model makes, if it is named." placeholder:"M"`
	N              *int     `short:"n" help:"How many results; one, or what the model makes at once, if it is left out." placeholder:"N"`
	Size           string   `help:"WIDTHxHEIGHT in pixels, or auto." placeholder:"WxH"`
	AspectRatio    string   `help:"W:H; an explicit size wins." placeholder:"W:H"`
	Quality        string   `help:"low, medium, high, auto, standard or hd." placeholder:"Q"`
	Style          string   `help:"natural or vivid." placeholder:"STYLE"`
	NegativePrompt string   `help:"What to avoid." placeholder:"TEXT"`
	Background     string   `help:"transparent, opaque or auto." placeholder:"B"`
	Seed           *int64   `help:"Repeat a result where the model has seeds." placeholder:"N"`
	Format         string   `help:"png, jpeg or webp; mp3, wav, opus, aac or flac for sound; txt for words; the ending of -o otherwise. What the model cannot give is refused." placeholder:"F"`
	Voice          string   `help:"Who speaks; see atelier models show." placeholder:"NAME"`
	Speed          float64  `help:"How fast, 0.25 to 4." placeholder:"X"`
	Partials       bool     `help:"Ask for preview frames and show how they come; some providers bill them."`
	Compression    *int     `help:"0 to 100, for jpeg and webp." placeholder:"N"`
	Option         []string `help:"A provider's own option, PROVIDER.NAME=VALUE; repeatable." placeholder:"P.N=V" sep:"none"`
	Strict         bool     `help:"Refuse instead of adapting or dropping a setting."`
	DryRun         bool     `help:"Show what would be asked, what it would cost and whether the budgets let it; call nobody."`
	Wait           string   `help:"Go on with an operation that was left running, or whose process died." placeholder:"OPERATION"`
	Output         string   `short:"o" help:"The file to write; with several results NAME-1, NAME-2. A single result goes to standard output with -." placeholder:"FILE"`
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
	// Marking says how that file tells that AI made it; empty where no model did. Size and digest
	// are those of what is stored: a file into which the label was written has others.
	Marking imaging.Marking `json:"marking,omitempty"`
}

func viewOf(o media.Output, file copied) outputView {
	return outputView{o.Ref, o.Modality, o.MIMEType, o.Width, o.Height, o.DurationSeconds, o.SizeBytes, o.Digest, o.Label, file.path, file.marking}
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
	Safety        *generate.Safety    `json:"safety,omitempty"`
}

// Run generates.
func (c *generateCmd) Run(w *world) error {
	w, err := c.piped(w)
	if err != nil {
		return err
	}
	if c.Wait != "" {
		return c.wait(w)
	}
	req, err := c.request()
	if err != nil {
		return err
	}
	p := newProgress(w, c.JSON)
	return w.withApp(appConfig{events: p.generation, partials: c.Partials}, func(a *app) error {
		wanted, end := w.until(generate.ErrLetGo)
		defer end()
		ctx := scoped(wanted, uuid.Must(uuid.NewV7()).String())
		if err := c.fill(ctx, a, &req); err != nil {
			return err
		}
		if len(c.Model) > 1 {
			return c.compare(ctx, w, a, req, p)
		}
		if plan, _ := a.gateway.Rehearse(ctx, req); plan != nil { // what is wrong with the request is said below
			if err := c.writable(plan); err != nil {
				return err
			}
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
			return c.print(ctx, w, a, res)
		}
		// A refusal before any call has a result: the settings that were refused. The
		// exit code is the refusal's.
		switch {
		case res == nil:
		case c.JSON:
			_ = c.print(ctx, w, a, res)
		default:
			w.dispositions(res.Dispositions)
		}
		return err
	})
}

// leaveGrace is how long a call that cannot be asked for again may go on after Ctrl-C.
const leaveGrace = 30 * time.Second

// wait goes on with an operation. Ctrl-C ends the waiting and not the operation.
func (c *generateCmd) wait(w *world) error {
	if strings.TrimSpace(c.Prompt) != "" || len(c.Model)+len(c.Edit) > 0 || c.Vary != "" {
		return media.Errorf(media.CodeInvalid, "--wait goes on with %s as it was asked for: leave prompt, model and pictures out", c.Wait)
	}
	p := newProgress(w, c.JSON)
	return w.withApp(appConfig{events: p.generation, partials: c.Partials}, func(a *app) error {
		if err := c.fits(w.ctx, a, c.Wait); err != nil {
			return err
		}
		if err := c.prepare(); err != nil {
			return err
		}
		ctx, end := w.until(journal.Leave(leaveGrace))
		defer end()
		res, err := a.gateway.Resume(scoped(ctx, ""), c.Wait)
		p.clear()
		if err != nil {
			return err
		}
		return c.print(ctx, w, a, res)
	})
}

func (c *generateCmd) request() (generate.Request, error) {
	r := generate.Request{
		Prompt: c.Prompt, NegativePrompt: c.NegativePrompt, Size: c.Size, AspectRatio: c.AspectRatio,
		Quality: c.Quality, Style: c.Style, Background: c.Background, Seed: c.Seed, OutputFormat: c.Format,
		Compression: c.Compression, Strict: c.Strict, Voice: c.Voice, Speed: c.Speed,
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
	format, err := formatOf(c.Output)
	switch {
	case err != nil:
		return r, err
	case r.OutputFormat == "":
		r.OutputFormat = format
	case format != "" && format != strings.Replace(strings.ToLower(r.OutputFormat), "jpg", "jpeg", 1):
		return r, media.Errorf(media.CodeInvalid, "--format %s and -o %s do not agree: leave --format out, or end the name in it", r.OutputFormat, c.Output)
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

// formatOf is the format that the ending of a file names; empty for standard output and for no
// file.
func formatOf(file string) (string, error) {
	if file == "" || file == toStdout {
		return "", nil
	}
	switch ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), ".")); ending {
	case "jpg":
		return "jpeg", nil
	case "ogg":
		return "opus", nil
	case "png", "jpeg", "webp", "gif", "svg", "mp3", "wav", "opus", "aac", "flac", "txt":
		return ending, nil
	}
	return "", media.Errorf(media.CodeInvalid, "-o %s: end the name in .png, .jpg or .webp; for sound in .mp3, .wav, .opus, .aac or .flac; for words in .txt", file)
}

// writable refuses, before anything is made, a file that the results of a plan cannot be
// written to as it was asked.
func (c *generateCmd) writable(p *generate.Plan) error {
	if c.Output == toStdout && p.Makes > 1 {
		return media.Errorf(media.CodeInvalid, "-o - takes one result and %s makes %d: ask for one with -n 1, or name a file", p.Model.Name, p.Makes)
	}
	asked := "-o " + c.Output
	if c.Format != "" {
		asked = "--format " + c.Format
	}
	for _, d := range p.Dispositions {
		if d.Setting == "output_format" && d.Outcome == generate.OutcomeDropped {
			return media.Errorf(media.CodeUnsupported, "%s cannot be made: %s. Nothing was made", asked, d.Reason)
		}
	}
	return nil
}

// fits refuses a file for the results of an operation that was begun before and makes
// something else.
func (c *generateCmd) fits(ctx context.Context, a *app, operation string) error {
	format, err := formatOf(c.Output)
	if err != nil || c.Output == "" {
		return err
	}
	o, slots, _, err := a.ledger.Operation(ctx, owner, operation)
	if err != nil {
		return err
	}
	if c.Output == toStdout && len(slots) > 1 {
		return media.Errorf(media.CodeInvalid, "-o - takes one result, and operation %s makes %d: name a file", o.ID, len(slots))
	}
	if makes := modalityOf(format); makes != "" && o.Modality != "" && makes != o.Modality {
		return media.Errorf(media.CodeInvalid, "-o %s is for %s, and operation %s makes %s: end the name otherwise", c.Output, makes, o.ID, o.Modality)
	}
	return nil
}

// modalityOf is what a format holds; empty for words, which models of any kind may answer with.
func modalityOf(format string) media.Modality {
	switch format {
	case "", "txt":
		return ""
	case "mp3", "wav", "opus", "aac", "flac":
		return media.ModalityAudio
	}
	return media.ModalityImage
}

// numbered is the name of one of several files.
func numbered(name string, index, of int) string {
	if name == "" || of < 2 {
		return name
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(index) + ext
}

// piped is the world for a command with -o -: the bytes take standard output.
func (c *generateCmd) piped(w *world) (*world, error) {
	switch {
	case c.Output != toStdout:
		return w, nil
	case c.JSON:
		return nil, media.Errorf(media.CodeInvalid, "-o - and --json both write to standard output: name a file, or leave --json out")
	case len(c.Model) > 1:
		return nil, media.Errorf(media.CodeInvalid, "-o - takes one result, and a comparison makes several: name a file")
	}
	return w.piped(), nil
}

// prepare checks that files can be written where -o says, before anything is paid for.
func (c *generateCmd) prepare() error {
	if c.Output == "" || c.Output == toStdout {
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

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

	"atelier/agent"
	"atelier/generate"
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
	Format         string   `help:"png, jpeg or webp; mp3, wav, opus, aac or flac for sound; txt for words; the ending of -o otherwise." placeholder:"F"`
	Voice          string   `help:"Who speaks; see atelier models show." placeholder:"NAME"`
	Speed          float64  `help:"How fast, 0.25 to 4." placeholder:"X"`
	Partials       bool     `help:"Ask for preview frames and show how they come; some providers bill them."`
	Compression    *int     `help:"0 to 100, for jpeg and webp." placeholder:"N"`
	Option         []string `help:"A provider's own option, PROVIDER.NAME=VALUE; repeatable." placeholder:"P.N=V" sep:"none"`
	Strict         bool     `help:"Refuse instead of adapting or dropping a setting."`
	DryRun         bool     `help:"Show what would be asked, what it would cost and whether the budgets let it; call nobody. It needs no key."`
	Wait           string   `help:"Go on with an operation that was left running, or whose process died." placeholder:"OPERATION"`
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
	Safety        *generate.Safety    `json:"safety,omitempty"`
}

// Run generates.
func (c *generateCmd) Run(w *world) error {
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
			refused := resultView(res, []slotView{})
			refused["error"] = generate.SlotError{Code: media.CodeOf(err), Message: media.ErrorText(err.Error())}
			_ = w.printJSON(refused) // err is what ends the command
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
	return w.withApp(appConfig{events: p.generation, partials: c.Partials}, func(a *app) (err error) {
		if c.Wait, err = a.operationID(w.ctx, c.Wait); err != nil {
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
	case ".webp", ".mp3", ".wav", ".opus", ".aac", ".flac", ".txt":
		return strings.ToLower(filepath.Ext(file)[1:]), nil
	}
	return "", media.Errorf(media.CodeInvalid, "-o %s: end the name in .png, .jpg or .webp; for sound in .mp3, .wav, .opus, .aac or .flac; for words in .txt", file)
}

// numbered is the name of one of several files.
func numbered(name string, index, of int) string {
	if name == "" || of < 2 {
		return name
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(index) + ext
}

// save copies one result to a file; the ending follows the bytes.
func save(ctx context.Context, a *app, o media.Output, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	ext := filepath.Ext(name)
	if real := filepath.Ext(agent.FileName(o)); !sameFormat(ext, real) {
		name = strings.TrimSuffix(name, ext) + real
	}
	// What is paid for is written even if the command is being cancelled.
	in, err := a.codec.Open(context.WithoutCancel(ctx), o.Digest)
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

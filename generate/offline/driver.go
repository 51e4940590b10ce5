package offline

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"image"
	"io"
	"math"
	"strings"
	"time"

	"atelier/generate"
	"atelier/imaging"
	"atelier/media"
)

// Provider is the driver's key in the catalogue.
const Provider = "offline"

// The sides that the driver draws, in pixels.
const (
	MinSide     = 64
	MaxSide     = 4096
	defaultSide = 1024
)

// Note is what the metadata of every result says about its origin.
const Note = "drawn by rule, not by an AI model"

// Store keeps finished pictures and gives those to edit; *wire.Codec is one.
type Store interface {
	// Store keeps what r holds and reports digest, size and sniffed facts.
	Store(ctx context.Context, r io.Reader, declaredMIME string) (media.Blob, error)
	// Open reads a stored picture; the caller closes it.
	Open(ctx context.Context, d media.Digest) (io.ReadCloser, error)
}

// Config says where pictures go.
type Config struct {
	// Store is required.
	Store Store
	// Concurrent is how many pictures are drawn at once over all calls, each
	// holding 12 bytes a pixel while it is drawn; 0 means 2.
	Concurrent int
}

// Driver draws and edits pictures, and makes sounds, by rule. It is safe for concurrent use.
type Driver struct {
	store Store
	slots chan struct{} // one token per picture being drawn
}

var _ generate.Driver = (*Driver)(nil)

// New makes a driver. It fails with media.CodeInvalid if there is no store.
func New(c Config) (*Driver, error) {
	if c.Store == nil {
		return nil, media.Errorf(media.CodeInvalid, "offline driver: set Config.Store")
	}
	if c.Concurrent <= 0 {
		c.Concurrent = 2
	}
	return &Driver{store: c.Store, slots: make(chan struct{}, c.Concurrent)}, nil
}

// Provider implements [generate.Driver].
func (d *Driver) Provider() string { return Provider }

// Ready implements [generate.Driver]; the driver is always ready.
func (d *Driver) Ready() error { return nil }

// Start draws Task.N pictures one after the other. Picture i, from 0, has the seed
// Task.Seed + i, or, without a seed, one that follows from the prompt, so that any of
// them can be drawn again alone. Edits adjust colours as the words say, or draw what is
// new; a mask's transparent pixels are all that changes. Variations follow the seed.
// Models of audio speak instead. Task.Options scripts faults: see [Script].
func (d *Driver) Start(ctx context.Context, t generate.Task) (generate.Update, error) {
	up := generate.Update{Done: true, Progress: 1, Metadata: map[string]any{"generator": "atelier-offline", "note": Note}}
	if err := ctx.Err(); err != nil {
		return up, err
	}
	if t.Model.Modality == media.ModalityAudio {
		return d.speak(ctx, t, up)
	}
	paint := scenes
	if t.Method == generate.MethodEdit || t.Method == generate.MethodVariation {
		w, err := d.open(ctx, &t)
		if err != nil {
			return up, err
		}
		up.Metadata["note"] = EditNote
		paint = w.painter(t.Method)
	}
	job, err := plan(t)
	if err != nil {
		return up, err
	}
	job.painter = paint
	if err := job.script.call(ctx); err != nil {
		return up, err
	}
	for i := range max(1, t.N) {
		item, err := d.slot(ctx, job, t, i)
		if err != nil {
			return up, err
		}
		if item.Blob != nil {
			up.Usage.Images++
		}
		up.Items = append(up.Items, item)
	}
	up.Usage.Calls = 1
	return up, nil
}

// Poll implements [generate.Driver]; the driver finishes in Start.
func (d *Driver) Poll(context.Context, generate.Task, generate.Handle) (generate.Update, error) {
	return generate.Update{}, media.Errorf(media.CodeUnsupported, "the offline model has no tasks to poll: results come from Start")
}

// Cancel implements [generate.Driver]; cancelling the context of Start is enough.
func (d *Driver) Cancel(context.Context, generate.Handle) error { return nil }

// job is a task after its settings have been read.
type job struct {
	w, h    int
	seed    int64
	format  string
	quality int // of jpeg and webp, 1 to 100
	script  Script
	painter painter
}

// painter makes a picture, and the label of files that hold it.
type painter struct {
	paint func(ctx context.Context, sp spec) (image.Image, error)
	label imaging.Label
}

// scenes draws pictures from nothing.
var scenes = painter{paint: draw, label: label(Note)}

// painter edits or varies.
func (w *work) painter(m generate.Method) painter {
	p := painter{paint: w.edit, label: label(EditNote)}
	if m == generate.MethodVariation {
		p.paint = w.vary
	}
	if !w.label.IsZero() { // what a model made stays marked as such
		p.label = w.label
	}
	return p
}

func plan(t generate.Task) (job, error) {
	j := job{w: t.Width, h: t.Height, format: "png", quality: 92}
	if j.w == 0 && j.h == 0 {
		j.w, j.h = ratioSides(t.AspectRatio)
	}
	if j.w == 0 {
		j.w = j.h
	}
	if j.h == 0 {
		j.h = j.w
	}
	if min(j.w, j.h) < MinSide || max(j.w, j.h) > MaxSide {
		return j, media.Errorf(media.CodeInvalid, "size %dx%d: the offline model draws %d to %d pixels a side", j.w, j.h, MinSide, MaxSide)
	}
	switch f := strings.ToLower(t.OutputFormat); f {
	case "", "png":
	case "jpeg", "jpg", "webp":
		j.format = strings.Replace(f, "jpg", "jpeg", 1)
		if t.Compression != nil {
			j.quality = min(100, max(1, *t.Compression))
		}
	default:
		return j, media.Errorf(media.CodeUnsupported, "output format %q: the offline model writes png, jpeg and webp", f)
	}
	j.seed = promptSeed(t.Prompt)
	if t.Seed != nil {
		j.seed = *t.Seed
	}
	var err error
	j.script, err = parseScript(t.Options)
	return j, err
}

// ratioSides turns W:H into sides of about one megapixel; a square if it says nothing.
func ratioSides(ratio string) (w, h int) {
	var a, b float64
	if n, _ := fmt.Sscanf(ratio, "%g:%g", &a, &b); n != 2 || a <= 0 || b <= 0 {
		return defaultSide, defaultSide
	}
	r := math.Sqrt(min(8, max(0.125, a/b)))
	side := func(v float64) int { return int(math.Round(v*defaultSide/16)) * 16 }
	return side(r), side(1 / r)
}

// promptSeed gives a prompt its own positive seed, small enough to be typed and to
// survive JSON numbers.
func promptSeed(prompt string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(words(prompt), " "))) // a hash does not fail
	return int64(h.Sum32() >> 1)
}

// slot draws one picture. An error ends the call; a picture's own fault is in its item.
func (d *Driver) slot(ctx context.Context, j job, t generate.Task, i int) (generate.Item, error) {
	seed := j.seed + int64(i)
	item := generate.Item{Seed: &seed}
	if fault := j.script.slot(i + 1); fault != nil {
		return refused(fault), nil
	}
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return item, ctx.Err()
	}
	if err := d.previews(ctx, j, t, i); err != nil {
		return item, err
	}
	img, err := j.painter.paint(ctx, spec{w: j.w, h: j.h, seed: seed, prompt: t.Prompt, negative: t.NegativePrompt, style: t.Style})
	if err != nil {
		return item, err
	}
	b, err := d.keep(ctx, j, img)
	if err != nil {
		return item, err
	}
	item.Blob = &b
	return item, nil
}

// previews sends what the script asks for: small, then larger versions of the picture.
func (d *Driver) previews(ctx context.Context, j job, t generate.Task, i int) error {
	if t.Partial == nil {
		return nil
	}
	for k := range j.script.Partials {
		f := float64(k+1) / float64(j.script.Partials+1)
		sp := spec{prompt: t.Prompt, negative: t.NegativePrompt, style: t.Style, seed: j.seed + int64(i)}
		sp.w, sp.h = max(MinSide, int(f*float64(j.w))), max(MinSide, int(f*float64(j.h)))
		img, err := j.painter.paint(ctx, sp)
		if err != nil {
			return err
		}
		b, err := d.keep(ctx, j, img)
		if err != nil {
			return err
		}
		t.Partial(i+1, b)
	}
	return nil
}

// keep encodes and stores a picture. Storing outlives a cancelled call: a picture
// that was drawn is never thrown away.
func (d *Driver) keep(ctx context.Context, j job, img image.Image) (media.Blob, error) {
	var buf bytes.Buffer
	if err := encode(&buf, img, j); err != nil {
		return media.Blob{}, fmt.Errorf("encode picture: %w", err)
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer stop()
	b, err := d.store.Store(ctx, &buf, "image/"+j.format)
	if err != nil {
		return media.Blob{}, fmt.Errorf("store picture: %w", err)
	}
	return b, nil
}

package offline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/imaging"
)

// Provider is the driver's key in the catalogue.
const Provider = "offline"

// Limits of the sides that the driver draws, and the default, in pixels.
const (
	MinSide     = 64
	MaxSide     = 4096
	defaultSide = 1024
)

// Note is the statement of origin in the metadata of every drawn result.
const Note = "drawn by rule, not by an AI model"

// Config sets up a [Driver].
type Config struct {
	// Store is required.
	Store media.Storage
}

// maxConcurrentResults is how many results are made at once over all calls; a picture takes 12 bytes per pixel while it
// is drawn.
const maxConcurrentResults = 2

// Driver draws and edits pictures, and makes sounds, by rule. It is safe for concurrent use.
type Driver struct {
	driver.Synchronous
	store media.Storage
	slots chan struct{} // one token per result being made
}

var _ driver.Driver = (*Driver)(nil)

// New creates a driver. It returns media.CodeInvalid if there is no store.
func New(c Config) (*Driver, error) {
	if c.Store == nil {
		return nil, media.Errorf(media.CodeInvalid, "offline driver: set Config.Store")
	}
	return &Driver{store: c.Store, slots: make(chan struct{}, maxConcurrentResults)}, nil
}

// Provider implements [driver.Driver].
func (d *Driver) Provider() string { return Provider }

// Ready implements [driver.Driver]; the driver is always ready.
func (d *Driver) Ready() error { return nil }

// Start makes Task.N pictures, or sounds with an audio model, one after the other. The first result has the seed
// Task.Seed; without a seed, that of the request's first result is derived from the prompt. The seeds of other results
// differ by their distance in Task.Slots. Each result can thus be made again alone.
// Edits adjust colours by the prompt, or draw new things; only a mask's transparent pixels change. Variations follow
// the seed. A picture's metadata lists, under "unknown_words", what it does not show. Task.Options scripts faults: see
// [Script].
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	up := driver.Update{Done: true, Progress: 1, Metadata: map[string]any{"generator": "atelier-offline"}}
	if err := ctx.Err(); err != nil {
		return up, err
	}
	script, err := parseScript(t.Options)
	if err != nil {
		return up, err
	}
	var j job
	if t.Model.Modality == media.ModalityAudio {
		j, err = speaker(&t)
	} else {
		j, err = d.painter(ctx, &t)
	}
	up.Metadata["note"] = j.note
	if err != nil {
		return up, err
	}
	j.script = script
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(strings.Fields(strings.ToLower(t.Prompt)), " "))) // a hash does not fail
	j.seed = int64(h.Sum32() >> 1)                                                       // positive, small enough to be typed and to be exact as a JSON number
	if t.Seed != nil {
		j.seed = *t.Seed
	}
	select {
	case <-time.After(time.Duration(script.DelayMS) * time.Millisecond):
	case <-ctx.Done():
		return up, ctx.Err()
	}
	if script.Fail != "" {
		return up, media.Errorf(script.Fail, "the offline model was told to fail (options.offline.fail)")
	}
	first := 1 // Task.Seed is that of the first result
	if t.Seed != nil && len(t.Slots) > 0 {
		first = t.Slots[0]
	}
	for i := range max(1, t.N) {
		step := i
		if i < len(t.Slots) {
			step = t.Slots[i] - first
		}
		item, err := d.item(ctx, j, i, j.seed+int64(step))
		if err != nil {
			return up, err
		}
		up.Usage.Images += btoi(item.Blob != nil)
		up.Items = append(up.Items, item)
	}
	up.Usage.Calls = 1
	return up, nil
}

// job is a task after its settings have been read.
type job struct {
	script     Script
	seed       int64
	note, mime string
	followed   string         // the words that the results follow
	metadata   map[string]any // the metadata of every result
	partial    func(slot int, b media.Blob)
	make       func(ctx context.Context, seed int64, size float64) (io.Reader, error) // size is below 1 for a preview
}

// painter reads a task for pictures.
func (d *Driver) painter(ctx context.Context, t *driver.Task) (job, error) {
	paint, j, label := draw, job{note: Note, partial: t.Partial}, imaging.Label{}
	if t.Method == generate.MethodEdit || t.Method == generate.MethodVariation {
		w, err := d.open(ctx, t)
		if err != nil {
			return j, err
		}
		paint, j.note, label = w.edit, EditNote, w.label
		if t.Method == generate.MethodVariation {
			paint = w.vary
		}
	}
	if label.IsZero() { // a picture that a model made keeps its label
		label = imaging.Label{SourceType: imaging.SourceAlgorithmic, Software: "atelier-offline", Description: "Picture " + j.note + "."}
	}
	j.followed, j.metadata = followedWords(t)
	format := cmp.Or(strings.Replace(strings.ToLower(t.OutputFormat), "jpg", "jpeg", 1), "png")
	j.mime = "image/" + format
	w, h, err := sizeOf(t)
	if err == nil && !among("png jpeg webp", format) {
		err = media.Errorf(media.CodeUnsupported, "output format %q: the offline model writes png, jpeg and webp", format)
	}
	j.make = func(ctx context.Context, seed int64, size float64) (io.Reader, error) {
		sp := spec{prompt: t.Prompt, negative: t.NegativePrompt, style: t.Style, seed: seed}
		sp.w, sp.h = max(MinSide, int(size*float64(w))), max(MinSide, int(size*float64(h)))
		img, err := paint(ctx, sp)
		if err != nil {
			return nil, err
		}
		quality, buf := 92, &yielding{}
		if t.Compression != nil {
			quality = min(100, max(1, *t.Compression))
		}
		switch format {
		case "jpeg":
			return buf, imaging.EncodeJPEG(buf, img, quality, label)
		case "webp":
			return buf, imaging.EncodeWebP(buf, img, quality, label)
		}
		return buf, imaging.EncodePNG(buf, img, label)
	}
	return j, err
}

// yielding lets other goroutines run after each write, as drawing does after each row.
type yielding struct{ bytes.Buffer }

// Write implements io.Writer.
func (y *yielding) Write(p []byte) (int, error) {
	runtime.Gosched()
	return y.Buffer.Write(p)
}

// sizeOf returns the size of the pictures of a task. Without one, it is about a megapixel, a square without a ratio.
func sizeOf(t *driver.Task) (w, h int, err error) {
	w, h = cmp.Or(t.Width, t.Height), cmp.Or(t.Height, t.Width)
	if w == 0 {
		var a, b float64
		if n, _ := fmt.Sscanf(t.AspectRatio, "%g:%g", &a, &b); n != 2 || a <= 0 || b <= 0 {
			a, b = 1, 1
		}
		r := math.Sqrt(min(8, max(0.125, a/b)))
		w, h = int(math.Round(r*defaultSide/16))*16, int(math.Round(defaultSide/r/16))*16
	}
	if min(w, h) < MinSide || max(w, h) > MaxSide {
		err = media.Errorf(media.CodeInvalid, "size %dx%d: the offline model draws %d to %d pixels a side", w, h, MinSide, MaxSide)
	}
	return w, h, err
}

// item makes one result. An error ends the call; a scripted fault is in the item.
func (d *Driver) item(ctx context.Context, j job, i int, seed int64) (driver.Item, error) {
	if item, scripted := j.script.fault(i + 1); scripted {
		return item, nil
	}
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return driver.Item{}, ctx.Err()
	}
	for k := range j.script.Partials * btoi(j.partial != nil) {
		b, err := d.result(ctx, j, seed, float64(k+1)/float64(j.script.Partials+1))
		if err != nil {
			return driver.Item{}, err
		}
		j.partial(i+1, b)
	}
	b, err := d.result(ctx, j, seed, 1)
	if err != nil {
		return driver.Item{}, err
	}
	return driver.Item{Blob: &b, Seed: &seed, RevisedPrompt: j.followed, Metadata: j.metadata}, nil
}

// result makes and stores the result of a seed, even if the call is cancelled meanwhile: finished results are never
// discarded.
func (d *Driver) result(ctx context.Context, j job, seed int64, size float64) (media.Blob, error) {
	r, err := j.make(ctx, seed, size)
	if err != nil {
		return media.Blob{}, err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer stop()
	b, err := d.store.Store(ctx, r, j.mime)
	if err != nil {
		return b, fmt.Errorf("store %s: %w", j.mime, err)
	}
	return b, nil
}

// followedWords returns the words of a task that the pictures follow, and metadata with those that they do not.
func followedWords(t *driver.Task) (followed string, metadata map[string]any) {
	b := readDrawing(t.Prompt, t.NegativePrompt, t.Style)
	unknown := b.unknown
	edit := readWish(t.Prompt, true)
	if t.Method == generate.MethodVariation || t.Method == generate.MethodEdit && (t.Mask == nil || !edit.paints(t.Prompt)) {
		b, unknown = edit, slices.DeleteFunc(Painter{}.UnknownChanges(t.Prompt), func(w string) bool {
			return t.Mask != nil && !slices.Contains(unknown, w) // the mask says which thing is meant
		})
	}
	if strings.TrimSpace(t.Prompt+t.Style) != "" && len(unknown) > 0 {
		metadata = map[string]any{"unknown_words": unknown}
	}
	var shown []string
	for _, p := range b.shown {
		shown = append(shown, p[1])
	}
	return strings.Join(slices.Compact(shown), ", "), metadata
}

// Script makes the driver misbehave on purpose, for tests of its users. It is read from the task's options under the
// JSON names below; slots count from 1.
type Script struct {
	// DelayMS is a delay before drawing, in milliseconds, at most 600,000; a cancelled context ends it.
	DelayMS int `json:"delay_ms"`
	// Partials is the number of preview frames per picture; at most 8.
	Partials int `json:"partials"`
	// FailSlots are the slots that fail with media.CodeUnavailable, retryable.
	FailSlots []int `json:"fail_slots"`
	// ModerateSlots are the slots that fail with media.CodeModerated.
	ModerateSlots []int `json:"moderate_slots"`
	// Fail, if set, fails the whole call with this code.
	Fail media.Code `json:"fail"`
}

func parseScript(options map[string]any) (Script, error) {
	var s Script
	raw, err := json.Marshal(options)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return s, media.Errorf(media.CodeInvalid, "offline options: %w", err)
	}
	if s.DelayMS < 0 || s.DelayMS > 600_000 || s.Partials < 0 || s.Partials > 8 {
		return s, media.Errorf(media.CodeInvalid, "offline options: delay_ms is 0 to 600000, partials 0 to 8")
	}
	return s, nil
}

// fault returns the scripted fault of a slot, if any.
func (s Script) fault(n int) (item driver.Item, scripted bool) {
	switch {
	case slices.Contains(s.FailSlots, n):
		item.Err = media.Errorf(media.CodeUnavailable, "the offline model was told to fail picture %d (options.offline.fail_slots)", n)
	case slices.Contains(s.ModerateSlots, n):
		item.Err = media.Errorf(media.CodeModerated, "the offline model was told to refuse picture %d (options.offline.moderate_slots)", n)
		item.Safety = &generate.Safety{Blocked: true, Stage: "output", Categories: []string{"scripted"}}
	}
	return item, item.Err != nil
}

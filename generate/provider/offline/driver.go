package offline

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"image"
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

// Store stores results and returns input pictures; *wire.Codec implements it.
type Store interface {
	// Store stores the content of r and returns its digest, size and sniffed facts.
	Store(ctx context.Context, r io.Reader, declaredMIME string) (media.Blob, error)
	// Open reads a stored picture; the caller closes it.
	Open(ctx context.Context, d media.Digest) (io.ReadCloser, error)
}

// Config sets up a [Driver].
type Config struct {
	// Store is required.
	Store Store
}

// maxConcurrentResults is how many results are made at once over all calls; a picture takes 12 bytes per pixel while it
// is drawn.
const maxConcurrentResults = 2

// Driver draws and edits pictures, and makes sounds, by rule. It is safe for concurrent use.
type Driver struct {
	driver.Synchronous
	store Store
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

// Start makes Task.N pictures, or sounds with an audio model, one after the other. Result i, from 0, has the seed
// Task.Seed + i; without a seed, the base seed is derived from the prompt. Each result can thus be made again alone.
// Edits adjust colours by the prompt, or draw new things; only a mask's transparent pixels change. Variations follow
// the seed. A picture's metadata lists, under "unknown_words", what it does not show. Task.Options scripts faults: see
// [Script].
func (d *Driver) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	up := driver.Update{Done: true, Progress: 1, Metadata: map[string]any{"generator": "atelier-offline", "note": Note}}
	if err := ctx.Err(); err != nil {
		return up, err
	}
	script, err := parseScript(t.Options)
	if err != nil {
		return up, err
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.Join(strings.Fields(strings.ToLower(t.Prompt)), " "))) // a hash does not fail
	j := job{script: script}
	j.seed = int64(h.Sum32() >> 1) // positive, small enough to be typed and to be exact as a JSON number
	if t.Seed != nil {
		j.seed = *t.Seed
	}
	if t.Model.Modality == media.ModalityAudio {
		up.Metadata["note"], t.Partial = SpeechNote, nil
		j.make, err = d.speaker(t)
	} else {
		up.Metadata["note"], j.make, err = d.painter(ctx, &t)
		j.used, j.metadata = followedWords(t)
	}
	if err != nil {
		return up, err
	}
	select {
	case <-time.After(time.Duration(script.DelayMS) * time.Millisecond):
	case <-ctx.Done():
		return up, ctx.Err()
	}
	if script.Fail != "" {
		return up, media.Errorf(script.Fail, "the offline model was told to fail (options.offline.fail)")
	}
	for i := range max(1, t.N) {
		item, err := d.makeResult(ctx, j, t.Partial, i)
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

// job is a task after its settings have been read.
type job struct {
	script   Script
	seed     int64
	used     string         // the words that the results follow
	metadata map[string]any // the metadata of every result
	make     maker
}

// maker makes and stores the result of a seed; size is below 1 for a preview.
type maker func(ctx context.Context, seed int64, size float64) (media.Blob, error)

// painter returns the maker of pictures, and a note of their origin.
func (d *Driver) painter(ctx context.Context, t *driver.Task) (note string, m maker, err error) {
	paint, note, mark := draw, Note, label(Note)
	if t.Method == generate.MethodEdit || t.Method == generate.MethodVariation {
		w, err := d.open(ctx, t)
		if err != nil {
			return note, nil, err
		}
		paint, note, mark = w.edit, EditNote, label(EditNote)
		if t.Method == generate.MethodVariation {
			paint = w.vary
		}
		if !w.label.IsZero() { // a picture that a model made keeps its label
			mark = w.label
		}
	}
	f, err := formatOf(t)
	if err != nil {
		return note, nil, err
	}
	f.label = mark
	return note, func(ctx context.Context, seed int64, size float64) (media.Blob, error) {
		sp := spec{prompt: t.Prompt, negative: t.NegativePrompt, style: t.Style, seed: seed}
		sp.w, sp.h = max(MinSide, int(size*float64(f.w))), max(MinSide, int(size*float64(f.h)))
		img, err := paint(ctx, sp)
		if err != nil {
			return media.Blob{}, err
		}
		var buf bytes.Buffer
		if err := f.encode(&buf, img); err != nil {
			return media.Blob{}, fmt.Errorf("encode picture: %w", err)
		}
		return d.storeUncancelled(ctx, &buf, "image/"+f.name)
	}, nil
}

// storeUncancelled stores a result, even after the call was cancelled: finished results are never discarded.
func (d *Driver) storeUncancelled(ctx context.Context, r io.Reader, mime string) (media.Blob, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer stop()
	b, err := d.store.Store(ctx, r, mime)
	if err != nil {
		return media.Blob{}, fmt.Errorf("store %s: %w", mime, err)
	}
	return b, nil
}

// makeResult makes one result. An error ends the call; a scripted fault is in the item.
func (d *Driver) makeResult(ctx context.Context, j job, partial func(int, media.Blob), i int) (driver.Item, error) {
	seed := j.seed + int64(i)
	if fault := j.script.slot(i + 1); fault != nil {
		item := driver.Item{Err: fault}
		if fault.Code == media.CodeModerated {
			item.Safety = &generate.Safety{Blocked: true, Stage: "output", Categories: []string{"scripted"}}
		}
		return item, nil
	}
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return driver.Item{}, ctx.Err()
	}
	for k := range j.script.Partials * btoi(partial != nil) {
		b, err := j.make(ctx, seed, float64(k+1)/float64(j.script.Partials+1))
		if err != nil {
			return driver.Item{}, err
		}
		partial(i+1, b)
	}
	b, err := j.make(ctx, seed, 1)
	if err != nil {
		return driver.Item{}, err
	}
	return driver.Item{Blob: &b, Seed: &seed, RevisedPrompt: j.used, Metadata: j.metadata}, nil
}

// format is the file format of pictures.
type format struct {
	w, h    int
	name    string // png, jpeg or webp
	quality int    // of jpeg and webp, 1 to 100
	label   imaging.Label
}

func formatOf(t *driver.Task) (format, error) {
	f := format{w: t.Width, h: t.Height, name: "png", quality: 92}
	if f.w == 0 && f.h == 0 { // about one megapixel; a square if it is not a ratio
		var a, b float64
		if n, _ := fmt.Sscanf(t.AspectRatio, "%g:%g", &a, &b); n != 2 || a <= 0 || b <= 0 {
			f.w, f.h = defaultSide, defaultSide
		} else {
			r := math.Sqrt(min(8, max(0.125, a/b)))
			side := func(v float64) int { return int(math.Round(v*defaultSide/16)) * 16 }
			f.w, f.h = side(r), side(1/r)
		}
	}
	f.w, f.h = cmp.Or(f.w, f.h), cmp.Or(f.h, f.w)
	if min(f.w, f.h) < MinSide || max(f.w, f.h) > MaxSide {
		return f, media.Errorf(media.CodeInvalid, "size %dx%d: the offline model draws %d to %d pixels a side", f.w, f.h, MinSide, MaxSide)
	}
	switch name := strings.ToLower(t.OutputFormat); name {
	case "", "png":
	case "jpeg", "jpg", "webp":
		f.name = strings.Replace(name, "jpg", "jpeg", 1)
		if t.Compression != nil {
			f.quality = min(100, max(1, *t.Compression))
		}
	default:
		return f, media.Errorf(media.CodeUnsupported, "output format %q: the offline model writes png, jpeg and webp", name)
	}
	return f, nil
}

// label returns the provenance label of pictures that this driver makes.
func label(note string) imaging.Label {
	return imaging.Label{SourceType: imaging.SourceAlgorithmic, Software: "atelier-offline", Description: "Picture " + note + "."}
}

// encode writes a picture with its provenance label.
func (f format) encode(w io.Writer, img image.Image) error {
	w = yielding{w}
	switch f.name {
	case "jpeg":
		return imaging.EncodeJPEG(w, img, f.quality, f.label)
	case "webp":
		return imaging.EncodeWebP(w, img, f.quality, f.label)
	}
	return imaging.EncodePNG(w, img, f.label)
}

// yielding lets other goroutines run after each write, like [canvas.yieldAfterPixels].
type yielding struct{ io.Writer }

// Write implements io.Writer.
func (y yielding) Write(p []byte) (int, error) {
	runtime.Gosched()
	return y.Writer.Write(p)
}

// followedWords returns the words of a task that the pictures follow, and metadata with those that they do not.
func followedWords(t driver.Task) (used string, metadata map[string]any) {
	b := readDrawing(t.Prompt, t.NegativePrompt, t.Style)
	unknown := b.unknown
	edit := readEdit(t.Prompt)
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
		shown = append(shown, p.words)
	}
	return strings.Join(slices.Compact(shown), ", "), metadata
}

package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"atelier/media"
)

// Fetch fetches a media item that has only an address. It checks the address and every redirect, and limits size and
// time. The caller closes the body.
type Fetch func(ctx context.Context, url string) (body io.ReadCloser, contentType string, err error)

// cancelledFetchTimeout is how long an address may still be read after the run was cancelled: the item is paid for, and
// its link expires soon.
const cancelledFetchTimeout = 15 * time.Second

// Interceptor removes media from values: the bytes go to the store, a record to the ledger and the item to the run's
// set. The value keeps a small view of it. It is safe for concurrent use.
type Interceptor struct{ cfg Config }

// Recording returns an interceptor that reports items to another recorder; nil records nothing.
func (i *Interceptor) Recording(r media.Recorder) *Interceptor {
	other := *i
	other.cfg.Recorder = r
	return &other
}

// Target is the destination of intercepted media.
type Target struct {
	// Media is the run's set; required.
	Media *media.Set
	// Source names the action, model or agent that made the media.
	Source string
	// Threshold overrides [Config.Threshold]; 0 keeps it.
	Threshold int
}

// Intercepted is a value without media bytes.
type Intercepted struct {
	// Value holds JSON types only.
	Value any
	// Media are the removed items, in the order of the value.
	Media []media.Output
	// Warnings name items that could not be stored and formats that did not match.
	Warnings []string
}

// Value removes the media from v, which may have any type: JSON types, []byte, io.Reader, media.Output, structs. A
// failed item is replaced with {"error": …}; its siblings stay.
func (i *Interceptor) Value(ctx context.Context, t Target, v any) Intercepted {
	p := i.begin(t)
	safe := p.walk(ctx, v, nested{})
	return Intercepted{Value: safe, Media: p.stored, Warnings: p.warnings}
}

// Text replaces media in the text of a person or a model, including JSON, with placeholders. Only data: URLs and base64
// with a media signature are media. All other text is returned byte for byte.
func (i *Interceptor) Text(ctx context.Context, t Target, s string) (string, Intercepted) {
	p := i.begin(t)
	p.to.Threshold = 0
	s = p.lift(ctx, s)
	return s, Intercepted{Media: p.stored, Warnings: p.warnings}
}

// Store stores the bytes of r, records the item and adds it to the set. It returns [media.CodeTooLarge] for exceeded
// limits and [media.CodeRefCollision] for collisions.
func (i *Interceptor) Store(ctx context.Context, t Target, r io.Reader, m media.Meta) (media.Output, error) {
	return i.begin(t).keep(ctx, r, m)
}

// StoreURL fetches an address with the guard and stores the response as [Interceptor.Store] does.
func (i *Interceptor) StoreURL(ctx context.Context, t Target, url string, m media.Meta) (media.Output, error) {
	return i.begin(t).fetch(ctx, url, m)
}

func (i *Interceptor) begin(t Target) *pass {
	if t.Media == nil {
		t.Media = &media.Set{}
	}
	if t.Threshold <= 0 {
		t.Threshold = i.cfg.Threshold
	}
	return &pass{cfg: i.cfg, to: t, open: map[[2]any]bool{}}
}

// pass is the interception of one value. It is not safe for concurrent use.
type pass struct {
	cfg      Config
	to       Target
	stored   []media.Output
	failures int
	warnings []string
	open     map[[2]any]bool // types and addresses of the pointers and maps that are being walked
}

// keep streams r into the store and admits the blob.
func (p *pass) keep(ctx context.Context, r io.Reader, m media.Meta) (media.Output, error) {
	// Keep what an action made even if its run has been cancelled.
	blob, err := p.cfg.Store.Store(context.WithoutCancel(ctx), r, m.MIMEType)
	if err != nil {
		return media.Output{}, fmt.Errorf("store media: %w", err)
	}
	if blob.SizeBytes == 0 {
		return media.Output{}, media.Errorf(media.CodeInvalid, "a media item is empty: it has no bytes")
	}
	return p.admit(ctx, media.NewOutput(blob, m))
}

// admit records an item whose bytes are stored and adds it to the set.
func (p *pass) admit(ctx context.Context, o media.Output) (media.Output, error) {
	o.Modality = media.ModalityOf(o.MIMEType)
	o.Ref, o.URL = media.RefOf(o.Modality, o.Digest), ""
	have, known := p.to.Media.Lookup(o.Ref)
	if known && have.Digest != o.Digest {
		return p.to.Media.Add(o) // returns the collision
	}
	if !known && p.to.Media.Len() >= p.cfg.MaxItems {
		return media.Output{}, media.Errorf(media.CodeTooLarge, "this run already has %d media items (limit MaxItems)", p.cfg.MaxItems)
	}
	o.Origin.Direction = cmp.Or(o.Origin.Direction, "output")
	o.Origin.Source = cmp.Or(o.Origin.Source, p.to.Source)
	o.Origin.AgentPath = cmp.Or(o.Origin.AgentPath, media.ScopeOf(ctx).AgentPath)
	o.Label = media.ClipLabel(line(o.Label))
	o.Description = line(o.Description)
	name := line(o.FileName)
	o.FileName = clip(name[strings.LastIndexAny(name, `/\`)+1:], 200)
	if p.cfg.Recorder != nil && o.ID == "" {
		recorded, err := p.cfg.Recorder.Record(context.WithoutCancel(ctx), o)
		if media.CodeOf(err) == media.CodeRefCollision {
			return media.Output{}, err
		}
		if err != nil {
			p.warn("%s is stored, but its record was not saved: %s", o, plainError(err))
		} else {
			o = recorded
		}
	}
	added, err := p.to.Media.Add(o)
	if err != nil {
		return media.Output{}, err
	}
	p.stored = append(p.stored, added)
	return added, nil
}

// fetch reads an address at once, because a provider's links expire soon.
func (p *pass) fetch(ctx context.Context, url string, m media.Meta) (media.Output, error) {
	if o, err := p.to.Media.Find(url); err == nil {
		return o, nil // our own link to an item of this run
	}
	if p.cfg.Fetch == nil {
		return media.Output{}, media.Errorf(media.CodeUnsupported, "a media item has only an address, and no fetcher is configured")
	}
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(cancelledFetchTimeout, cancel) })()
	ctx = late
	body, contentType, err := p.cfg.Fetch(ctx, url)
	if err != nil {
		return media.Output{}, fmt.Errorf("fetch media: %w", err)
	}
	defer func() { _ = body.Close() }() // already read to its end or failed
	if m.MIMEType == "" {
		m.MIMEType, _, _ = strings.Cut(contentType, ";")
	}
	return p.keep(ctx, body, m)
}

// item returns the view of a stored item, or the error that replaces it.
func (p *pass) item(o media.Output, err error) any {
	if err != nil {
		p.failures++
		e := shown(err)
		p.warn("a media item of %s was not stored: %s", p.to.Source, e.Message)
		return map[string]any{"error": map[string]any{"code": string(e.Code), "message": e.Message}}
	}
	return View(o)
}

func (p *pass) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// View returns a media item as a model sees it: refId, mimeType, width, height, durationSeconds and label, about 40
// tokens.
func View(o media.Output) map[string]any {
	v := map[string]any{"refId": string(o.Ref), "mimeType": o.MIMEType}
	if o.Width > 0 && o.Height > 0 {
		v["width"], v["height"] = o.Width, o.Height
	}
	if o.DurationSeconds > 0 {
		v["durationSeconds"] = o.DurationSeconds
	}
	if o.Label != "" {
		v["label"] = clip(o.Label, viewLabel)
	}
	return v
}

// viewLabel is the maximum length of a label in a view, in bytes.
const viewLabel = 48

// shown returns err in a form that may be displayed, without bytes, base64 and cause.
func shown(err error) *media.Error {
	e := &media.Error{Code: media.CodeOf(err), Message: plainError(err), Retryable: media.Retryable(err)}
	if coded, ok := errors.AsType[*media.Error](err); ok {
		e.RetryAfter, e.Valid = coded.RetryAfter, coded.Valid
	}
	return e
}

// plainError returns the text of an error, without media and clipped.
func plainError(err error) string { return clip(media.ErrorText(err.Error()), maxMessage) }

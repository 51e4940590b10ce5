package wire

import (
	"bytes"
	"context"

	"atelier/media"
	"atelier/probe"
)

// ValueOptions says how a value that is in memory is lifted.
type ValueOptions struct {
	// Scope signs the tokens; empty means the run tree of the context.
	Scope string
	// Declared says that the value is media whatever its size: all of it is one item.
	Declared bool
	// MIMEType is the declared type; it decides where bytes have no signature.
	MIMEType string
	// Threshold overrides the codec's; 0 means no override.
	Threshold int
}

// LiftBytes stores bytes that are media: declared, with a signature, or base64 text
// of such. It reports false, and stores nothing, if they are none of these. The
// error is that of [Codec.Store].
func (c *Codec) LiftBytes(ctx context.Context, b []byte, o ValueOptions) (media.Blob, bool, error) {
	if len(b) == 0 {
		return media.Blob{}, false, nil
	}
	if probe.Media(b) {
		stored, err := c.Store(ctx, bytes.NewReader(b), o.MIMEType)
		return stored, true, err
	}
	if w, ok := c.wholeValue(b, o); ok {
		l := c.storeRun(ctx, w, o, 1)
		return l.Blob, true, l.Err
	}
	if !o.Declared {
		return media.Blob{}, false, nil
	}
	stored, err := c.Store(ctx, bytes.NewReader(b), o.MIMEType)
	return stored, true, err
}

// LiftString replaces media in a text by tokens: a text that is base64 or a data: URL as
// a whole, at any size if declared, and else data: URLs and long runs anywhere in it:
// from 256 characters with a media signature, also behind a path or a name, and from the
// threshold without one. Standard and URL-safe alphabets, with or without padding, folded and
// indented lines and JSON escapes are read. The items come in order; one that could not be
// taken has its Err and leaves a tombstone.
func (c *Codec) LiftString(ctx context.Context, s string, o ValueOptions) (string, []Lifted) {
	if o.Scope == "" {
		o.Scope = media.ScopeOf(ctx).Tree
	}
	if o.Threshold == 0 {
		o.Threshold = c.threshold
	}
	b := []byte(s)
	if w, ok := c.wholeValue(b, o); ok {
		l := c.storeRun(ctx, w, o, 1)
		return l.Token, []Lifted{l}
	}
	if data, typ, ok := percentData(s); ok && (o.Declared || len(data) >= o.Threshold) {
		l := c.storeItem(ctx, data, typ, o.Scope)
		return l.Token, []Lifted{l}
	}
	var out bytes.Buffer
	var items []Lifted
	at := 0
	for {
		w, ok := nextRun(b, at, o)
		if !ok {
			break
		}
		l := c.storeRun(ctx, w, o, len(items)+1)
		items = append(items, l)
		out.Write(b[at:w.start])
		out.WriteString(l.Token)
		at = w.end
	}
	if len(items) == 0 {
		return s, nil
	}
	out.Write(b[at:])
	return out.String(), items
}

// storeItem stores bytes and names them by a token.
func (c *Codec) storeItem(ctx context.Context, data []byte, typ, scope string) Lifted {
	in := c.begin(ctx, typ, pcmOfType(typ))
	in.write(data)
	l := c.end(ctx, in, scope, 1)
	l.report(collectorOf(ctx), nil)
	return l
}

package wire

import (
	"bytes"
	"context"

	"atelier/media"
)

// ValueOptions are the options of [Codec.LiftString].
type ValueOptions struct {
	// Scope signs the tokens; empty means the run tree of the context.
	Scope string
	// Declared means that the whole value is one item of any size, if it is base64.
	Declared bool
	// MIMEType is the declared type. It applies to bytes that have no signature.
	MIMEType string
	// Threshold is the minimum number of characters at which base64 without a media signature is lifted if it encodes
	// data. It is meant for the results of actions and tools. 0 means that such base64 is never lifted.
	Threshold int
	// tokens makes tokens and tombstones items too.
	tokens bool
}

// LiftString replaces media in a text by tokens. A text that consists of base64 or a data: URL of media is one item,
// and so is any base64 if Declared is set. Otherwise items are data: URLs of media at any size and base64 anywhere in
// the text: from 256 characters with a media signature or MPEG audio frames, also after a path or a name; shorter if it
// is a complete file; and from the threshold without a signature. LiftString reads the standard and URL-safe alphabets,
// with or without padding, folded and indented lines, and JSON and percent escapes.
//
// The items are returned in order. One that cannot be stored has its Err, and a tombstone replaces it. All other text
// is returned byte for byte.
func (c *Codec) LiftString(ctx context.Context, s string, o ValueOptions) (string, []Lifted) {
	if o.Scope == "" {
		o.Scope = media.ScopeOf(ctx).Tree
	}
	b := []byte(s)
	if w, ok := wholeValue(b, o); ok {
		l := c.storeRun(ctx, w, o, 1)
		return l.Token, []Lifted{l}
	}
	if data, typ, ok := percentData(s); ok {
		l := c.storeItem(ctx, data, typ, o.Scope)
		return l.Token, []Lifted{l}
	}
	var items []Lifted
	out := replaceRuns(b, o, func(w textRun) string {
		items = append(items, c.storeRun(ctx, w, o, len(items)+1))
		return items[len(items)-1].Token
	})
	if len(items) == 0 {
		return s, nil
	}
	return out, items
}

// replaceRuns replaces each item in a text by the result of with.
func replaceRuns(b []byte, o ValueOptions, with func(textRun) string) string {
	var out bytes.Buffer
	at := 0
	for {
		w, ok := nextRun(b, at, o)
		if !ok {
			break
		}
		out.Write(b[at:w.start])
		out.WriteString(with(w))
		at = w.end
	}
	out.Write(b[at:])
	return out.String()
}

// storeItem stores bytes and returns them with their token.
func (c *Codec) storeItem(ctx context.Context, data []byte, typ, scope string) Lifted {
	in := c.begin(ctx, typ, nil)
	in.write(data)
	l := c.end(ctx, in, scope, 1)
	l.report(collectorOf(ctx), nil)
	return l
}

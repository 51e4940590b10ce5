package wire

import (
	"bytes"
	"context"

	"atelier/media"
)

// ValueOptions says how a value that is in memory is lifted.
type ValueOptions struct {
	// Scope signs the tokens; empty means the run tree of the context.
	Scope string
	// Declared says that the value is media whatever its size: all of it is one item.
	Declared bool
	// MIMEType is the declared type; it decides where bytes have no signature.
	MIMEType string
	// Threshold is the number of characters from which base64 without a media signature is
	// lifted if it encodes data, for what actions and tools give; 0 means never.
	Threshold int
	// tokens are items too.
	tokens bool
}

// LiftString replaces media in a text by tokens: the whole text if it is declared, however
// it looks, and else data: URLs of media at any size, and base64 anywhere in it: from 256
// characters with a media signature, also behind a path or a name, shorter if it is a whole
// file, and from the threshold without a signature. Standard and URL-safe alphabets, with or
// without padding, folded and indented lines and JSON escapes are read. The items come in
// order; one that could not be taken has its Err and leaves a tombstone. All other text comes
// back byte for byte.
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

// replaceRuns puts something else in the place of each item in a text.
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

// storeItem stores bytes and names them by a token.
func (c *Codec) storeItem(ctx context.Context, data []byte, typ, scope string) Lifted {
	in := c.begin(ctx, typ, nil)
	in.write(data)
	l := c.end(ctx, in, scope, 1)
	l.report(collectorOf(ctx), nil)
	return l
}

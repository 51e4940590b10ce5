package post

import (
	"context"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// lifted reports whether the body was media as a whole, whatever its type says.
func (a *Answer) lifted() bool {
	_, ok := a.Media.Lookup(string(a.Body))
	return ok
}

// whole reads an answer that is media itself: the transport has stored it, by its type or by
// its bytes, and left its token in its place.
func (p *Provider) whole(ctx context.Context, a *Answer) (driver.Update, error) {
	switch {
	case media.CodeOf(a.Broken) == media.CodeInvalid: // the store takes nothing that is empty
		return driver.Update{}, media.Errorf(media.CodeBadResponse, "%s gave an empty answer; the call may have been billed: try other words, or another model", p.Name)
	case media.CodeOf(a.Broken) == media.CodeDiskFull: // it came, and could not be stored
		full := media.Errorf(media.CodeDiskFull, "%s answered, and that could not be stored: %s", p.Name, p.Clean(a.Broken.Error()))
		return driver.Update{Done: true, Progress: 1, Usage: generate.Usage{Calls: 1, Images: 1}, Items: []driver.Item{{Err: full}}}, nil
	case a.Cut():
		return driver.Update{Done: true, Progress: -1, Usage: generate.Usage{Calls: 1}}, p.Lost(ctx, a.Broken, 0)
	case !a.lifted():
		return driver.Update{}, p.NotJSON(a)
	}
	it := driver.Item{DeclaredMIME: Declared(a.Header.Get("Content-Type"))}
	it.Blob, it.Err = p.Take(a.Media, string(a.Body))
	return driver.Update{Done: true, Progress: 1, Usage: generate.Usage{Calls: 1}, Items: []driver.Item{it}}, nil
}

// spellings are other names of types, by the one that bytes are sniffed as. Raw samples get
// a WAV header on their way into the store, and Ogg is called by its codec.
var spellings = map[string]string{
	"audio/opus": "audio/ogg", "audio/mp3": "audio/mpeg", "audio/x-flac": "audio/flac",
	"audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/pcm": "audio/wav", "audio/l16": "audio/wav",
}

// Declared is a declared type of media under the name that it is sniffed as, without
// parameters.
func Declared(kind string) string {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	if usual, ok := spellings[kind]; ok {
		return usual
	}
	return kind
}

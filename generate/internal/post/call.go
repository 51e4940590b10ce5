package post

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/wire"
)

// Call is one call of a driver and how its answer is read.
type Call struct {
	// Path follows the client's address; one that does not begin with a slash is a whole address.
	Path string
	// Body is posted as JSON, or as a form if it is a [*Form]; nil asks with GET, which costs nothing.
	Body any
	// Of is what is asked for, in errors: "the model flux-2-pro".
	Of string
	// Task is what the call is for: how many results it asks for, who sees previews, what
	// they are called in errors. The zero value is one picture.
	Task driver.Task
	// Into is what the JSON of a whole success is decoded into, before Read turns it into an
	// update. Without it nothing is read; without Read the update is empty.
	Into any
	Read func(a *Answer) (driver.Update, error)
	// Whole says that the answer is media itself. One of another call that is so all the same is its result.
	Whole bool
	// Free says that a call costs nothing though it posts, so that a lost one is safe to
	// repeat: the upload of a picture before the call that uses it.
	Free bool
	// Interim, if set, tells the lifted items that are no results.
	Interim func(body, token string) bool
	// Frame reads one event where the answer is a stream of them; from knows what was lifted
	// out of it. Nil means that answers come in one piece.
	Frame func(from *wire.Collector, data []byte) (Frame, error)
}

// Do makes a call. Read sees whole answers of status 200 to 299 only. For all others the error
// says what they mean; a refusal by a safety system is moderated items instead, and
// what arrived whole before an answer ended comes beside the error.
func (c *Client) Do(ctx context.Context, call Call) (driver.Update, error) {
	if err := c.Ready(); err != nil {
		return driver.Update{}, err
	}
	var a *Answer
	var err error
	switch {
	case call.Body == nil:
		a, err = c.Get(ctx, call.Path)
	case call.Frame != nil:
		if a, err = c.open(ctx, call.Path, call.Body); err != nil {
			return driver.Update{}, err
		}
		if t, _, err := mime.ParseMediaType(a.Header.Get("Content-Type")); err == nil && a.Status == http.StatusOK && t == "text/event-stream" {
			return c.follow(ctx, call, a)
		}
		a.read() // this server does not stream
	default:
		a, err = c.Send(ctx, call.Path, call.Body)
	}
	switch {
	case err == nil:
		a.free = a.free || call.Free
		return c.finish(ctx, call, a)
	case call.Free && ctx.Err() != nil:
		err = c.Ended(ctx, false)
	case call.Free && errors.Is(err, driver.ErrUnsettled):
		err = media.Errorf(media.CodeUnavailable, "the connection to %s was lost; nothing was billed: check the network and %s", c.Name, c.BaseVariable)
	}
	return driver.Update{}, err
}

func (c *Client) finish(ctx context.Context, call Call, a *Answer) (driver.Update, error) {
	switch {
	case a.tooLarge() && a.free:
		return driver.Update{}, a.Broken
	case a.tooLarge() && a.Status >= http.StatusMultipleChoices:
		return driver.Update{}, c.Lost(ctx, a.Broken, 0)
	case a.Status < http.StatusOK || a.Status >= http.StatusMultipleChoices:
		return c.refused(ctx, call, a)
	case call.Whole || call.Into != nil && !a.free && a.lifted(): // paid for, in whatever form
		return c.whole(ctx, a)
	case call.Into == nil:
		return driver.Update{}, nil
	}
	if err := c.Decode(a, call.Into); err != nil {
		return driver.Update{}, err
	}
	switch {
	case a.Cut() && a.free:
		return driver.Update{}, media.Errorf(media.CodeUnavailable, "%s told half of %s: it is asked again", c.Name, call.Of)
	case a.Cut():
		u := driver.Update{Done: true, Progress: -1, Usage: generate.Usage{Calls: 1}}
		for _, l := range a.Media.All() { // what arrived whole is kept
			if l.Err == nil && (call.Interim == nil || !call.Interim(string(a.Body), l.Token)) {
				u.Items = append(u.Items, driver.Item{Blob: &l.Blob})
			}
		}
		u.Usage.Images = len(u.Items)
		return u, c.Lost(ctx, a.Broken, len(u.Items))
	case call.Read == nil:
		return driver.Update{}, nil
	}
	u, err := call.Read(a)
	if !a.free && u.Done {
		u.Usage.Calls, u.Usage.Images = 1, Made(u.Items)
	}
	return u, err
}

// Made counts the items that are results.
func Made(items []driver.Item) int {
	n := 0
	for _, it := range items {
		if it.Err == nil {
			n++
		}
	}
	return n
}

// Metadata is what a provider says about a call, fit to be kept; nil if it says nothing.
// Texts are cleaned; what is empty or zero is left out.
func (c *Client) Metadata(raw map[string]any) map[string]any {
	kept := Body{}
	for name, value := range raw {
		if text, ok := value.(string); ok {
			value = c.Clean(text)
		}
		kept.Set(name, value)
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// Moderated is the results of a task that a safety system refused; its categories are the provider's
// own words and are cleaned here. The error is media.CodeModerated.
func (c *Client) Moderated(t driver.Task, s generate.Safety, format string, args ...any) []driver.Item {
	var categories []string
	for _, word := range s.Categories {
		categories = append(categories, c.Clean(word))
	}
	s.Blocked, s.Stage, s.Categories = true, c.Clean(s.Stage), categories
	var items []driver.Item
	for range max(t.N, 1) {
		verdict := s
		items = append(items, driver.Item{Err: media.Errorf(media.CodeModerated, format, args...), Safety: &verdict})
	}
	return items
}

// Unnamed is the error for a task that was taken and has no name, so that nobody can ask for it.
func (c *Client) Unnamed() error {
	e := media.Errorf(media.CodeBadResponse, "%s took the request and named no task: it may be billed, so it is not repeated", c.Name)
	e.Cause = driver.ErrUnsettled
	return e
}

// Answer is what came back, media lifted out of it.
type Answer struct {
	Status int
	Header http.Header
	// Body is the text around the media; whole if Broken is nil.
	Body []byte
	// Media knows every item that was lifted from the body.
	Media *wire.Collector
	// Broken says why the body ended early; nil if it is whole.
	Broken error

	free   bool          // of a call that costs nothing
	stream io.ReadCloser // the body as it comes; Body is empty as long as nobody has read it
}

// read reads the body and closes it.
func (a *Answer) read() *Answer {
	defer func() { _ = a.stream.Close() }()
	a.Body, a.Broken = io.ReadAll(a.stream)
	return a
}

// Cut reports whether the body ended early.
func (a *Answer) Cut() bool { return a.Broken != nil }

// tooLarge reports whether the body was longer than answers may be.
func (a *Answer) tooLarge() bool { return media.CodeOf(a.Broken) == media.CodeTooLarge }

// Decode reads the answer's JSON into v, whatever type it is said to have. A body that ends early, in whatever way,
// makes it [Answer.Cut] and is no error; the error for anything else is [Client.notJSON].
func (c *Client) Decode(a *Answer, v any) error {
	if a.Cut() {
		return nil
	}
	err := json.Unmarshal(a.Body, v)
	kind, _, unreadable := mime.ParseMediaType(a.Header.Get("Content-Type"))
	isJSON := unreadable == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && isJSON && len(a.Body) > 0 && syntax.Offset >= int64(len(a.Body)) {
		a.Broken = io.ErrUnexpectedEOF
		return nil
	}
	if err != nil {
		return c.notJSON(a)
	}
	return nil
}

// Take gives the item that was lifted as token, or why there is none.
func (c *Client) Take(from *wire.Collector, token string) (*media.Blob, *media.Error) {
	l, ok := from.Lookup(token)
	if !ok {
		return nil, media.Errorf(media.CodeBadResponse, "%s gave something that is no media in its place: try again or use another model", c.Name)
	}
	if l.Err != nil {
		e := media.Errorf(media.CodeOf(l.Err), "%s gave media that cannot be taken: %s", c.Name, c.Clean(l.Err.Error()))
		e.Cause, e.Retryable = l.Err, false
		return nil, e
	}
	return &l.Blob, nil
}

// notJSON is the error for an answer in another form than the protocol's: a page
// of a proxy, a redirect, or broken JSON.
func (c *Client) notJSON(a *Answer) *media.Error {
	kind := a.Header.Get("Content-Type")
	if kind == "" {
		kind = "text without a type"
	}
	e := media.Errorf(media.CodeBadResponse,
		"%s answered status %d with %s instead of its protocol's JSON: check that %s and any proxy lead to the API", c.Name, a.Status, c.Clean(kind), c.BaseVariable)
	if !a.free {
		e.Cause = driver.ErrUnsettled
		e.Message += "; the call may have been billed, so it is not repeated"
	}
	switch {
	case a.Status == http.StatusUnauthorized:
		e.Code, e.Cause = media.CodeUnauthorized, nil
	case a.Status == http.StatusForbidden:
		e.Code, e.Cause = media.CodeForbidden, nil
	case a.Status == http.StatusTooManyRequests:
		e.Code, e.Retryable, e.Cause = media.CodeRateLimited, true, nil
		e.Message = c.Name + " or a proxy before it answered 429, too many requests: wait and try again"
	case a.Status >= http.StatusInternalServerError:
		e.Code = media.CodeUnavailable
	}
	return e
}

// lifted reports whether the body was media as a whole, whatever its type says.
func (a *Answer) lifted() bool {
	_, ok := a.Media.Lookup(string(a.Body))
	return ok
}

// whole reads an answer that is media itself: the transport has stored it, by its type or by
// its bytes, and left its token in its place.
func (c *Client) whole(ctx context.Context, a *Answer) (driver.Update, error) {
	switch {
	case media.CodeOf(a.Broken) == media.CodeInvalid: // the store takes nothing that is empty
		return driver.Update{}, media.Errorf(media.CodeBadResponse, "%s gave an empty answer; the call may have been billed: try other words, or another model", c.Name)
	case media.CodeOf(a.Broken) == media.CodeDiskFull: // it came, and could not be stored
		full := media.Errorf(media.CodeDiskFull, "%s answered, and that could not be stored: %s", c.Name, c.Clean(a.Broken.Error()))
		return driver.Update{Done: true, Progress: 1, Usage: generate.Usage{Calls: 1, Images: 1}, Items: []driver.Item{{Err: full}}}, nil
	case a.Cut():
		return driver.Update{Done: true, Progress: -1, Usage: generate.Usage{Calls: 1}}, c.Lost(ctx, a.Broken, 0)
	case !a.lifted():
		return driver.Update{}, c.notJSON(a)
	}
	it := driver.Item{DeclaredMIME: Declared(a.Header.Get("Content-Type"))}
	it.Blob, it.Err = c.Take(a.Media, string(a.Body))
	return driver.Update{Done: true, Progress: 1, Usage: generate.Usage{Calls: 1}, Items: []driver.Item{it}}, nil
}

// spellings are other names of types, by the one that bytes are sniffed as. Raw samples get
// a WAV header on their way into the store, and Ogg is called by its codec.
var spellings = map[string]string{
	"audio/opus": "audio/ogg", "audio/mp3": "audio/mpeg", "audio/x-flac": "audio/flac",
	"audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/pcm": "audio/wav", "audio/l16": "audio/wav",
}

// Declared is a declared type of media under the name that it is sniffed as, without parameters.
func Declared(kind string) string {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	if usual, ok := spellings[kind]; ok {
		return usual
	}
	return kind
}

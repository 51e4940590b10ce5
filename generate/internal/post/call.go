package post

import (
	"cmp"
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

// Call is one call of a driver, and how its answer is decoded.
type Call struct {
	// Path follows the client's base address; a path without a leading slash is a complete URL.
	Path string
	// Body is posted as JSON, or as a form if it is a [*Form]; nil means GET, which costs nothing.
	Body any
	// Of names the requested object in errors: "the model flux-2-pro".
	Of string
	// Task is the task that the call is for: its number of results, the receiver of previews, the model's name in
	// errors. The zero value means one picture.
	Task driver.Task
	// Into receives the JSON of a complete success, before Read converts it to an update. Without Into nothing is
	// decoded; without Read the update is empty.
	Into any
	Read func(a *Answer) (driver.Update, error)
	// Whole says that the answer is media itself. If the answer of another call is media, it is its result too.
	Whole bool
	// Free says that a call costs nothing although it posts, so that a lost one is safe to repeat: the upload of a
	// picture before the call that uses it.
	Free bool
	// Interim, if set, reports which lifted items are not results.
	Interim func(body, token string) bool
	// Frame decodes one event if the answer is a stream of events; from holds the media lifted from it. Nil means that
	// answers are not streamed.
	Frame func(from *wire.Collector, data []byte) (Frame, error)
}

// Do makes a call. Read receives only complete answers of status 200 to 299. For other answers the error describes
// their meaning, but a refusal by a safety system is returned as moderated items. Items that arrived in a truncated or
// unreadable answer are returned with the error.
func (c *Client) Do(ctx context.Context, call Call) (driver.Update, error) {
	if err := c.Ready(); err != nil {
		return driver.Update{}, err
	}
	free := call.Free || call.Body == nil
	a, err := c.open(ctx, call.Path, call.Body, free)
	if err != nil {
		return driver.Update{}, err
	}
	if t, _, err := mime.ParseMediaType(a.Header.Get("Content-Type")); call.Frame != nil && err == nil && a.Status == http.StatusOK && t == "text/event-stream" {
		return c.follow(ctx, call, a)
	}
	refused := a.read().Status >= http.StatusMultipleChoices && call.Body != nil && !a.tooLarge() // by its status
	if free && a.Cut() && !refused {
		return driver.Update{}, c.incomplete(a)
	}
	return c.finish(ctx, call, a)
}

func (c *Client) finish(ctx context.Context, call Call, a *Answer) (driver.Update, error) {
	switch {
	case a.tooLarge() && a.Status >= http.StatusMultipleChoices:
		return driver.Update{}, c.Lost(ctx, a.Broken, 0)
	case a.Status < http.StatusOK || a.Status >= http.StatusMultipleChoices:
		return c.refused(ctx, call, a)
	case call.Whole || call.Into != nil && !a.free && a.lifted(): // paid for, in whatever form
		return c.whole(ctx, a)
	case call.Into == nil:
		return driver.Update{}, nil
	}
	err := c.Decode(a, call.Into)
	switch {
	case a.Cut() && a.free:
		return driver.Update{}, c.incomplete(a)
	case err != nil && a.free:
		return driver.Update{}, err
	case err != nil || a.Cut():
		u := driver.Update{Done: true, Progress: -1, Usage: generate.Usage{Calls: 1}}
		for _, l := range a.Media.All() { // items that arrived completely are kept
			if l.Err == nil && (call.Interim == nil || !call.Interim(string(a.Body), l.Token)) {
				u.Items = append(u.Items, driver.Item{Blob: &l.Blob})
			}
		}
		if u.Usage.Images = len(u.Items); err == nil {
			err = c.Lost(ctx, a.Broken, len(u.Items))
		}
		return u, err
	case call.Read == nil:
		return driver.Update{}, nil
	}
	u, err := call.Read(a)
	if !a.free && u.Done {
		u.Usage.Calls, u.Usage.Images = 1, Made(u.Items)
	}
	e, coded := errors.AsType[*media.Error](err)
	if coded && e.Code == media.CodeBadResponse && !a.free && u.ReportedUSD == "" && u.Usage.InputTokens+u.Usage.OutputTokens == 0 {
		e.Cause = driver.ErrUnsettled // an answer without a result does not say what it costs
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

// Metadata returns a provider's data about a call in a form that can be stored; nil if it is empty. Texts are cleaned;
// empty and zero values are omitted.
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

// Moderated returns the results of a task that a safety system refused. Its categories are the provider's own words and
// are cleaned. The error code is media.CodeModerated.
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

// MissingTaskID returns the error for a task that was accepted without an id, so that it cannot be polled.
func (c *Client) MissingTaskID() error {
	e := media.Errorf(media.CodeBadResponse, "%s took the request and named no task: it may be billed, so it is not repeated", c.Name)
	e.Cause = driver.ErrUnsettled
	return e
}

// Answer is a provider's answer, with media lifted out of it.
type Answer struct {
	Status int
	Header http.Header
	// Body is the text around the media; complete if Broken is nil.
	Body []byte
	// Media holds every item that was lifted from the body.
	Media *wire.Collector
	// Broken is why the body ended early; nil if it is complete.
	Broken error

	free   bool          // the call costs nothing
	stream io.ReadCloser // the unread body; Body is empty until it is read
}

// read reads the body and closes it.
func (a *Answer) read() *Answer {
	defer func() { _ = a.stream.Close() }()
	a.Body, a.Broken = io.ReadAll(a.stream)
	return a
}

// Cut reports whether the body ended early.
func (a *Answer) Cut() bool { return a.Broken != nil }

// tooLarge reports whether the body exceeded the limit for answers.
func (a *Answer) tooLarge() bool { return media.CodeOf(a.Broken) == media.CodeTooLarge }

// Decode decodes the answer's JSON into v, whatever its declared type; fields of another type stay empty. For a body
// that ends early it sets [Answer.Cut] and returns no error; the error for any other invalid body is [Client.notJSON].
func (c *Client) Decode(a *Answer, v any) error {
	if a.Cut() {
		return nil
	}
	err := decode(a.Body, v)
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

// Take returns the item that was lifted as token, or why there is none.
func (c *Client) Take(from *wire.Collector, token string) (*media.Blob, *media.Error) {
	l, ok := from.Lookup(token)
	if !ok {
		return nil, media.Errorf(media.CodeBadResponse, "%s returned something other than media: try again or use another model", c.Name)
	}
	if l.Err != nil {
		e := media.Errorf(media.CodeOf(l.Err), "%s returned media that cannot be stored: %s", c.Name, c.Clean(l.Err.Error()))
		e.Cause, e.Retryable = l.Err, false
		return nil, e
	}
	return &l.Blob, nil
}

// notJSON returns the error for an answer that is not the protocol's JSON: a page of a proxy, a redirect, or broken
// JSON.
func (c *Client) notJSON(a *Answer) *media.Error {
	kind := cmp.Or(a.Header.Get("Content-Type"), "text without a type")
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

// lifted reports whether the entire body was media, whatever its declared type.
func (a *Answer) lifted() bool {
	_, ok := a.Media.Lookup(string(a.Body))
	return ok
}

// whole decodes an answer that is media itself: the transport has stored it, by its type or its bytes, and replaced it
// with its token.
func (c *Client) whole(ctx context.Context, a *Answer) (driver.Update, error) {
	switch {
	case media.CodeOf(a.Broken) == media.CodeInvalid: // the store rejects an empty body
		return driver.Update{}, media.Errorf(media.CodeBadResponse, "%s returned an empty answer; the call may have been billed: try other words, or another model", c.Name)
	case media.CodeOf(a.Broken) == media.CodeDiskFull: // the answer came and could not be stored
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

// spellings maps other names of types to the sniffed one. Raw samples get a WAV header on their way into the store, and
// Ogg may be declared by its codec.
var spellings = map[string]string{
	"audio/opus": "audio/ogg", "audio/mp3": "audio/mpeg", "audio/x-flac": "audio/flac",
	"audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/pcm": "audio/wav", "audio/l16": "audio/wav",
}

// Declared returns a declared media type under its sniffed name, without parameters.
func Declared(kind string) string {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	if usual, ok := spellings[kind]; ok {
		return usual
	}
	return kind
}

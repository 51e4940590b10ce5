package fantasy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"atelier/chat"
	"atelier/media"
)

// reading is a transport below the SDK that reads what the SDK drops from an answer: errors in any envelope and with
// any status, refusals, usage and cost. It records them in the [reply] in the request's context, and passes the SDK a
// body that it can read. The transport below reading limits bodies and lifts media out of them.
type reading struct {
	next http.RoundTripper
	m    *model
}

// reply is what an answer says about itself.
type reply struct {
	by asked
	// problem is the error that the answer contains; nil if there is none.
	problem *media.Error
	// warnings are the errors of pictures that were not made, if others were.
	warnings []string
	// answered reports whether there is a readable answer, and finish is why it ended: stop, length or other.
	answered bool
	finish   string
	// usage is the reported usage; zero if the answer reports none.
	usage chat.Usage
	// cost is the price in US dollars that the answer states; nil if it states none.
	cost *string
	// unpriced means that the answer has pictures whose price it does not state.
	unpriced bool
	// text is the text of the answer. onText receives it without secrets while it is streamed; nil for none. held is the
	// end of the text that may be the beginning of a secret and is held back until more text arrives.
	text   strings.Builder
	onText func(text string)
	held   string
	// end reads the streamed answer as far as it arrived.
	end func()
	// whole reports whether the answer came at once, even if a stream was requested.
	whole bool
}

type replyKey struct{}

// RoundTrip implements http.RoundTripper.
func (t reading) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(withoutEnvironment(req, t.m.profile.Provider))
	s, _ := req.Context().Value(replyKey{}).(*reply)
	if err != nil || s == nil || res.Body == nil {
		return res, err
	}
	if res.StatusCode < http.StatusBadRequest && hasEvents(res) {
		b := &streamed{ReadCloser: res.Body, reply: s, secrets: t.m.secrets, end: func(a answerBody) { t.note(s, req.URL.Path, a) }}
		res.Body, s.end = b, b.finish
		return res, nil
	}
	body, failed := io.ReadAll(res.Body)
	if err := res.Body.Close(); failed == nil {
		failed = err
	}
	switch coded, limit := errors.AsType[*media.Error](failed); {
	case limit:
		s.problem = coded
	case res.StatusCode >= http.StatusBadRequest:
		s.problem = t.m.fault(readFault(res.StatusCode, res.Header, body, t.m.now()), s.by)
	case failed == nil:
		body = bytes.TrimSpace(body) // some services send white space while a model thinks
		t.answer(s, req, res, body)
	}
	res.ContentLength = int64(len(body))
	res.Header.Del("Content-Length")
	res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{failed}))
	return res, nil
}

// withoutEnvironment removes the headers that the SDKs of OpenAI and Anthropic take from environment variables: they are
// for other services, or are other credentials.
func withoutEnvironment(req *http.Request, provider string) *http.Request {
	if provider == "openai" {
		return req
	}
	out := req.Clone(req.Context())
	maps.DeleteFunc(out.Header, func(name string, _ []string) bool {
		return !slices.Contains(headers, name) || name == "Authorization" && provider == "anthropic"
	})
	return out
}

// headers are those of requests to services other than OpenAI.
var headers = []string{"Accept", "Anthropic-Beta", "Anthropic-Version", "Authorization", "Content-Type", "User-Agent", "X-Api-Key", "X-Goog-Api-Key", "X-Server-Timeout"}

// hasEvents reports whether an answer consists of server-sent events, by its beginning or else by its declared type.
func hasEvents(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	r := bufio.NewReader(res.Body)
	begin, _ := r.Peek(len("data:")) // a short body is read as far as it goes
	res.Body = struct {
		io.Reader
		io.Closer
	}{r, res.Body}
	return string(begin) == "data:" || string(begin) == "event" || kind == "text/event-stream" && !bytes.HasPrefix(begin, []byte("{"))
}

// failing ends a body in the same way as the original body ended.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// answer reads an answer that came at once, without an error status. Some services do so although a stream was
// requested.
func (t reading) answer(s *reply, req *http.Request, res *http.Response, body []byte) {
	var a answerBody
	switch {
	case bytes.HasPrefix(body, []byte("<")):
		s.problem = t.m.fault(fault{status: res.StatusCode, embedded: true, message: string(body)}, s.by)
	case bytes.HasPrefix(body, []byte("{")) && partly(json.Unmarshal(body, &a)) == nil:
		res.Header.Set("Content-Type", "application/json")
		t.note(s, req.URL.Path, a)
		if s.problem == nil {
			s.whole = true
			s.text.WriteString(a.words())
		}
	}
}

// note records what an answer says about itself. The path of the request determines the protocol.
func (t reading) note(s *reply, path string, a answerBody) {
	s.problem, s.answered, s.finish = t.m.judge(a, s.by, t.m.now()), true, a.finish()
	painted := slices.ContainsFunc(a.Output, func(o outputItem) bool { return o.Type == "image_generation_call" && o.Status == "completed" })
	if s.problem != nil && painted && !statedError(a.Error) { // one of several pictures was not made
		s.warnings, s.problem = []string{s.problem.Message}, nil
	}
	u, g := a.Usage, a.Metadata
	switch {
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		// Gemini counts thoughts separately from the answer, and cached tokens as part of the prompt.
		s.usage = chat.Usage{InputTokens: g.Prompt + g.Tools, OutputTokens: g.Candidates + g.Thoughts, CachedTokens: g.Cached}
		for _, d := range g.Details {
			if d.Modality == "IMAGE" {
				s.usage.ImageTokens += d.Tokens
			}
		}
		for _, c := range a.Candidates {
			for _, p := range c.Content.Parts {
				s.unpriced = s.unpriced || len(p.Inline) > 0 && s.usage.ImageTokens == 0
			}
		}
	case strings.HasSuffix(path, "/messages"):
		// Anthropic counts cached tokens separately from the others.
		s.usage = chat.Usage{InputTokens: u.Input + u.CacheRead + u.CacheWrite, OutputTokens: u.Output, CachedTokens: u.CacheRead}
	case strings.HasSuffix(path, "/responses"):
		s.usage = chat.Usage{InputTokens: u.Input, OutputTokens: u.Output, CachedTokens: u.InputIs.Cached}
		s.cost = u.cost()
		for _, o := range a.Output { // the usage lacks the cost of the image tool
			s.unpriced = s.unpriced || o.Type == "image_generation_call" && s.cost == nil
		}
	default: // chat completions
		// Some providers (xAI) do not count thoughts as part of the answer, so that the total exceeds the sum.
		s.usage = chat.Usage{
			InputTokens: u.Prompt, OutputTokens: max(u.Completion, u.Total-u.Prompt),
			CachedTokens: min(u.Prompt, max(u.PromptIs.Cached, u.CacheHit)), ImageTokens: u.CompletionIs.Images,
		}
		s.cost = u.cost()
	}
}

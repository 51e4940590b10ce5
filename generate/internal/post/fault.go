package post

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/internal/patience"
	"atelier/media"
	"atelier/media/wire"
)

// Fault is a provider's error, as decoded from its answer.
type Fault struct {
	// Code is the error code; empty means the one of the status.
	Code media.Code
	// Status is the effective HTTP status; 0 means the answer's.
	Status int
	// Words are the provider's message; Label holds its names for the error, which are not shown.
	Words, Label string
	// Advice replaces the usual advice.
	Advice string
	// Wait is how long the provider asks to wait; Quoted are headers that say so, if it does not use the answer's
	// headers.
	Wait   time.Duration
	Quoted http.Header
	// Blocked is a safety system's verdict; its Stage and Categories may be empty.
	Blocked *generate.Safety
	// Started means that the work had begun, so that a failure is not repeated; Idle means that nothing had begun, so
	// that it is. If neither is set, the status decides.
	Started, Idle bool
}

// meaning describes an error code: what happened, and what to do if the provider has no advice. NAME and OF are
// placeholders, and so is STATUS.
type meaning struct{ what, advice string }

// meanings is the shared vocabulary of error answers.
var meanings = map[media.Code]meaning{
	media.CodeUnauthorized:  {"NAME refused the key", "check it"},
	media.CodeQuotaExceeded: {"the account at NAME has no credit left", "add credit or raise its limit"},
	media.CodeForbidden:     {"NAME does not let this account use OF", "check its key, its limits and its restrictions"},
	media.CodeNotFound:      {"NAME does not know OF, or no longer", `choose a model that "atelier models list" shows as live`},
	media.CodeTooLarge:      {"the request is too large for OF", "send fewer or smaller pictures"},
	media.CodeRateLimited:   {"the rate limit of NAME is reached", "wait and try again"},
	media.CodeUnavailable:   {"NAME failed with status STATUS", "try again later"},
	media.CodeInvalid:       {"NAME refused the request for OF", ""},
	media.CodeBadResponse:   {"NAME answered OF with status STATUS", "try again later"},
}

// contested is the meaning of a failure that only affects one request.
var contested = meaning{"NAME stopped the request for OF because another one was in its way", "ask again"}

// gone is the meaning of a task that cannot be found.
var gone = meaning{"NAME does not know OF, or no longer", "it is kept for a limited time"}

// daily is the meaning of an exhausted daily quota.
var daily = meaning{"the quota of a day at NAME is used up", "raise it, or wait for the next day"}

// statusCodes are the codes of statuses below 500 that are not media.CodeInvalid. An error inside a success is a
// failure.
var statusCodes = map[int]media.Code{
	http.StatusUnauthorized: media.CodeUnauthorized, http.StatusPaymentRequired: media.CodeQuotaExceeded, http.StatusForbidden: media.CodeForbidden,
	http.StatusNotFound: media.CodeNotFound, http.StatusRequestEntityTooLarge: media.CodeTooLarge, http.StatusTooManyRequests: media.CodeRateLimited,
	http.StatusOK: media.CodeUnavailable, http.StatusRequestTimeout: media.CodeUnavailable, http.StatusConflict: media.CodeUnavailable,
}

func (c *Client) refused(ctx context.Context, call Call, a *Answer) (driver.Update, error) {
	if ctx.Err() != nil {
		return driver.Update{}, c.Ended(ctx, !a.free)
	}
	f, ok := c.config.Explain(a)
	if !ok {
		e := c.notJSON(a)
		e.RetryAfter = patience.Requested(a.Header, c.config.Now())
		return driver.Update{}, e
	}
	return c.Refuse(call, a, f)
}

// Refuse converts a fault to the shared error vocabulary; a safety system's verdict becomes moderated items of the
// call's task. Fields that the fault leaves empty are derived from the provider's words. Failures are repeated only if
// the provider itself says that nothing was made. A daily quota is retryable if the provider says when it ends; the
// Gateway retries it once.
func (c *Client) Refuse(call Call, a *Answer, f Fault) (driver.Update, error) {
	f.Status = cmp.Or(f.Status, a.Status)
	if phrase, ok := c.config.Phrases.In(f.Label + " " + f.Words); ok && f.Code == "" && f.Blocked == nil {
		switch {
		case phrase.Code != media.CodeModerated:
			f.Code, f.Advice = phrase.Code, cmp.Or(f.Advice, phrase.Advice)
		case f.Status < http.StatusInternalServerError: // a provider's failure is not a refusal, whatever it says
			f.Blocked = &generate.Safety{Stage: "input", Categories: categories(f.Words)}
		}
	}
	f.Words = c.Clean(f.Words)
	if f.Blocked != nil {
		return driver.Update{
			Done: true, Progress: 1, Usage: generate.Usage{Calls: 1},
			Items: c.Moderated(call.Task, *f.Blocked, "%s refused the prompt or the picture: %s (%s)", c.Name, cmp.Or(f.Advice, "change the prompt"), f.Words),
		}, nil
	}
	usual := media.CodeInvalid
	if f.Status >= http.StatusInternalServerError {
		usual = media.CodeUnavailable
	}
	code := cmp.Or(f.Code, c.config.Codes[f.Status], statusCodes[f.Status], usual)
	spent := code == media.CodeRateLimited && !a.free && patience.Daily(f.Words)
	if spent {
		code = media.CodeQuotaExceeded
	}
	e := media.Errorf(code, "%s", c.sentence(code, call, f))
	if spent || code == media.CodeRateLimited || code == media.CodeUnavailable {
		now := c.config.Now()
		e.RetryAfter = max(f.Wait, patience.Requested(a.Header, now), patience.Requested(f.Quoted, now))
	}
	if spent {
		e.Retryable = e.RetryAfter > 0
	}
	if code != media.CodeUnavailable {
		return driver.Update{}, e
	}
	idle := slices.Contains(append(slices.Clone(c.config.Repeat), http.StatusServiceUnavailable, http.StatusConflict), f.Status)
	e.Retryable = a.free || f.Idle || idle && !f.Started
	if should, err := strconv.ParseBool(a.Header.Get("X-Should-Retry")); err == nil {
		e.Retryable = should
	}
	switch {
	case !e.Retryable && !a.free:
		e.Cause = driver.ErrUnsettled
		e.Message += "; the call may have been billed, so it is not repeated"
	case f.Status == http.StatusConflict:
		e.Cause = driver.ErrContested
	}
	return driver.Update{}, e
}

// sentence describes what happened and what to do. It omits words about a key, because they tend to quote it.
func (c *Client) sentence(code media.Code, call Call, f Fault) string {
	m := meanings[code]
	switch {
	case code == media.CodeUnavailable && f.Status == http.StatusConflict:
		m = contested
	case code == media.CodeQuotaExceeded && patience.Daily(f.Words):
		m = daily
	case code == media.CodeNotFound && call.Body == nil:
		m = gone
	}
	advice := cmp.Or(f.Advice, c.config.Advice[code], m.advice)
	s := strings.NewReplacer("NAME", c.Name, "STATUS", strconv.Itoa(f.Status), "OF", call.Of).Replace(m.what)
	switch {
	case advice == "":
		return s + ": " + cmp.Or(f.Words, "status "+strconv.Itoa(f.Status))
	case f.Words == "" || code == media.CodeUnauthorized:
		return s + ": " + advice
	}
	return s + ": " + advice + " (" + f.Words + ")"
}

// Phrase is the meaning of a provider's words that are more specific than its status.
type Phrase struct {
	// Any lists substrings of its messages and error names, in lower case.
	Any []string
	// Code is the error code of a match; media.CodeModerated means a refusal.
	Code media.Code
	// Advice replaces the usual advice.
	Advice string
}

// Phrases are matched in order.
type Phrases []Phrase

// In returns the first phrase that matches a text; false if none does.
func (list Phrases) In(text string) (Phrase, bool) {
	text = strings.ToLower(text)
	i := slices.IndexFunc(list, func(p Phrase) bool {
		return slices.ContainsFunc(p.Any, func(part string) bool { return strings.Contains(text, part) })
	})
	if i < 0 {
		return Phrase{}, false
	}
	return list[i], true
}

// topics are the subjects of refusals, and the substrings, in lower case, that identify them.
var topics = []struct {
	category string
	any      []string
}{
	{"sexual", []string{"sexual", "nsfw", "nudity", "porn", "色情"}},
	{"violence", []string{"violen", "gore", "暴力"}},
	{"hate", []string{"hate speech", "hateful", "racis"}},
	{"harassment", []string{"harass", "bully"}},
	{"self_harm", []string{"self-harm", "self harm", "suicid"}},
	{"minors", []string{"minors", "csam", "underage"}},
	{"public_figure", []string{"public figure", "celebrit", "politician"}},
	{"copyright", []string{"copyright", "trademark", "intellectual property"}},
	{"banned_words", []string{"banned", "disallowed words", "违禁"}},
	{"sensitive", []string{"sensitive", "敏感"}},
	{"guidelines", []string{"community guidelines", "content policy"}},
}

// categories returns the subjects of a refusal that its text mentions; nil if there are none.
func categories(text string) (codes []string) {
	text = strings.ToLower(text)
	for _, t := range topics {
		if slices.ContainsFunc(t.any, func(part string) bool { return strings.Contains(text, part) }) {
			codes = append(codes, t.category)
		}
	}
	return codes
}

// Item returns a result by its text in an answer: a link, a data URL, or the token of lifted media.
func (c *Client) Item(from *wire.Collector, text string) driver.Item {
	head, data, isData := strings.Cut(text, ";base64,")
	if isData {
		b, err := c.Take(from, data)
		return driver.Item{Blob: b, Err: err, DeclaredMIME: c.Clean(strings.TrimPrefix(head, "data:"))}
	}
	if text == "" || strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		return c.Link(text)
	}
	b, err := c.Take(from, text)
	return driver.Item{Blob: b, Err: err}
}

// Link returns a result that comes by link.
func (c *Client) Link(url string) driver.Item {
	if url == "" {
		return driver.Item{Err: media.Errorf(media.CodeBadResponse, "%s returned an empty result instead of a picture: try again or use another model", c.Name)}
	}
	return driver.Item{URL: url}
}

// Each returns one failure for every result that a task requests.
func Each(t driver.Task, it driver.Item) []driver.Item {
	return slices.Repeat([]driver.Item{it}, max(t.N, 1))
}

// Unfinished returns the results of a task that failed at its provider, by the meaning of the words (see
// Config.Failures). The task was paid for, so it is not repeated.
func (c *Client) Unfinished(t driver.Task, reason string) []driver.Item {
	phrase, ok := c.config.Failures.In(reason)
	if !ok {
		phrase = Phrase{Code: media.CodeUnavailable, Advice: c.Name + " could not finish the task: ask again, or change the prompt or the settings"}
	}
	text := cmp.Or(c.Clean(reason), "no reason given")
	if phrase.Code == media.CodeModerated {
		verdict := generate.Safety{Categories: categories(reason)}
		switch reason := strings.ToLower(reason); {
		case strings.Contains(reason, "prompt"):
			verdict.Stage = "input"
		case strings.Contains(reason, "image") || strings.Contains(reason, "result"):
			verdict.Stage = "output"
		}
		return c.Moderated(t, verdict, "%s (%s)", phrase.Advice, text)
	}
	e := media.Errorf(phrase.Code, "%s (%s)", phrase.Advice, text)
	e.Retryable = false
	return Each(t, driver.Item{Err: e})
}

// Ending describes a success that holds no result.
type Ending struct {
	// Blocked reports that the request itself was refused, whatever the reasons are.
	Blocked bool
	// Reasons are the provider's reasons for the ending, its own finish reason first.
	Reasons []string
	// Said is the text that was returned instead of the result.
	Said string
	// Categories are the provider's categories, in addition to the reason.
	Categories []string
}

// refusals are substrings of reasons that mean a decision about safety or policy.
var refusals = []string{
	"refus", "content_filter", "safety", "prohibited", "blocklist", "recitation", "no_image", "spii", "model_armor", "jailbreak", "image_other",
}

// Without handles a success without a result: it returns a refusal as moderated items, or an error for an unexpected
// answer. Text in place of the result is a refusal.
func (c *Client) Without(call Call, e Ending) ([]driver.Item, error) {
	noun, first := "picture", ""
	if call.Task.Model.Modality == media.ModalityAudio {
		noun = "sound"
	}
	if len(e.Reasons) > 0 {
		first = e.Reasons[0]
	}
	i := slices.IndexFunc(e.Reasons, func(reason string) bool {
		return e.Blocked || slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(strings.ToLower(reason), r) })
	})
	verdict := generate.Safety{Stage: "output", Categories: e.Categories}
	if e.Blocked {
		verdict.Stage = "input"
	}
	why := "text in place of a " + noun
	switch {
	case i >= 0:
		why = e.Reasons[i]
		verdict.Categories = append([]string{why}, e.Categories...)
	case e.Said != "" && (first == "" || strings.EqualFold(first, "stop")):
	default:
		reason := " and without a reason"
		if first != "" {
			reason = " (finish reason " + c.Clean(first) + ")"
		}
		return nil, media.Errorf(media.CodeBadResponse, "%s answered without a %s%s; the call may have been billed: try other words, or another model", c.Name, noun, reason)
	}
	why = strings.TrimSuffix(why+": "+e.Said, ": ")
	return c.Moderated(call.Task, verdict, "%s refused to make the %s: change the prompt (%s)", c.Name, noun, c.Clean(why)), nil
}

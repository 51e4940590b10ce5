package fantasy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/internal/patience"
)

// fault is an error as a provider states it, in whatever envelope.
type fault struct {
	// status is that of HTTP or, inside an answer with status 200, the number that the error
	// states; inside says so.
	status int
	inside bool
	// kinds are the words that name it: code, type, status, reason.
	kinds   []string
	message string
	// wait is how long it asks to wait; daily that a quota of a day is used up.
	wait  time.Duration
	daily bool
	// reasons are why a safety system refused, where a provider lists them.
	reasons []string
	// promptTokens is the limit of a quota of prompt tokens; 0 if it names none.
	promptTokens int64
}

// is reports whether one of the words names the fault, in any case.
func (f fault) is(words ...string) bool {
	return slices.ContainsFunc(f.kinds, func(k string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(k, w) })
	})
}

// envelope is what providers wrap an error in:
//
//	{"error": {…}}, {"error": "text", "code"}, {"detail": "text" or [{"msg"}]}, {"message"},
//	{"object": "error", "message"}, {"errors": [{…}]}, and lists of one of them.
type envelope struct {
	Error   json.RawMessage `json:"error"`
	Errors  []stated        `json:"errors"`
	Detail  json.RawMessage `json:"detail"`
	Message json.RawMessage `json:"message"`
	Code    json.RawMessage `json:"code"`
	Type    json.RawMessage `json:"type"`
}

// stated is an error in its envelope.
type stated struct {
	Message json.RawMessage `json:"message"`
	Code    json.RawMessage `json:"code"`
	Type    json.RawMessage `json:"type"`
	Status  json.RawMessage `json:"status"`
	Inner   struct {
		Code json.RawMessage `json:"code"`
	} `json:"innererror"`
	Moderation struct {
		Stage      string   `json:"moderation_stage"`
		Categories []string `json:"categories"`
	} `json:"moderation_details"`
	Details  []detail `json:"details"`
	Metadata struct {
		Raw      json.RawMessage `json:"raw"`
		Provider string          `json:"provider_name"`
		Reasons  []string        `json:"reasons"`
		Flagged  string          `json:"flagged_input"`
		Headers  map[string]any  `json:"headers"`
		Previous []stated        `json:"previous_errors"`
	} `json:"metadata"`
}

// detail is one of Google's.
type detail struct {
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"`
	Violations []struct {
		ID     string          `json:"quotaId"`
		Metric string          `json:"quotaMetric"`
		Value  json.RawMessage `json:"quotaValue"`
	} `json:"violations"`
}

// maxWords is how much of a provider's words is judged, in bytes; a name of a fault is shorter than maxName.
const (
	maxWords = 32 << 10
	maxName  = 200
)

// readFault reads the body of an answer that is an error. A body is judged by what it holds,
// whatever type it is said to be of.
func readFault(status int, header http.Header, body []byte, now time.Time) fault {
	f := fault{status: status}
	body = bytes.TrimSpace(body)
	if list := []json.RawMessage{}; json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var e envelope
	if len(body) == 0 || body[0] != '{' || partly(json.Unmarshal(body, &e)) != nil {
		f.message = string(body)
	} else {
		f.open(e, now)
		f.message = cmp.Or(f.message, string(body))
	}
	f.message = f.message[:min(len(f.message), maxWords)]
	f.wait = max(f.wait, waitOf(header, now), waitIn(f.message))
	f.daily = f.daily || patience.Daily(f.message)
	return f
}

// partly takes an error of the JSON decoder about a single field for none: the other fields
// are read.
func partly(err error) error {
	if _, field := err.(*json.UnmarshalTypeError); field { //nolint:errorlint // Unmarshal gives it as it is.
		return nil
	}
	return err
}

// open reads an envelope.
func (f *fault) open(e envelope, now time.Time) {
	f.name(e.Code, e.Type)
	var s stated
	switch {
	case len(e.Errors) > 0:
		f.add(e.Errors[0], now)
	case isObject(e.Error):
		if partly(json.Unmarshal(e.Error, &s)) == nil {
			f.add(s, now)
		}
	case plain(e.Error) != "":
		f.message = plain(e.Error)
	case plain(e.Detail) != "":
		f.message = plain(e.Detail)
	case len(e.Detail) > 0:
		var list []struct {
			Msg  string `json:"msg"`
			Type string `json:"type"`
		}
		_ = json.Unmarshal(e.Detail, &list) // another shape is shown as it is
		for _, d := range list {
			f.message = strings.TrimPrefix(f.message+"; "+d.Msg, "; ")
			f.kinds = append(f.kinds, d.Type)
		}
		f.message = cmp.Or(f.message, string(e.Detail))
	default:
		f.message = cmp.Or(plain(e.Message), string(e.Message))
	}
}

// name adds words, and takes a number for the status where the answer has none of its own.
func (f *fault) name(words ...json.RawMessage) {
	for _, w := range words {
		s := plain(w)
		if n, err := strconv.Atoi(s); err == nil {
			if f.inside && n >= http.StatusBadRequest && n < 600 {
				f.status = n
			}
		} else if s != "" && s != "error" && len(s) < maxName {
			f.kinds = append(f.kinds, s)
		}
	}
}

// add reads an error out of its envelope.
func (f *fault) add(s stated, now time.Time) {
	f.name(s.Code, s.Type, s.Status, s.Inner.Code)
	f.message = cmp.Or(plain(s.Message), string(s.Message))
	f.reasons = append(append(f.reasons, s.Moderation.Categories...), s.Metadata.Reasons...)
	var quotas []string
	for _, d := range s.Details {
		if d.Reason != "" {
			f.kinds = append(f.kinds, d.Reason)
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			f.wait = max(f.wait, wait)
		}
		for _, v := range d.Violations {
			f.daily = f.daily || strings.Contains(v.ID, "PerDay")
			limit, _ := strconv.ParseInt(plain(v.Value), 10, 64) // missing is 0: not known
			if strings.Contains(v.ID, "InputTokens") || strings.HasSuffix(v.Metric, "input_token_count") {
				f.promptTokens = max(f.promptTokens, limit)
			}
			if id := cmp.Or(v.ID, v.Metric); id != "" && !strings.Contains(f.message, id) {
				quotas = append(quotas, strings.TrimSuffix(id+" of "+plain(v.Value), " of "))
			}
		}
	}
	if len(quotas) > 0 {
		f.message += " (quota " + strings.Join(quotas, ", ") + ")"
	}
	f.upstream(s, now)
}

// upstream reads what a gateway says of the provider behind it.
func (f *fault) upstream(s stated, now time.Time) {
	if s.Metadata.Flagged != "" {
		f.kinds = append(f.kinds, "flagged_input")
	}
	for name, v := range s.Metadata.Headers {
		text, _ := v.(string)
		if ms, err := strconv.ParseInt(text, 10, 64); err == nil && strings.EqualFold(name, "X-RateLimit-Reset") {
			f.wait = max(f.wait, time.UnixMilli(ms).Sub(now))
		}
	}
	raw := []byte(cmp.Or(plain(s.Metadata.Raw), string(s.Metadata.Raw)))
	if len(raw) > 0 && string(raw) != "null" {
		under := readFault(f.status, nil, raw, now)
		f.kinds = append(f.kinds, under.kinds...)
		f.wait, f.daily = max(f.wait, under.wait), f.daily || under.daily
		f.message += ": " + under.message
	}
	if s.Metadata.Provider != "" && !strings.Contains(f.message, s.Metadata.Provider) {
		f.message += " (" + s.Metadata.Provider + ")"
	}
	for _, p := range s.Metadata.Previous {
		if text := plain(p.Message); text != "" && !strings.Contains(f.message, text) {
			f.message += "; before: " + text
		}
	}
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// plain is a text or a number as text; "" for anything else.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if len(raw) > 0 && raw[0] != '"' && json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

var (
	// waitText finds how long a message asks to wait: "Please retry in 48.9s.", "try again in
	// 7m12s", "retry after 6 seconds".
	waitText  = regexp.MustCompile(`(?i)\b(?:retry|try again)(?: your request)? (?:in|after) ((?:[0-9]+(?:\.[0-9]+)? ?[a-z]+ ?)+)`)
	waitPiece = regexp.MustCompile(`(?i)([0-9]+(?:\.[0-9]+)?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b?`)
)

// waitIn is how long a message asks to wait; 0 if it does not.
func waitIn(message string) (sum time.Duration) {
	found := waitText.FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	for _, piece := range waitPiece.FindAllStringSubmatch(found[1], -1) {
		n, err := strconv.ParseFloat(piece[1], 64)
		if err != nil {
			continue
		}
		unit := time.Second
		switch word := strings.ToLower(piece[2]); {
		case strings.HasPrefix(word, "ms"), strings.HasPrefix(word, "milli"):
			unit = time.Millisecond
		case strings.HasPrefix(word, "m"):
			unit = time.Minute
		case strings.HasPrefix(word, "h"):
			unit = time.Hour
		case strings.HasPrefix(word, "d"):
			unit = 24 * time.Hour
		}
		sum += seconds(n * unit.Seconds())
	}
	return sum
}

// mostWait is more than anybody waits, and less than overflows.
const mostWait = 10_000 * time.Hour

// seconds is a time that may be too long to count.
func seconds(n float64) time.Duration {
	if math.IsNaN(n) || n <= 0 {
		return 0
	}
	return time.Duration(min(n, mostWait.Seconds()) * float64(time.Second))
}

// waitOf is how long headers ask to wait: the longest of what they say, and where they only
// say when limits are reset, the resets of those that are used up.
func waitOf(h http.Header, now time.Time) time.Duration {
	var wait time.Duration
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		wait = seconds(ms / 1000)
	}
	after := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil {
		wait = max(wait, seconds(s))
	} else if at, err := http.ParseTime(after); err == nil {
		wait = max(wait, at.Sub(now))
	}
	if wait > 0 {
		return wait
	}
	for _, of := range []string{"Requests", "Tokens"} {
		if reset, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + of)); err == nil && h.Get("X-Ratelimit-Remaining-"+of) == "0" {
			wait = max(wait, reset)
		}
	}
	return wait
}

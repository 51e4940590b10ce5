package fantasy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/internal/patience"
)

// fault is an error as a provider states it, in any envelope.
type fault struct {
	// status is the HTTP status. If embedded is set, the error is in an answer with status 200, and status is the number
	// that the error states.
	status   int
	embedded bool
	// kinds are the words that classify the error: code, type, status, reason.
	kinds   []string
	message string
	// wait is how long the provider asks to wait. daily means that a daily quota is used up.
	wait  time.Duration
	daily bool
	// reasons are the reasons for which a safety system refused, if the provider lists them.
	reasons []string
	// promptTokens is the limit of an exhausted quota of prompt tokens; 0 if there is none.
	promptTokens int64
}

// is reports whether one of the words classifies the fault, ignoring case.
func (f fault) is(words ...string) bool {
	return slices.ContainsFunc(f.kinds, func(k string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(k, w) })
	})
}

// envelope covers the forms in which providers wrap an error:
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

// stated is an error without its envelope.
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

// detail is an error detail of Google.
type detail struct {
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"`
	Violations []struct {
		ID     string          `json:"quotaId"`
		Metric string          `json:"quotaMetric"`
		Value  json.RawMessage `json:"quotaValue"`
	} `json:"violations"`
}

// maxWords limits the message of a fault that is judged, in bytes. The words of kinds are shorter than maxName.
const (
	maxWords = 32 << 10
	maxName  = 200
)

// readFault parses the body of an error response. It judges the body by its content, whatever the declared type.
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
	f.wait = max(f.wait, patience.Requested(header, now), waitIn(f.message))
	f.daily = f.daily || patience.Daily(f.message)
	return f
}

// partly ignores a JSON decoding error that concerns a single field: the other fields are decoded.
func partly(err error) error {
	if _, field := err.(*json.UnmarshalTypeError); field { //nolint:errorlint // Unmarshal does not wrap it.
		return nil
	}
	return err
}

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
		_ = json.Unmarshal(e.Detail, &list) // another form is shown as it is
		for _, d := range list {
			f.message = strings.TrimPrefix(f.message+"; "+d.Msg, "; ")
			f.kinds = append(f.kinds, d.Type)
		}
		f.message = cmp.Or(f.message, string(e.Detail))
	default:
		f.message = cmp.Or(plain(e.Message), string(e.Message))
	}
}

// name adds words to kinds. A number is used as the status if the answer has no error status of its own.
func (f *fault) name(words ...json.RawMessage) {
	for _, w := range words {
		s := plain(w)
		if n, err := strconv.Atoi(s); err == nil {
			if f.embedded && n >= http.StatusBadRequest && n < 600 {
				f.status = n
			}
		} else if s != "" && s != "error" && len(s) < maxName {
			f.kinds = append(f.kinds, s)
		}
	}
}

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
			limit, _ := strconv.ParseInt(plain(v.Value), 10, 64) // a missing value becomes 0: unknown
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

// upstream reads what a gateway reports about the provider behind it.
func (f *fault) upstream(s stated, now time.Time) {
	if s.Metadata.Flagged != "" {
		f.kinds = append(f.kinds, "flagged_input")
	}
	quoted := http.Header{}
	for name, v := range s.Metadata.Headers {
		text, _ := v.(string)
		quoted.Set(name, text)
	}
	f.wait = max(f.wait, patience.Requested(quoted, now))
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

// plain returns a string or a number as text, and "" for any other value.
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
	// waitText matches the waiting time in a message: "Please retry in 48.9s.", "try again in 7m12s", "retry after 6
	// seconds".
	waitText  = regexp.MustCompile(`(?i)\b(?:retry|try again)(?: your request)? (?:in|after) ((?:[0-9]+(?:\.[0-9]+)? ?[a-z]+ ?)+)`)
	waitPiece = regexp.MustCompile(`(?i)([0-9]+(?:\.[0-9]+)?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\b?`)
)

// waitIn returns the waiting time that a message requests; 0 if there is none.
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
		word := strings.ToLower(piece[2])
		seconds := map[byte]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}[word[0]]
		if strings.HasPrefix(word, "ms") || strings.HasPrefix(word, "milli") {
			seconds = 0.001
		}
		sum += patience.Seconds(n * seconds)
	}
	return sum
}

package midjourneysim

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
)

// Variants tells how many shapes a fault has here.
func (s *Simulator) Variants(f generatetest.Fault) int {
	if s.Absent(f) != "" {
		return 0
	}
	switch f {
	case generatetest.FaultListLost:
		return 4
	case generatetest.FaultModerated, generatetest.FaultTaskLost, generatetest.FaultTaskFailed:
		return 3
	case generatetest.FaultPreviewLost:
		return len(lostPreviews)
	case generatetest.FaultUnauthorized, generatetest.FaultQuota, generatetest.FaultInvalid,
		generatetest.FaultRateLimit, generatetest.FaultPrivateURL, generatetest.FaultOverloaded:
		return 2
	default:
		return 1
	}
}

// Absent says which faults there are none of.
func (s *Simulator) Absent(f generatetest.Fault) string {
	switch f {
	case generatetest.FaultPartialN:
		return "a job draws all four pictures or none"
	case generatetest.FaultConflict:
		return "a job that exists already is answered with its task"
	default:
		return ""
	}
}

// answerFault answers the faults of a submission. It reports false if the call is to go
// on.
func (s *Simulator) answerFault(w http.ResponseWriter, r *http.Request, f generatetest.Injection) bool {
	second := f.Variant == 1
	switch f.Fault {
	case generatetest.FaultUnauthorized:
		if second {
			http.Error(w, "Authorization header missing.", http.StatusUnauthorized)
		} else {
			w.WriteHeader(http.StatusUnauthorized) // and nothing more
		}
	case generatetest.FaultForbidden:
		http.Error(w, "Account unavailable", http.StatusForbidden)
	case generatetest.FaultRateLimit:
		return tooMany(w, f)
	case generatetest.FaultServerError:
		(&envelope{Code: 9, Description: "Failed to submit, try again later"}).write(w)
	case generatetest.FaultOverloaded:
		if second {
			(&envelope{status: http.StatusTooManyRequests, Code: 30, Description: "the group is under full load"}).write(w)
		} else {
			(&envelope{Code: 23, Description: "Queue is full, please try again later", Properties: map[string]any{"discordInstanceId": "1118138338562560102"}}).write(w)
		}
	case generatetest.FaultHTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, simulate.Page)
	case generatetest.FaultNotJSON:
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		_, _ = io.WriteString(w, "upstream said: {]")
	case generatetest.FaultDropped:
		panic(http.ErrAbortHandler)
	case generatetest.FaultSlow:
		return !simulate.Wait(r, f.Delay)
	default:
		return s.refusedAtOnce(w, f)
	}
	return true
}

// refusedAtOnce answers the first shapes of faults that can come later too.
func (s *Simulator) refusedAtOnce(w http.ResponseWriter, f generatetest.Injection) bool {
	if f.Variant != 0 {
		return false
	}
	switch f.Fault {
	case generatetest.FaultInvalid:
		invalid("prompt cannot be empty").write(w)
	case generatetest.FaultModerated:
		(&envelope{Code: 24, Description: "May contain sensitive words", Properties: map[string]any{"promptEn": "x", "bannedWord": "gore"}}).write(w)
	case generatetest.FaultQuota:
		(&envelope{status: http.StatusBadRequest, Code: 4, Description: "quota_not_enough"}).write(w)
	default:
		return false
	}
	return true
}

// tooMany is a limit in front of the proxy: a page, or JSON.
func tooMany(w http.ResponseWriter, f generatetest.Injection) bool {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter.Seconds())))
	}
	if f.Variant == 1 {
		(&envelope{status: http.StatusTooManyRequests, Code: 23, Description: "too many requests"}).write(w)
		return true
	}
	http.Error(w, "429 Too Many Requests", http.StatusTooManyRequests)
	return true
}

// faultReason is why a task fails by its fault.
func faultReason(f generatetest.Injection) string {
	var list []string
	switch f.Fault {
	case generatetest.FaultModerated:
		list = []string{"", "[Banned prompt] Banned prompt detected", "[Action needed to continue] Your image was blocked by our AI moderators"}
	case generatetest.FaultQuota:
		list = []string{"", "[Fast hours] You have run out of fast hours"}
	case generatetest.FaultInvalid:
		list = []string{"", "[Invalid link] Could not fetch image"}
	case generatetest.FaultDeadModel:
		list = []string{"[Invalid parameter] Invalid value for --v"}
	case generatetest.FaultPartialsThenError:
		list = []string{"Failed to process your command"}
	case generatetest.FaultTaskFailed:
		list = []string{"任务超时", "Failed to process your command", ""}
		if f.Variant == 2 {
			return " "
		}
	default:
		return ""
	}
	return list[f.Variant%len(list)]
}

// checkFlags judges the flags of a prompt, as Midjourney does once a job runs.
func checkFlags(prompt string) string {
	number := map[string][2]float64{
		"--seed": {0, 4294967295}, "--s": {0, 1000}, "--stylize": {0, 1000}, "--c": {0, 100}, "--chaos": {0, 100},
		"--w": {0, 3000}, "--weird": {0, 3000}, "--iw": {0, 3}, "--stop": {10, 100}, "--exp": {0, 100}, "--sw": {0, 1000},
		"--sv": {1, 6}, "--zoom": {1, 2},
	}
	word := map[string][]string{
		"--v": {"5", "5.1", "5.2", "6", "6.1", "7", "8", "8.1", "8.2"}, "--niji": {"4", "5", "6", "7"}, "--q": {"0.25", "0.5", "1", "4"},
		"--style": {"raw", "cute", "scenic", "expressive", "original"},
	}
	free := []string{"--no", "--p", "--sref", "--tile", "--draft", "--raw", "--ar", "--aspect"}
	fields := strings.Fields(prompt)
	for i, f := range fields {
		if !strings.HasPrefix(f, "--") {
			continue
		}
		value := ""
		if i+1 < len(fields) {
			value = fields[i+1]
		}
		r, isNumber := number[f]
		n, err := strconv.ParseFloat(value, 64)
		words, isWord := word[f]
		switch {
		case isNumber && (err != nil || n < r[0] || n > r[1]), isWord && !slices.Contains(words, value):
			return "[Invalid parameter] Invalid value for " + f
		case f == "--ar" && !ratio(value):
			return "[Invalid parameter] Invalid value for --ar"
		case !isNumber && !isWord && !slices.Contains(free, f):
			return "[Invalid parameter] Unrecognized parameter " + f
		}
	}
	return ""
}

// ratio reports whether a text is two whole numbers up to 14:1.
func ratio(text string) bool {
	a, b, ok := strings.Cut(text, ":")
	w, werr := strconv.Atoi(a)
	h, herr := strconv.Atoi(b)
	return ok && werr == nil && herr == nil && w > 0 && h > 0 && max(w, h) <= 14*min(w, h)
}

// Idle tells that a submission that failed was not made.
func (s *Simulator) Idle(in generatetest.Injection) bool {
	return in.Fault == generatetest.FaultServerError
}

package midjourneysim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"atelier/internal/sim"
)

// text is an answer of a server in front of the proxy.
func text(status int, body string) sim.Answer {
	return sim.Answer{Status: status, Type: "text/plain; charset=utf-8", Body: body + "\n"}
}

// script returns the provider's answers to the faults of a submission; other faults come with the task.
func script(c *sim.Call) sim.Script {
	tooMany := text(http.StatusTooManyRequests, "429 Too Many Requests")
	inJSON := envelope{status: http.StatusTooManyRequests, Code: 23, Description: "too many requests"}.answer()
	tooMany.Header, inJSON.Header = sim.RetryAfter(c.Fault), sim.RetryAfter(c.Fault)
	return sim.Script{
		sim.FaultUnauthorized: {{Status: http.StatusUnauthorized}, text(http.StatusUnauthorized, "Authorization header missing.")},
		sim.FaultForbidden:    {text(http.StatusForbidden, "Account unavailable")},
		sim.FaultRateLimit:    {tooMany, *inJSON},
		sim.FaultServerError:  {*envelope{Code: 9, Description: "Failed to submit, try again later"}.answer()},
		sim.FaultOverloaded: {
			*envelope{Code: 23, Description: "Queue is full, please try again later", Properties: map[string]any{"discordInstanceId": "1118138338562560102"}}.answer(),
			*envelope{status: http.StatusTooManyRequests, Code: 30, Description: "the group is under full load"}.answer(),
		},
		sim.FaultInvalid:     {*invalid("prompt cannot be empty"), {}},
		sim.FaultModerated:   {*sensitive("x", "gore"), {}, {}},
		sim.FaultQuota:       {*envelope{status: http.StatusBadRequest, Code: 4, Description: "quota_not_enough"}.answer(), {}},
		sim.FaultListLost:    sim.DeferredVariants(4),
		sim.FaultTaskLost:    sim.DeferredVariants(3),
		sim.FaultTaskFailed:  sim.DeferredVariants(3),
		sim.FaultPreviewLost: sim.DeferredVariants(len(lostPreviews)),
		sim.FaultPrivateURL:  sim.DeferredVariants(2),
	}
}

// faultReason returns the reason for which a task fails by its fault; empty if it does not.
func faultReason(f sim.Injection) string {
	var list []string
	switch f.Fault {
	case sim.FaultModerated:
		list = []string{"", "[Banned prompt] Banned prompt detected", "[Action needed to continue] Your image was blocked by our AI moderators"}
	case sim.FaultQuota:
		list = []string{"", "[Fast hours] You have run out of fast hours"}
	case sim.FaultInvalid:
		list = []string{"", "[Invalid link] Could not fetch image"}
	case sim.FaultDeadModel:
		list = []string{"[Invalid parameter] Invalid value for --v"}
	case sim.FaultPartialsThenError:
		list = []string{"Failed to process your command"}
	case sim.FaultTaskFailed:
		list = []string{"任务超时", "Failed to process your command", ""}
		if f.Variant == 2 {
			return " "
		}
	default:
		return ""
	}
	return list[f.Variant%len(list)]
}

// checkFlags validates the flags of a prompt, as Midjourney does once a job runs, and returns the error.
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

// ratio reports whether text is a ratio of two whole numbers, at most 14:1 or 1:14.
func ratio(text string) bool {
	a, b, ok := strings.Cut(text, ":")
	w, werr := strconv.Atoi(a)
	h, herr := strconv.Atoi(b)
	return ok && werr == nil && herr == nil && w > 0 && h > 0 && max(w, h) <= 14*min(w, h)
}

// Idle reports that a failed submission made nothing.
func (s *Simulator) Idle(in sim.Injection) bool {
	return in.Fault == sim.FaultServerError
}

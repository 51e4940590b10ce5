package fantasy

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/chat"
	"atelier/internal/patience"
	"atelier/media"
)

// answerBody holds what the answers of all protocols contain in addition to their text.
type answerBody struct {
	Type  string          `json:"type"`
	Error json.RawMessage `json:"error"`
	Usage usageBody       `json:"usage"`

	// Chat completions.
	Choices []choice `json:"choices"`

	// Responses.
	Status     json.RawMessage `json:"status"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []outputItem `json:"output"`

	// Anthropic.
	StopReason  string `json:"stop_reason"`
	StopDetails struct {
		Category    string `json:"category"`
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
	Content []contentPart `json:"content"`

	// Gemini.
	Feedback struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Candidates []candidate `json:"candidates"`
	Metadata   geminiUsage `json:"usageMetadata"`
}

type outputItem struct {
	Type    string          `json:"type"`
	Status  string          `json:"status"`
	Error   json.RawMessage `json:"error"`
	Content []contentPart   `json:"content"`
}

type choice struct {
	FinishReason string                     `json:"finish_reason"`
	Error        json.RawMessage            `json:"error"`
	Message      chatMessage                `json:"message"`
	Filters      map[string]json.RawMessage `json:"content_filter_results"`
}

type candidate struct {
	FinishReason string `json:"finishReason"`
	Message      string `json:"finishMessage"`
	Content      struct {
		Parts []candidatePart `json:"parts"`
	} `json:"content"`
}

type candidatePart struct {
	Text    string          `json:"text"`
	Thought bool            `json:"thought"`
	Inline  json.RawMessage `json:"inlineData"`
}

type chatMessage struct {
	Refusal *string         `json:"refusal"`
	Content json.RawMessage `json:"content"`
}

type contentPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// text returns the text of a message: a string, or the parts of type text.
func (m chatMessage) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []contentPart
	_ = partly(json.Unmarshal(m.Content, &parts)) // null has no parts
	return textOf(parts)
}

// textOf returns the text of parts, without thoughts.
func textOf(parts []contentPart) (text string) {
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			text += p.Text
		}
	}
	return text
}

// judge returns the error that an answer with status 200 contains; nil if there is none.
func (m *model) judge(a answerBody, by asked, now time.Time) *media.Error {
	if statedError(a.Error) {
		return m.inside(a.Error, by, now)
	}
	switch {
	case len(a.Choices) > 0:
		return m.judgeCompletion(a, by, now)
	case a.Feedback.Reason != "" && len(a.Candidates) == 0:
		return m.refusal(a.Feedback.Reason, a.Feedback.Message)
	case len(a.Candidates) > 0:
		return m.judgeCandidate(a, by)
	case a.StopReason == "refusal":
		return m.refusal(a.StopDetails.Category, cmp.Or(a.StopDetails.Explanation, a.words()))
	case a.StopReason == "model_context_window_exceeded" && strings.TrimSpace(a.words()) == "":
		return m.fault(fault{status: 200, embedded: true, kinds: []string{a.StopReason}, message: a.StopReason}, by)
	case a.StopReason != "":
		return nil
	}
	text, refusal := a.words(), ""
	for _, o := range a.Output {
		if o.Type == "image_generation_call" && o.Status == "failed" {
			e := m.fault(fault{status: 200, embedded: true, message: "the picture was not made"}, by)
			if statedError(o.Error) {
				e = m.inside(o.Error, by, now)
			}
			e.Retryable = false
			return e
		}
		for _, p := range o.Content {
			refusal += p.Refusal
		}
	}
	switch {
	case refusal != "" && strings.TrimSpace(text) == "":
		return m.refusal("refusal", refusal)
	case a.Incomplete.Reason == "content_filter":
		return m.refusal(a.Incomplete.Reason, cmp.Or(refusal, text))
	case plain(a.Status) == "failed":
		return m.fault(fault{status: 200, embedded: true, message: "the answer failed"}, by)
	}
	return nil
}

// statedError reports whether there is an error: some providers send null, false, 0, "", [] or {} if there is none.
func statedError(raw json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", "false", "0"}, strings.Trim(string(raw), "\"[]{} \n\r\t"))
}

// inside returns the error inside an answer with status 200.
func (m *model) inside(raw json.RawMessage, by asked, now time.Time) *media.Error {
	f := fault{status: 200, embedded: true}
	f.open(envelope{Error: raw}, now)
	f.wait, f.daily = max(f.wait, waitIn(f.message)), f.daily || patience.Daily(f.message)
	return m.fault(f, by)
}

func (m *model) judgeCompletion(a answerBody, by asked, now time.Time) *media.Error {
	c := a.Choices[0]
	refusal := ""
	if c.Message.Refusal != nil {
		refusal = *c.Message.Refusal
	}
	var acted []string // providers also list the categories on which no filter acted
	for name, raw := range c.Filters {
		var f struct {
			Filtered bool `json:"filtered"`
		}
		if json.Unmarshal(raw, &f) == nil && f.Filtered {
			acted = append(acted, name)
		}
	}
	slices.Sort(acted)
	switch {
	case statedError(c.Error):
		e := m.inside(c.Error, by, now)
		e.Retryable = false // a part of the answer was generated
		return e
	case c.FinishReason == "error":
		return m.fault(fault{status: 502, embedded: true, message: "the provider ended its answer with an error"}, by)
	case c.FinishReason == "content_filter", c.FinishReason == "refusal", strings.TrimSpace(refusal) != "",
		len(acted) > 0 && strings.TrimSpace(c.Message.text()) == "":
		return m.refusal(strings.Join(append([]string{c.FinishReason}, acted...), ", "), cmp.Or(refusal, c.Message.text()))
	}
	return nil
}

// geminiRefusals are the finish reasons without an answer. If there is an answer, the last four mean that its picture
// is missing.
var geminiRefusals = []string{
	"SAFETY", "PROHIBITED_CONTENT", "SPII", "BLOCKLIST", "RECITATION", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "MODEL_ARMOR", "LANGUAGE",
	"IMAGE_RECITATION", "IMAGE_OTHER", "NO_IMAGE", "OTHER",
}

func (m *model) judgeCandidate(a answerBody, by asked) *media.Error {
	c, words := a.Candidates[0], a.words()
	content := strings.TrimSpace(words) != "" ||
		slices.ContainsFunc(c.Content.Parts, func(p candidatePart) bool { return !p.Thought && len(p.Inline) > 0 })
	at := slices.Index(geminiRefusals, c.FinishReason)
	switch {
	case at >= 0 && (!content || at < len(geminiRefusals)-4):
		return m.refusal(c.FinishReason, cmp.Or(c.Message, words))
	case c.FinishReason == "UNEXPECTED_TOOL_CALL", c.FinishReason == "MALFORMED_FUNCTION_CALL":
		return m.fault(fault{status: 200, embedded: true, kinds: []string{c.FinishReason}, message: strings.TrimSuffix(c.FinishReason+": "+c.Message, ": ")}, by)
	}
	return nil
}

// usageBody is the usage in chat completions, Responses and Anthropic.
type usageBody struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheHit   int64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptIs   struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	InputIs struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	CompletionIs struct {
		Images int64 `json:"image_tokens"`
	} `json:"completion_tokens_details"`
	// Cost is in US dollars: a number at OpenRouter, an object at Perplexity. Ticks are xAI's unit: 10,000,000,000 are
	// one dollar.
	Cost        json.RawMessage `json:"cost"`
	Ticks       json.Number     `json:"cost_in_usd_ticks"`
	OwnKey      bool            `json:"is_byok"`
	CostDetails struct {
		Upstream json.Number `json:"upstream_inference_cost"`
	} `json:"cost_details"`
}

// geminiUsage is the usage in Gemini's answers.
type geminiUsage struct {
	Prompt     int64 `json:"promptTokenCount"`
	Tools      int64 `json:"toolUsePromptTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"`
	Thoughts   int64 `json:"thoughtsTokenCount"`
	Details    []struct {
		Modality string `json:"modality"`
		Tokens   int64  `json:"tokenCount"`
	} `json:"candidatesTokensDetails"`
}

// cost returns the price that an answer states, in US dollars; nil if it states none.
func (u usageBody) cost() *string {
	if ticks, ok := amount(u.Ticks.String()); ok {
		return chat.USD(ticks.Quo(ticks, big.NewRat(10_000_000_000, 1)))
	}
	stated := plain(u.Cost)
	if isObject(u.Cost) {
		var o struct {
			Total json.Number `json:"total_cost"`
		}
		_ = partly(json.Unmarshal(u.Cost, &o)) // a missing cost stays empty
		stated = o.Total.String()
	}
	sum, ok := amount(stated)
	if !ok {
		return nil
	}
	// If the user has their own key, the upstream provider bills as well.
	if upstream, ok := amount(u.CostDetails.Upstream.String()); ok && u.OwnKey {
		sum.Add(sum, upstream)
	}
	return chat.USD(sum)
}

// maxStated is more than any call costs, in ticks.
const maxStated = 1e15

// amount parses a number that a provider states, exactly. It rejects negative and absurd numbers.
func amount(s string) (*big.Rat, bool) {
	if f, err := strconv.ParseFloat(s, 64); err != nil || !(f >= 0 && f <= maxStated) || len(s) > 40 || f != 0 && f < 1e-15 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

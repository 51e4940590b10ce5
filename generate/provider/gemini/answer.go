package gemini

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// answer is the body of a 200 response, with or without a picture.
type answer struct {
	Candidates []candidate `json:"candidates"`
	Feedback   struct {
		BlockReason string   `json:"blockReason"`
		Message     string   `json:"blockReasonMessage"`
		Ratings     []rating `json:"safetyRatings"`
	} `json:"promptFeedback"`
	Usage        usage  `json:"usageMetadata"`
	ModelVersion string `json:"modelVersion"`
	ResponseID   string `json:"responseId"`
}

type candidate struct {
	Content       content  `json:"content"`
	FinishReason  string   `json:"finishReason"`
	FinishMessage string   `json:"finishMessage"`
	Ratings       []rating `json:"safetyRatings"`
}

type rating struct {
	Category    string `json:"category"`
	Probability string `json:"probability"`
	Blocked     bool   `json:"blocked"`
}

type usage struct {
	Prompt            int64   `json:"promptTokenCount"`
	Candidates        int64   `json:"candidatesTokenCount"`
	Thoughts          int64   `json:"thoughtsTokenCount"`
	PromptDetails     []count `json:"promptTokensDetails"`
	CandidatesDetails []count `json:"candidatesTokensDetails"`
}

type count struct {
	Modality string `json:"modality"`
	Tokens   int64  `json:"tokenCount"`
}

func (d *Driver) answered(call post.Call, a *post.Answer, got answer) (u driver.Update, err error) {
	u = driver.Update{Done: true, Progress: 1, Metadata: d.client.Metadata(map[string]any{
		"model_version": got.ModelVersion, "response_id": got.ResponseID, "thoughts_tokens": got.Usage.Thoughts,
	})}
	var texts []string
	for _, c := range got.Candidates {
		for _, p := range c.Content.Parts {
			switch {
			case p.Thought:
			case p.InlineData != nil:
				it := d.client.Item(a.Media, p.InlineData.Data)
				it.DeclaredMIME, it.Seed = d.client.Clean(post.Declared(p.InlineData.MIMEType)), call.Task.Seed
				u.Items = append(u.Items, it)
			case strings.TrimSpace(p.Text) != "":
				texts = append(texts, p.Text)
			}
		}
	}
	u.Usage = got.Usage.count(call.Task, post.Made(u.Items))
	if len(u.Items) > 0 {
		return u, nil
	}
	var why post.Ending // a blocked prompt, a candidate stopped for safety, NO_IMAGE, or text instead of the picture
	if reason := got.Feedback.BlockReason; reason != "" {
		why = post.Ending{Blocked: true, Reasons: []string{reason}, Said: got.Feedback.Message, Categories: categories(got.Feedback.Ratings)}
	} else if len(got.Candidates) > 0 {
		c := got.Candidates[0]
		why = post.Ending{Reasons: []string{c.FinishReason}, Said: cmp.Or(c.FinishMessage, strings.Join(texts, " ")), Categories: categories(c.Ratings)}
	}
	u.Items, err = d.client.Without(call, why)
	return u, err
}

// interim reports whether the item at token is in a thought part of a body that is truncated and therefore not valid
// JSON: it inspects the part's own fields before and after the inline data.
func interim(body, token string) bool {
	before, after, ok := strings.Cut(body, token)
	if !ok {
		return false
	}
	if i := strings.LastIndex(before, `"inlineData"`); i >= 0 {
		before = before[strings.LastIndexByte(before[:i], '{')+1 : i]
	}
	if i := strings.IndexByte(after, '{'); i >= 0 {
		after = after[:i]
	}
	const thought = `"thought":true`
	tight := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return strings.Contains(tight(before), thought) || strings.Contains(tight(after), thought)
}

// categories returns the ratings that blocked, in the provider's words.
func categories(ratings []rating) (list []string) {
	for _, r := range ratings {
		if r.Blocked || r.Probability == "HIGH" {
			list = append(list, r.Category)
		}
	}
	return list
}

// count splits the tokens. Thoughts are billed as text output. If the answer has no split, the candidates' tokens of an
// answer with a picture are image tokens. Audio tokens are part of the output.
func (u usage) count(t driver.Task, pictures int) generate.Usage {
	out := generate.Usage{
		InputTokens: u.Prompt, OutputTokens: u.Candidates + u.Thoughts,
		ImageInputTokens: imageTokens(u.PromptDetails), ImageOutputTokens: imageTokens(u.CandidatesDetails),
	}
	if len(u.CandidatesDetails) == 0 && pictures > 0 && t.Model.Modality != media.ModalityAudio {
		out.ImageOutputTokens = u.Candidates
	}
	return out
}

func imageTokens(details []count) int64 {
	var n int64
	for _, c := range details {
		if c.Modality == "IMAGE" {
			n += c.Tokens
		}
	}
	return n
}

// detail is one of the typed details of an error; fields of other types stay empty.
type detail struct {
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"`
	Violations []struct {
		QuotaID    string `json:"quotaId"`
		QuotaValue string `json:"quotaValue"`
	} `json:"violations"`
}

// noTier matches the message about a model that the account's tier excludes; the details of its quota lack the value.
var noTier = regexp.MustCompile(`\blimit: 0\b`)

func explain(a *post.Answer) (post.Fault, bool) {
	var failure struct {
		Error *struct {
			Message string   `json:"message"`
			Status  string   `json:"status"`
			Details []detail `json:"details"`
		} `json:"error"`
	}
	if !post.DecodeFirst(a.Body, &failure) || failure.Error == nil {
		return post.Fault{}, false
	}
	f := post.Fault{}
	var quotas []string // quotas come first, because the long message is truncated
	if failure.Error.Status == "FAILED_PRECONDITION" {
		f.Code, f.Advice = media.CodeForbidden, "turn on billing in Google AI Studio, or use it from a supported country"
	}
	for _, d := range failure.Error.Details {
		if d.Reason == "API_KEY_INVALID" {
			f.Code, f.Advice = media.CodeUnauthorized, ""
		}
		// RetryInfo: seconds with a trailing s.
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			f.Wait = max(wait, 0)
		}
		for _, v := range d.Violations {
			quotas = append(quotas, strings.TrimSuffix(v.QuotaID+" of "+v.QuotaValue, " of ")+": ")
		}
	}
	if a.Status == http.StatusTooManyRequests && noTier.MatchString(failure.Error.Message) { // waiting does not help
		f.Code = media.CodeQuotaExceeded
	}
	f.Words = strings.Join(quotas, "") + failure.Error.Message
	return f, true
}

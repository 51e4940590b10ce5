package gemini

import (
	"context"
	"fmt"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// answer is the body of a 200, with a picture or without.
type answer struct {
	Candidates []candidate `json:"candidates"`
	Feedback   struct {
		BlockReason string   `json:"blockReason"`
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

// answered reads a 200.
func (d *Driver) answered(ctx context.Context, t generate.Task, a *post.Answer) (generate.Update, error) {
	var got answer
	if err := d.client.Decode(a, &got); err != nil {
		return generate.Update{}, err
	}
	if a.Cut() {
		return d.cut(ctx, a)
	}
	u := generate.Update{Done: true, Progress: 1, Metadata: d.metadata(got)}
	var said []string
	pictures := 0
	for _, c := range got.Candidates {
		for _, p := range c.Content.Parts {
			switch {
			case p.Thought:
			case p.InlineData != nil:
				it := d.item(t, a, p)
				if it.Err == nil {
					pictures++
				}
				u.Items = append(u.Items, it)
			case strings.TrimSpace(p.Text) != "":
				said = append(said, p.Text)
			}
		}
	}
	u.Usage = got.Usage.count(t, pictures)
	if len(u.Items) == 0 {
		it, err := d.without(t, got, d.client.Clean(strings.Join(said, " ")))
		if err != nil {
			return u, err
		}
		u.Items = []generate.Item{it}
	}
	return u, nil
}

// item names the picture of a part.
func (d *Driver) item(t generate.Task, a *post.Answer, p part) generate.Item {
	b, err := d.client.Take(a.Media, p.InlineData.Data)
	if err != nil {
		return generate.Item{Err: err}
	}
	return generate.Item{Blob: b, DeclaredMIME: d.client.Clean(stored(p.InlineData.MIMEType)), Seed: t.Seed}
}

// cut saves the pictures that arrived whole before an answer ended.
func (d *Driver) cut(ctx context.Context, a *post.Answer) (generate.Update, error) {
	u := generate.Update{Done: true, Progress: -1, Usage: generate.Usage{Calls: 1}}
	for _, l := range a.Media.All() {
		if l.Err == nil && !interim(string(a.Body), l.Token) {
			u.Items = append(u.Items, generate.Item{Blob: &l.Blob})
		}
	}
	u.Usage.Images = len(u.Items)
	return u, d.client.Lost(ctx, a.Broken, len(u.Items))
}

// interim reports whether the item at token lies in a part that is a thought, in a
// body that ends too early to be read as JSON: it looks at the part's own fields
// before and after the inline data.
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

// refusals are the finish and block reasons that mean a safety or policy decision.
var refusals = map[string]bool{
	"SAFETY": true, "BLOCKLIST": true, "PROHIBITED_CONTENT": true, "SPII": true, "RECITATION": true,
	"IMAGE_SAFETY": true, "IMAGE_PROHIBITED_CONTENT": true, "IMAGE_RECITATION": true, "NO_IMAGE": true,
	"MODEL_ARMOR": true, "JAILBREAK": true,
}

// without says why a success holds no picture. Four shapes are refusals: a blocked
// prompt, a candidate stopped for safety, NO_IMAGE, and a text in place of the
// picture. Anything else is an answer that should not be.
func (d *Driver) without(t generate.Task, a answer, said string) (generate.Item, error) {
	if why := a.Feedback.BlockReason; why != "" {
		return refusal(t, "input", d.client.Clean(why), "", d.categories(why, a.Feedback.Ratings)), nil
	}
	if len(a.Candidates) == 0 {
		return generate.Item{}, media.Errorf(media.CodeBadResponse, "Gemini answered without a %s and without a reason: try other words, or another model", noun(t))
	}
	c := a.Candidates[0]
	note := said
	if c.FinishMessage != "" {
		note = d.client.Clean(c.FinishMessage)
	}
	switch {
	case refusals[c.FinishReason]:
		return refusal(t, "output", c.FinishReason, note, d.categories(c.FinishReason, c.Ratings)), nil
	case said != "" && (c.FinishReason == "STOP" || c.FinishReason == ""):
		return refusal(t, "output", "text in place of a "+noun(t), said, nil), nil
	}
	return generate.Item{}, media.Errorf(media.CodeBadResponse, "Gemini answered without a %s (finish reason %s): try other words, or another model", noun(t), d.client.Clean(c.FinishReason))
}

func refusal(t generate.Task, stage, reason, note string, categories []string) generate.Item {
	if note != "" {
		note = ": " + note
	}
	return generate.Item{
		Err:    media.Errorf(media.CodeModerated, "Gemini refused to make the %s: change the prompt (%s%s)", noun(t), reason, note),
		Safety: &generate.Safety{Blocked: true, Stage: stage, Categories: categories},
	}
}

// categories are the reason and the ratings that blocked, in the provider's words.
func (d *Driver) categories(reason string, ratings []rating) []string {
	list := []string{d.client.Clean(reason)}
	for _, r := range ratings {
		if r.Blocked || r.Probability == "HIGH" {
			list = append(list, d.client.Clean(r.Category))
		}
	}
	return list
}

// metadata is what the provider says about the call.
func (d *Driver) metadata(a answer) map[string]any {
	m := map[string]any{}
	if a.ModelVersion != "" {
		m["model_version"] = d.client.Clean(a.ModelVersion)
	}
	if a.ResponseID != "" {
		m["response_id"] = d.client.Clean(a.ResponseID)
	}
	if a.Usage.Thoughts > 0 {
		m["thoughts_tokens"] = fmt.Sprint(a.Usage.Thoughts)
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// count splits the tokens. Thoughts are billed as text output. Where the answer
// gives no split, the tokens of an answer with a picture are the picture's. Tokens of
// sound are among the output.
func (u usage) count(t generate.Task, pictures int) generate.Usage {
	out := generate.Usage{
		Calls: 1, Images: pictures, InputTokens: u.Prompt, OutputTokens: u.Candidates + u.Thoughts,
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

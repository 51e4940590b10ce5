package gemini

import (
	"cmp"
	"strconv"
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
func (d *Driver) answered(t generate.Task, a *post.Answer, got answer) (generate.Update, error) {
	u := generate.Update{Done: true, Progress: 1, Metadata: d.client.Metadata(map[string]string{
		"model_version": got.ModelVersion, "response_id": got.ResponseID, "thoughts_tokens": got.Usage.thoughts(),
	})}
	var said []string
	for _, c := range got.Candidates {
		for _, p := range c.Content.Parts {
			switch {
			case p.Thought:
			case p.InlineData != nil:
				it := generate.Item{DeclaredMIME: d.client.Clean(post.Declared(p.InlineData.MIMEType)), Seed: t.Seed}
				it.Blob, it.Err = d.client.Take(a.Media, p.InlineData.Data)
				u.Items = append(u.Items, it)
			case strings.TrimSpace(p.Text) != "":
				said = append(said, p.Text)
			}
		}
	}
	u.Usage = got.Usage.count(t, post.Made(u.Items))
	if len(u.Items) > 0 {
		return u, nil
	}
	var err error
	u.Items, err = d.without(t, got, strings.Join(said, " "))
	return u, err
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
func (d *Driver) without(t generate.Task, a answer, said string) ([]generate.Item, error) {
	refused := func(stage, why, note string, categories ...string) []generate.Item {
		return d.client.Moderated(1, generate.Safety{Stage: stage, Categories: categories},
			"Gemini refused to make the %s: change the prompt (%s)", noun(t), d.client.Clean(strings.TrimSuffix(why+": "+note, ": ")))
	}
	if why := a.Feedback.BlockReason; why != "" {
		return refused("input", why, "", categories(why, a.Feedback.Ratings)...), nil
	}
	if len(a.Candidates) == 0 {
		return nil, media.Errorf(media.CodeBadResponse, "Gemini answered without a %s and without a reason: try other words, or another model", noun(t))
	}
	c := a.Candidates[0]
	switch {
	case refusals[c.FinishReason]:
		return refused("output", c.FinishReason, cmp.Or(c.FinishMessage, said), categories(c.FinishReason, c.Ratings)...), nil
	case said != "" && (c.FinishReason == "STOP" || c.FinishReason == ""):
		return refused("output", "text in place of a "+noun(t), said), nil
	}
	return nil, media.Errorf(media.CodeBadResponse, "Gemini answered without a %s (finish reason %s): try other words, or another model", noun(t), d.client.Clean(c.FinishReason))
}

// categories are the reason and the ratings that blocked, in the provider's words.
func categories(reason string, ratings []rating) []string {
	list := []string{reason}
	for _, r := range ratings {
		if r.Blocked || r.Probability == "HIGH" {
			list = append(list, r.Category)
		}
	}
	return list
}

// thoughts counts the tokens of thinking; empty if there are none.
func (u usage) thoughts() string {
	if u.Thoughts <= 0 {
		return ""
	}
	return strconv.FormatInt(u.Thoughts, 10)
}

// count splits the tokens. Thoughts are billed as text output. Where the answer
// gives no split, the tokens of an answer with a picture are the picture's. Tokens of
// sound are among the output.
func (u usage) count(t generate.Task, pictures int) generate.Usage {
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

package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
	"atelier/media/wire"
)

type answer struct {
	Data         []datum `json:"data"`
	Background   string  `json:"background"`
	OutputFormat string  `json:"output_format"`
	Quality      string  `json:"quality"`
	Size         string  `json:"size"`
	Usage        *usage  `json:"usage"`
}

// datum is one picture; b64_json holds the token that replaced it.
type datum struct {
	B64JSON       string `json:"b64_json"`
	URL           string `json:"url"`
	RevisedPrompt string `json:"revised_prompt"`
	MIMEType      string `json:"mime_type"`
	// Respected is false if xAI withholds a picture.
	Respected *bool `json:"respect_moderation"`
}

// usage is optional as a whole and in each part: older models omit details.
type usage struct {
	// Ticks are the units that xAI bills: ten billion of them are a dollar.
	Ticks        post.Text `json:"cost_in_usd_ticks"`
	InputTokens  int64     `json:"input_tokens"`
	OutputTokens int64     `json:"output_tokens"`
	InputDetails struct {
		ImageTokens int64 `json:"image_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails *struct {
		ImageTokens int64 `json:"image_tokens"`
	} `json:"output_tokens_details"`
}

// ticksPerUSD is the unit of [usage.Ticks], tickPlaces its decimal places.
const (
	ticksPerUSD = 10_000_000_000
	tickPlaces  = 10
)

func (d *Driver) answered(call post.Call, from *wire.Collector, got answer) (u driver.Update, err error) {
	u = driver.Update{Done: true, Progress: 1, Metadata: d.client.Metadata(map[string]any{
		"background": got.Background, "output_format": got.OutputFormat, "quality": got.Quality, "size": got.Size,
	})}
	if n := got.Usage; n != nil {
		u.Usage = generate.Usage{
			InputTokens: n.InputTokens, OutputTokens: n.OutputTokens,
			ImageInputTokens: n.InputDetails.ImageTokens, ImageOutputTokens: n.OutputTokens,
		}
		if n.OutputDetails != nil { // models that do not split their output count only image tokens
			u.Usage.ImageOutputTokens = n.OutputDetails.ImageTokens
		}
		if n.Ticks != "" {
			u.ReportedUSD = post.Amount(string(n.Ticks), ticksPerUSD, tickPlaces)
		}
	}
	for _, p := range got.Data {
		if p.Respected != nil && !*p.Respected && p.B64JSON == "" && p.URL == "" { // it was made and is withheld
			one := call.Task
			one.N = 1
			u.Items = append(u.Items, d.client.Moderated(one, generate.Safety{Stage: "output"}, "%s made the picture and holds it back for its content: change the prompt", call.Task.Model.Name)...)
			continue
		}
		it := d.client.Item(from, cmp.Or(p.B64JSON, p.URL))
		it.RevisedPrompt, it.DeclaredMIME = p.RevisedPrompt, d.client.Clean(p.MIMEType)
		if got.OutputFormat != "" {
			it.DeclaredMIME = strings.Replace(d.client.Clean("image/"+got.OutputFormat), "/svg", "/svg+xml", 1)
		}
		u.Items = append(u.Items, it)
	}
	if len(u.Items) == 0 {
		u.Items, err = d.client.Without(call, post.Ending{})
	}
	return u, err
}

type event struct {
	Type string `json:"type"`
	datum
	answer
	Error *apiError `json:"error"`
	// Index is the number of a picture's preview, from 0.
	Index int `json:"partial_image_index"`
}

// frame decodes one event; it ignores other types. An error event contains the error or is itself the error.
func (d *Driver) frame(call post.Call, from *wire.Collector, data []byte) (post.Frame, error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return post.Frame{}, err
	}
	switch failure := e.Error; {
	case failure == nil && e.Type == "error":
		failure = &apiError{}
		if err := json.Unmarshal(data, failure); err != nil {
			return post.Frame{}, err
		}
		fallthrough
	case failure != nil:
		f := failure.fault(http.StatusOK)
		return post.Frame{Fault: &f}, nil
	case strings.HasSuffix(e.Type, ".partial_image"):
		return post.Preview(from, e.B64JSON, e.Index), nil
	case strings.HasSuffix(e.Type, ".completed"):
		e.Data = []datum{e.datum}
		u, err := d.answered(call, from, e.answer)
		return post.Frame{Results: u}, err
	}
	return post.Frame{}, nil
}

// apiError is the content of OpenAI's error envelope. Any field may be null; code is a number on some compatible
// servers.
type apiError struct {
	Message    string    `json:"message"`
	Type       string    `json:"type"`
	Param      string    `json:"param"`
	Code       post.Text `json:"code"`
	Moderation *struct {
		Stage      string   `json:"moderation_stage"`
		Categories []string `json:"categories"`
	} `json:"moderation_details"`
}

// phrases are texts in the envelope that are more specific than the status.
var phrases = post.Phrases{
	{Any: []string{"insufficient_quota", "billing_hard_limit_reached", "used all available credits", "spending limit", "any credits"}, Code: media.CodeQuotaExceeded},
	{Any: []string{"rate_limit_exceeded"}, Code: media.CodeRateLimited},
	{Any: []string{"invalid_api_key", "incorrect api key provided"}, Code: media.CodeUnauthorized},
	{Any: []string{"rejected by content moderation"}, Code: media.CodeModerated},
	{Any: []string{"must be verified"}, Code: media.CodeForbidden, Advice: "open platform.openai.com/settings/organization/general, choose Verify Organization, wait up to 15 minutes, then try again; or use another model (atelier models list)"},
	{Any: []string{"model_not_found", "setting:model;"}, Code: media.CodeNotFound},
}

// refusals are the codes of refusals by the safety system.
var refusals = []string{"moderation_blocked", "content_policy_violation", "invalid_prompt"}

// explain reads an error answer. Some services, including xAI, send the error as a string with its code beside it.
func explain(a *post.Answer) (post.Fault, bool) {
	var flat struct {
		Code  post.Text `json:"code"`
		Error post.Text `json:"error"`
	}
	if post.DecodeFirst(a.Body, &flat) && flat.Error != "" {
		e := apiError{Message: string(flat.Error), Code: flat.Code}
		return e.fault(a.Status), true
	}
	var envelope struct {
		Error *apiError `json:"error"`
	}
	if !post.DecodeFirst(a.Body, &envelope) || envelope.Error == nil {
		return post.Fault{}, false
	}
	return envelope.Error.fault(a.Status), true
}

// safetyViolations matches the categories in refusals without details.
var safetyViolations = regexp.MustCompile(`safety_violations=\[([^\]]*)\]`)

// fault converts an error. An error in a stream has status 200 and is classified only by its text.
func (e *apiError) fault(status int) post.Fault {
	f := post.Fault{Words: e.Message, Label: string(e.Code) + " " + e.Type + " setting:" + e.Param + ";"}
	switch {
	case slices.Contains(refusals, string(e.Code)):
		f.Blocked = &generate.Safety{}
		if e.Moderation != nil {
			f.Blocked.Stage, f.Blocked.Categories = e.Moderation.Stage, e.Moderation.Categories
		} else if m := safetyViolations.FindStringSubmatch(e.Message); m != nil {
			f.Blocked.Categories = strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })
		}
	case e.Param == "" || e.Param == "model" || status == http.StatusTooManyRequests || status == http.StatusUnauthorized || status >= http.StatusInternalServerError:
	default:
		f.Words += " (setting " + e.Param + ")"
		if status == http.StatusNotFound {
			f.Code = media.CodeInvalid
		}
	}
	return f
}

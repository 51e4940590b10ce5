// Package generate defines the types of generations that callers, the gateway and drivers share: a [Request] with its
// settings, the [Result] with its slots, the disposition of each setting, the events of an operation, and the budgets
// that limit spending.
//
// Package gateway executes requests, package catalog describes the models, package driver is the contract of the
// providers, and package operation defines the states of an operation. The drivers are in separate packages and never
// import each other.
//
// Errors are media.Error values. It may import media, and generate/money for amounts; the packages below it may import
// media, journal, blob, probe, wire, imaging, internal/safehttp and internal/patience. None of them contains HTTP
// routes, SQL, or a durable engine.
package generate

import (
	"context"
	"encoding/json"

	"atelier/media"
)

// Method is the kind of generation that a request asks for.
type Method string

// The methods.
const (
	MethodGenerate  Method = "generate"
	MethodEdit      Method = "edit"
	MethodVariation Method = "variation"
)

// MaxN is the maximum number of results of one request.
const MaxN = 100

// Request is a request for media. Empty strings and zero numbers mean "not requested".
type Request struct {
	// Method defaults to [MethodGenerate].
	Method Method `json:"method,omitempty"`
	// Modality defaults to that of the named model, else image.
	Modality media.Modality `json:"modality,omitempty"`
	// Prompt is required, except for variations and acts without one. For audio it is the text to speak.
	Prompt string `json:"prompt"`
	// NegativePrompt says what to avoid.
	NegativePrompt string `json:"negative_prompt,omitempty"`
	// Model is a display name, API id or alias; empty selects the default order.
	Model string `json:"model,omitempty"`
	// Substitute allows another model to answer, with a disposition, if Model lacks its key: an agent chose the named
	// model, not a person.
	Substitute bool `json:"substitute,omitempty"`
	// Prefer lists an agent's preferred models, best first. Unlike Model, a preferred model without a key is
	// substituted, with a disposition.
	Prefer []string `json:"prefer,omitempty"`
	// Fallback lists models that are asked, one after the other, for results that the previous model could not make:
	// because of an outage, a refusal, no credit, no key, no budget. Each is paid for from the same budgets; one that
	// exceeds them is skipped. Results of a call that may have been billed are not requested again.
	Fallback []string `json:"fallback,omitempty"`
	// N is the number of results, 1 to 100. The zero value means "not requested": one, or the minimum of a call of the
	// model. In JSON the field is then omitted; a 0 is rejected.
	N int `json:"n,omitempty"`
	// Size is WIDTHxHEIGHT in pixels, or auto.
	Size string `json:"size,omitempty"`
	// DefaultSize is the size, WIDTHxHEIGHT or auto, if neither Size nor AspectRatio is set; a Quality that stands for a
	// tier overrides its tier. It is for callers with a default that no person requested.
	DefaultSize string `json:"default_size,omitempty"`
	// AspectRatio is W:H. An explicit Size takes precedence.
	AspectRatio string `json:"aspect_ratio,omitempty"`
	// Quality is low, medium, high, auto, standard, hd, or a model's own word.
	Quality string `json:"quality,omitempty"`
	// Style is natural or vivid.
	Style string `json:"style,omitempty"`
	// Background is transparent, opaque or auto.
	Background string `json:"background,omitempty"`
	// Seed makes results repeatable where the model has seeds.
	Seed *int64 `json:"seed,omitempty"`
	// OutputFormat is png, jpeg or webp; for audio mp3, wav, opus, aac or flac; for text txt.
	OutputFormat string `json:"output_format,omitempty"`
	// Voice is one of the model's voices, in any case; audio only.
	Voice string `json:"voice,omitempty"`
	// Speed is the speed of speech, 0.25 to 4, where 1 is normal; 0 means not requested. Audio only.
	Speed float64 `json:"speed,omitempty"`
	// Compression is 0 to 100, for jpeg and webp; nil means the provider's default.
	Compression *int `json:"compression,omitempty"`
	// Inputs are the pictures to edit or vary, already stored. The first one is edited; the others are references. The
	// caller checks their ownership: a caller that accepts requests from others looks pictures up by ref or id and does
	// not decode this field.
	Inputs []media.Output `json:"inputs,omitempty"`
	// Mask marks the area of the first input to change, at the same size: transparent pixels are repainted, or the
	// white pixels of a mask without transparency. It is sent to the model in the polarity of its row.
	Mask *media.Output `json:"mask,omitempty"`
	// Moderation is auto or low, if the provider offers it.
	Moderation string `json:"moderation,omitempty"`
	// Options are provider options under the provider's key: {"openai": {"background": "opaque"}}.
	Options map[string]map[string]any `json:"options,omitempty"`
	// OptionsFor are further providers whose options are allowed although their models are not asked; those of Model
	// and Fallback need not be listed. Options of any other provider are rejected.
	OptionsFor []string `json:"options_for,omitempty"`
	// Strict refuses a request, before any call, if a setting would be adapted or dropped.
	Strict bool `json:"strict,omitempty"`
	// IdempotencyKey maps repeated requests to the same operation; empty means a new one.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// Adopt continues the operation of IdempotencyKey if an earlier process left it unfinished, like
	// [gateway.Gateway.Resume]; without it such a request is a conflict. An operation that ended because its caller
	// gave up is continued too: its tasks are fetched, and calls that were never made are made. If the context has
	// ended, unfinished work is ended as its own process would have done: nothing more is requested.
	Adopt bool `json:"take_up,omitempty"`
	// Label is the label of the results; default is "Generated image N", or audio.
	Label string `json:"label,omitempty"`
	// Accept, if set, is called with each input, and the mask, when nothing rejects the request any more, before it is
	// journalled. It keeps those without a record and returns them with their record; an error rejects the request.
	Accept func(ctx context.Context, o media.Output) (media.Output, error) `json:"-"`
}

// UnmarshalJSON decodes a request of another program. An explicit n of 0 is media.CodeInvalid, because it does not mean
// 1; the other fields are checked by [gateway.Gateway.Plan].
func (r *Request) UnmarshalJSON(b []byte) error {
	type fields Request
	in := struct {
		fields
		N *int `json:"n"`
	}{fields: fields(*r)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*r = Request(in.fields)
	if in.N == nil {
		return nil
	}
	if r.N = *in.N; r.N == 0 {
		return InvalidCountError(0)
	}
	return nil
}

// Outcome is the outcome of one requested setting (law 9).
type Outcome string

// The outcomes.
const (
	OutcomeApplied     Outcome = "applied"
	OutcomeAdapted     Outcome = "adapted"
	OutcomeDropped     Outcome = "dropped"
	OutcomeRefused     Outcome = "refused"
	OutcomeSubstituted Outcome = "substituted"
)

// Disposition records what became of one requested setting.
type Disposition struct {
	// Setting is the request's field in snake_case, or options.<provider>.<name>.
	Setting string  `json:"setting"`
	Asked   string  `json:"asked"`
	Applied string  `json:"applied"`
	Outcome Outcome `json:"outcome"`
	// Reason is for people; empty if applied as requested.
	Reason string `json:"reason"`
}

// InvalidCountError returns the error for an invalid number of results.
func InvalidCountError(n int) error {
	return media.Errorf(media.CodeInvalid, "n is %d: ask for 1 to %d results", n, MaxN)
}

// Storage stores and returns media bytes.
type Storage = media.Storage

// Package generate holds the words of generations, which callers, the gateway and drivers share: a
// [Request] with its settings, the [Result] with its slots, what became of each setting, the
// events on the way, and the budgets that bound what is spent.
//
// Package gateway carries requests out, package catalog knows the models, package driver is the
// contract of the providers, and package operation has the states of an operation. The drivers
// themselves are in packages of their own and never import each other.
//
// Errors are media.Error values. It may import media, and generate/money for amounts; the packages
// below may import media, journal, blob, probe, wire, imaging, internal/safehttp and
// internal/patience. No HTTP routes, no SQL, and no durable engine in any of them.
package generate

import (
	"context"
	"encoding/json"
	"io"

	"atelier/media"
)

// Method is what is asked of a model.
type Method string

// The methods.
const (
	MethodGenerate  Method = "generate"
	MethodEdit      Method = "edit"
	MethodVariation Method = "variation"
)

// MaxN is how many results one request may ask for.
const MaxN = 100

// Request asks for media. Empty strings and zero numbers mean "not asked".
type Request struct {
	// Method defaults to [MethodGenerate].
	Method Method `json:"method,omitempty"`
	// Modality defaults to what the named model makes, else image.
	Modality media.Modality `json:"modality,omitempty"`
	// Prompt is required, but for variations and acts that take none. For audio it is the text to speak.
	Prompt string `json:"prompt"`
	// NegativePrompt says what to avoid.
	NegativePrompt string `json:"negative_prompt,omitempty"`
	// Model is a display name, API id or alias; empty means the default order.
	Model string `json:"model,omitempty"`
	// Substitute lets a Model without its key give way to the next in order, with a
	// disposition: the named model was chosen by an agent, not by a person.
	Substitute bool `json:"substitute,omitempty"`
	// Prefer lists models that an agent would like, best first. Unlike Model, a
	// preferred model without a key is substituted, with a disposition.
	Prefer []string `json:"prefer,omitempty"`
	// Fallback lists models that are asked, one after the other, for the results that the model before could not give:
	// an outage, a refusal, no credit, no key, no budget. Each is paid for from the same budgets; one that they have
	// too little for is passed over. Results of a call that may have been billed are not asked for again.
	Fallback []string `json:"fallback,omitempty"`
	// N is how many results, 1 to 100. The zero value means "not asked": one, or what a
	// call of the model gives at least. In JSON it is left out for that; a 0 is refused.
	N int `json:"n,omitempty"`
	// Size is WIDTHxHEIGHT in pixels, or auto.
	Size string `json:"size,omitempty"`
	// DefaultSize is the size, WIDTHxHEIGHT, where neither Size nor AspectRatio says one; a Quality that stands for a
	// tier decides on the tier of it. It is for callers whose own default a person did not ask for.
	DefaultSize string `json:"default_size,omitempty"`
	// AspectRatio is W:H. An explicit Size wins.
	AspectRatio string `json:"aspect_ratio,omitempty"`
	// Quality is low, medium, high, auto, standard, hd, or a model's own word.
	Quality string `json:"quality,omitempty"`
	// Style is natural or vivid.
	Style string `json:"style,omitempty"`
	// Background is transparent, opaque or auto.
	Background string `json:"background,omitempty"`
	// Seed makes results repeatable where the model has seeds.
	Seed *int64 `json:"seed,omitempty"`
	// OutputFormat is png, jpeg or webp; for audio mp3, wav, opus, aac or flac; for words txt.
	OutputFormat string `json:"output_format,omitempty"`
	// Voice is one of the model's voices, in any case; audio only.
	Voice string `json:"voice,omitempty"`
	// Speed of speech, 0.25 to 4, where 1 is the usual one; 0 means not asked. Audio only.
	Speed float64 `json:"speed,omitempty"`
	// Compression is 0 to 100, for jpeg and webp; nil means the provider's default.
	Compression *int `json:"compression,omitempty"`
	// Inputs are the pictures to edit or vary, already stored. The first one is edited;
	// the others are there to take from. Whose they are is for the caller to know: one that
	// takes requests of others looks them up by ref or id, and does not decode them.
	Inputs []media.Output `json:"inputs,omitempty"`
	// Mask marks the area of the first input to change, in its size: transparent pixels are repainted; in a mask
	// without transparency, the white ones. It goes to the model in the polarity that its row names.
	Mask *media.Output `json:"mask,omitempty"`
	// Moderation is auto or low, where the provider offers it.
	Moderation string `json:"moderation,omitempty"`
	// Options are provider options under the provider's key: {"openai": {"background": "opaque"}}.
	Options map[string]map[string]any `json:"options,omitempty"`
	// OptionsFor are further providers whose options may be there though their models are not asked; those of Model and
	// Fallback need not be named. Options of any other one are refused.
	OptionsFor []string `json:"options_for,omitempty"`
	// Strict refuses, before any call, whatever would be adapted or dropped.
	Strict bool `json:"strict,omitempty"`
	// IdempotencyKey makes a repeated request the same operation; empty means a new one.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// TakeUp continues the operation of IdempotencyKey where an earlier process left it unfinished, as
	// [gateway.Gateway.Resume] does; without it such a request is a conflict. One that ended because its caller gave up
	// is continued as well: its tasks are fetched, and calls that were never made are made. Under a context that has
	// ended, what was left unfinished is ended as if its process had been told: nothing is asked for any more.
	TakeUp bool `json:"take_up,omitempty"`
	// Label is the label of the results; "Generated image N", or audio, if empty.
	Label string `json:"label,omitempty"`
	// Accept, if set, is given each input, and the mask, when nothing refuses the request any more and before it is
	// journalled. It keeps what has no record yet and gives it with its record; an error refuses the request.
	Accept func(ctx context.Context, o media.Output) (media.Output, error) `json:"-"`
}

// UnmarshalJSON reads a request of another program. A field n that is there and asks for nothing is media.CodeInvalid,
// because who says 0 does not mean 1; the other fields are checked by [gateway.Gateway.Plan].
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
		return BadCount(0)
	}
	return nil
}

// Outcome is what became of one requested setting (law 9).
type Outcome string

// The outcomes.
const (
	OutcomeApplied     Outcome = "applied"
	OutcomeAdapted     Outcome = "adapted"
	OutcomeDropped     Outcome = "dropped"
	OutcomeRefused     Outcome = "refused"
	OutcomeSubstituted Outcome = "substituted"
)

// Disposition tells what became of one requested setting.
type Disposition struct {
	// Setting is the request's field in snake_case, or options.<provider>.<name>.
	Setting string  `json:"setting"`
	Asked   string  `json:"asked"`
	Applied string  `json:"applied"`
	Outcome Outcome `json:"outcome"`
	// Reason is for people; empty when applied as asked.
	Reason string `json:"reason"`
}

// BadCount is the error for a number of results that nobody can have meant.
func BadCount(n int) error {
	return media.Errorf(media.CodeInvalid, "n is %d: ask for 1 to %d results", n, MaxN)
}

// Storage keeps and gives media bytes; *wire.Codec is one.
type Storage interface {
	// Store keeps what r holds and tells digest, size and sniffed facts. Errors have
	// codes: media.CodeTooLarge, media.CodeDiskFull.
	Store(ctx context.Context, r io.Reader, declaredMIME string) (media.Blob, error)
	// Open gives the bytes; the caller closes them.
	Open(ctx context.Context, d media.Digest) (io.ReadCloser, error)
}

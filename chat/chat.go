// Package chat is the seam to language models: messages with text and pictures
// in, text (and lifted pictures) out. Profiles say what a model can take; the
// concrete models are built on charm.land/fantasy, and chat/offline answers
// without any provider.
//
// Errors are media.Error values: context_length, missing_key, unauthorized,
// rate_limited, unavailable, moderated, bad_response. No message, request or error
// text ever holds media bytes; pictures are parts that name a media.Output, and the
// transport (package wire) streams their bytes into the request.
//
// It may import media, blob, probe, wire and imaging.
package chat

import (
	"context"
	"encoding/json"

	"atelier/media"
)

// Model is one chat model, ready to be asked. Implementations are safe for
// concurrent use and stop promptly when ctx ends.
type Model interface {
	// Profile says what the model is and what it takes.
	Profile() Profile
	// Generate answers the conversation with one message. It does not retry a call
	// that may have been billed; rate limits and refused connections are retried by
	// the caller's policy. A response beside an error has the usage and cost of what was
	// refused and billed all the same.
	Generate(ctx context.Context, r Request) (Response, error)
}

// Role is who speaks.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Request is one model call.
type Request struct {
	// System is the instruction of the agent.
	System   string    `json:"system"`
	Messages []Message `json:"messages"`
	// Schema is the JSON Schema of the answer; models with structured output are
	// given it, others are told to answer JSON.
	Schema     json.RawMessage `json:"-"`
	SchemaName string          `json:"-"`
	// MaxOutputTokens is 0 for the model's default.
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty"`
	// Temperature is nil for the model's default.
	Temperature *float64 `json:"temperature,omitempty"`
}

// Message is one turn of the conversation.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is text or one media item, never both.
type Part struct {
	Text string `json:"text,omitempty"`
	// Media is a stored item that the model shall see.
	Media *media.Output `json:"media,omitempty"`
	// Detail is auto, low or high, for pictures.
	Detail string `json:"detail,omitempty"`
}

// Text makes a message of one text part.
func Text(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Text: text}}}
}

// Text joins the text parts of a message.
func (m Message) Text() string {
	s := ""
	for _, p := range m.Parts {
		s += p.Text
	}
	return s
}

// Response is a model's answer.
type Response struct {
	Text string `json:"text"`
	// Media are pictures that the model itself made, lifted from its answer.
	Media []media.Output `json:"media,omitempty"`
	// Warnings tell of pictures that the model made and that could not be taken, and of what was
	// asked for that the model cannot make.
	Warnings []string `json:"warnings,omitempty"`
	Usage    Usage    `json:"usage"`
	// FinishReason is stop, length, content_filter or other.
	FinishReason string `json:"finish_reason"`
	// Model is the id that answered.
	Model string `json:"model"`
	// CostUSD is exact decimal text computed from the catalogue's prices, or reported; nil if unknown.
	CostUSD *string `json:"cost_usd"`
	// CostReported says that the provider stated CostUSD, CostIncomplete that pictures were made
	// whose price is not in it.
	CostReported   bool `json:"cost_reported,omitempty"`
	CostIncomplete bool `json:"cost_incomplete,omitempty"`
}

// Usage counts tokens.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// CachedTokens are those of InputTokens that the provider read from its cache, ImageTokens
	// those of OutputTokens that are pictures.
	CachedTokens int64 `json:"cached_tokens,omitempty"`
	ImageTokens  int64 `json:"image_tokens,omitempty"`
}

// Profile says what a model is and what it takes. Vision is explicit, never guessed.
type Profile struct {
	// ID is the provider's id, Name what people call it, Provider the key (openai, gemini, anthropic, openrouter, offline).
	ID       string `json:"id" yaml:"id"`
	Name     string `json:"name" yaml:"name"`
	Provider string `json:"provider" yaml:"provider"`
	// Offline marks a model that is no language model at all.
	Offline bool `json:"offline,omitempty" yaml:"offline"`
	// ContextTokens and MaxOutputTokens are limits; 0 means unknown.
	ContextTokens   int64 `json:"context_tokens" yaml:"context_tokens"`
	MaxOutputTokens int64 `json:"max_output_tokens" yaml:"max_output_tokens"`
	SupportsVision  bool  `json:"supports_vision" yaml:"supports_vision"`
	ImageLimits     `yaml:",inline"`
	// ImageOutput says that the model can answer with pictures of its own.
	ImageOutput bool `json:"image_output,omitempty" yaml:"image_output"`
	// StructuredOutput says that the provider enforces a JSON Schema.
	StructuredOutput bool `json:"structured_output,omitempty" yaml:"structured_output"`
	// Rate is the price of tokens; Prices are those that hold instead under a condition, of
	// several that do the last.
	Rate   `yaml:",inline"`
	Prices []Price `json:"prices,omitempty" yaml:"prices"`
	// ReportsCost says that each answer tells what it cost.
	ReportsCost bool `json:"reports_cost,omitempty" yaml:"reports_cost"`
	// Life says when the model came and goes.
	Life LifeCycle `json:"life,omitzero" yaml:"life"`
	// Assumed says, of an id that no row names, as what it is treated: a family or another
	// model. Empty for listed models and for those of which nothing is known.
	Assumed string `json:"assumed,omitempty" yaml:"-"`
	// NoTemperature marks reasoning models that refuse a temperature.
	NoTemperature bool `json:"no_temperature,omitempty" yaml:"no_temperature"`
}

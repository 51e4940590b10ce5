// Package chat is the seam to language models: messages with text and pictures
// in, text (and lifted pictures) out. Profiles say what a model can take, and a
// Registry chooses among them. The models are opened by chat/fantasy and chat/bedrock, which link
// the providers' SDKs; chat/offline answers without any provider.
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

// Model is a chat model, ready for calls. Implementations are safe for concurrent use and stop
// promptly when ctx ends.
type Model interface {
	// Profile describes the model and what it accepts.
	Profile() Profile
	// Generate answers the conversation with one message. It does not retry a call that may have
	// been billed; the caller's policy retries rate limits and refused connections. A response with
	// an error has the usage and cost of what was refused but billed.
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
	// OnText receives the text of the answer in parts while the model writes it; the media that it
	// names are not checked. nil requests the answer at once. Models that cannot stream, and those
	// that answer with pictures, never call it.
	OnText func(text string) `json:"-"`
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
	// Warnings are about the model's pictures that could not be stored, and requests that the model
	// cannot fulfil.
	Warnings []string `json:"warnings,omitempty"`
	Usage    Usage    `json:"usage"`
	// FinishReason is stop, length, content_filter or other.
	FinishReason string `json:"finish_reason"`
	// Model is the id that answered.
	Model string `json:"model"`
	// CostUSD is exact decimal text computed from the catalogue's prices, or reported; nil if unknown.
	CostUSD *string `json:"cost_usd"`
	// CostReported means that the provider reported CostUSD, CostIncomplete that it lacks the price
	// of pictures.
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

// Profile describes a model and what it accepts. Vision is explicit, never guessed.
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
	// ImageOutput means that the model can answer with pictures.
	ImageOutput bool `json:"image_output,omitempty" yaml:"image_output"`
	// StructuredOutput means that the provider enforces a JSON Schema.
	StructuredOutput bool `json:"structured_output,omitempty" yaml:"structured_output"`
	// Pricing is what its tokens cost.
	Pricing `yaml:",inline"`
	// Life is when the model was released and is shut down.
	Life LifeCycle `json:"life,omitzero" yaml:"life"`
	// Assumed is the family or model as which an unlisted id is treated. Empty for listed models
	// and unknown ones.
	Assumed string `json:"assumed,omitempty" yaml:"-"`
	// NoTemperature marks reasoning models that refuse a temperature.
	NoTemperature bool `json:"no_temperature,omitempty" yaml:"no_temperature"`
}

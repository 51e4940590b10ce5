// Package chat is the interface to language models: messages with text and pictures in, text and lifted pictures out.
// Profiles describe what a model accepts. A [Registry] selects a model. Packages chat/fantasy and chat/bedrock open
// models with the providers' SDKs; chat/offline needs no provider.
//
// Errors are media.Error values: context_length, missing_key, unauthorized, rate_limited, unavailable, moderated,
// bad_response. Messages, requests and error texts never contain media bytes: picture parts name a media.Output, and
// the transport (package wire) streams the bytes into the request.
//
// The package may import media, blob, probe, wire and imaging.
package chat

import (
	"context"
	"encoding/json"

	"atelier/media"
)

// Model is a chat model that is ready for calls. Implementations are safe for concurrent use and stop promptly when ctx
// ends.
type Model interface {
	// Profile describes the model and what it accepts.
	Profile() Profile
	// Generate answers the conversation with one message. It does not retry a call that may have been billed; the
	// caller's policy retries rate limits and refused connections. A response that comes with an error has the usage
	// and cost of a refused but billed call.
	Generate(ctx context.Context, r Request) (Response, error)
}

// Role is the author of a message.
type Role string

// The values of [Role].
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Request is one call of a model.
type Request struct {
	// System contains the instructions of the agent.
	System   string    `json:"system"`
	Messages []Message `json:"messages"`
	// Schema is the JSON Schema of the answer, which System must describe. If it is set, models with structured output
	// are restricted to JSON objects.
	Schema     json.RawMessage `json:"-"`
	SchemaName string          `json:"-"`
	// MaxOutputTokens limits the answer; 0 means the model's default.
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty"`
	// Temperature is the sampling temperature; nil means the model's default.
	Temperature *float64 `json:"temperature,omitempty"`
	// OnText receives the text of the answer in parts while the model writes it. Media that the text names are not
	// checked. nil requests the answer at once. Models that cannot stream, and those that answer with pictures, never
	// call it.
	OnText func(text string) `json:"-"`
}

// Message is one turn of the conversation.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is either text or one media item.
type Part struct {
	Text string `json:"text,omitempty"`
	// Media is a stored item that the model is shown.
	Media *media.Output `json:"media,omitempty"`
	// Detail is auto, low or high; for pictures only.
	Detail string `json:"detail,omitempty"`
}

// Text returns a message with one text part.
func Text(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Text: text}}}
}

// Text returns the joined text parts of a message.
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
	// Media are the pictures that the model made, lifted out of its answer.
	Media []media.Output `json:"media,omitempty"`
	// Warnings concern pictures of the model that could not be stored, and requests that the model cannot fulfil.
	Warnings []string `json:"warnings,omitempty"`
	Usage    Usage    `json:"usage"`
	// FinishReason is stop, length or other.
	FinishReason string `json:"finish_reason"`
	// Model is the id of the model that answered.
	Model string `json:"model"`
	// CostUSD is exact decimal text, reported or computed from the catalogue's prices; nil if unknown.
	CostUSD *string `json:"cost_usd"`
	// CostReported means that the provider reported CostUSD. CostIncomplete means that CostUSD lacks the price of
	// pictures.
	CostReported   bool `json:"cost_reported,omitempty"`
	CostIncomplete bool `json:"cost_incomplete,omitempty"`
}

// Usage counts tokens.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// CachedTokens are the part of InputTokens that the provider read from its cache. ImageTokens are the part of
	// OutputTokens for pictures.
	CachedTokens int64 `json:"cached_tokens,omitempty"`
	ImageTokens  int64 `json:"image_tokens,omitempty"`
}

// Profile describes a model and what it accepts. Vision is stated explicitly, never guessed.
type Profile struct {
	// ID is the id at the provider, Name the display name, Provider the key, such as openai or offline.
	ID       string `json:"id" yaml:"id"`
	Name     string `json:"name" yaml:"name"`
	Provider string `json:"provider" yaml:"provider"`
	// Offline marks a model that is not a language model.
	Offline bool `json:"offline,omitempty" yaml:"offline"`
	// ContextTokens and MaxOutputTokens are limits; 0 means unknown.
	ContextTokens   int64 `json:"context_tokens" yaml:"context_tokens"`
	MaxOutputTokens int64 `json:"max_output_tokens" yaml:"max_output_tokens"`
	SupportsVision  bool  `json:"supports_vision" yaml:"supports_vision"`
	ImageLimits     `yaml:",inline"`
	// ImageOutput means that the model can answer with pictures.
	ImageOutput bool `json:"image_output,omitempty" yaml:"image_output"`
	// StructuredOutput means that the provider can restrict answers to JSON objects.
	StructuredOutput bool `json:"structured_output,omitempty" yaml:"structured_output"`
	// Pricing is the price of the model's tokens.
	Pricing `yaml:",inline"`
	// Life is the release and the shutdown of the model.
	Life LifeCycle `json:"life,omitzero" yaml:"life"`
	// Assumed is the family or the model that an unlisted id is treated as. It is empty for listed and for unknown
	// models.
	Assumed string `json:"assumed,omitempty" yaml:"-"`
	// NoTemperature marks reasoning models that reject a temperature.
	NoTemperature bool `json:"no_temperature,omitempty" yaml:"no_temperature"`
}

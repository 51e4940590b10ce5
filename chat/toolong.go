package chat

import (
	"regexp"

	"charm.land/fantasy"
)

// tooLongCodes are the words in an error's code for a prompt that does not fit:
// OpenAI and those who copy it, llama.cpp, Anthropic for bodies.
var tooLongCodes = map[string]bool{
	"context_length_exceeded": true, "exceed_context_size_error": true, "request_too_large": true,
	"string_above_max_length": true, "model_max_prompt_tokens_exceeded": true,
}

// tooLongText finds in a message that the prompt does not fit the model. The SDK knows
// some of these wordings; the rest is what other providers and local servers answer:
// OpenAI's Responses, Anthropic (input and answer together), Bedrock, xAI, Mistral,
// Cohere, Together and text-generation-inference, llama.cpp, Ollama, LM Studio, and
// limits per minute that the one request alone exceeds.
var tooLongText = regexp.MustCompile(`(?i)` +
	`maximum context length|maximum prompt length|maximum model length|max_model_len` +
	`|context (window|length|limit|size)[^.]{0,60}\b(exceed|overflow)|\bexceed[^.]{0,80}context (window|length|limit|size)` +
	`|prompt (is )?too long|input (is )?too long|input length and .?max_tokens.? exceed` +
	`|input token count[^.]{0,80}exceeds|too many tokens: total` +
	`|inputs. tokens \+ .max_new_tokens. must be|too large for model with \d+ maximum context` +
	`|reduce the length of the (messages|prompt|input)|context the overflows` +
	`|request too large for [^.]{0,120}tokens per min`)

// tooLong tells whether a provider refused a prompt for its length.
func tooLong(kind string, pe *fantasy.ProviderError) bool {
	if pe.IsContextTooLarge() || tooLongCodes[kind] {
		return true
	}
	return pe.StatusCode >= 400 && pe.StatusCode < 500 && tooLongText.MatchString(pe.Message)
}

// TooLong tells whether a provider's message says that a prompt does not fit its model.
func TooLong(message string) bool { return tooLongText.MatchString(message) }

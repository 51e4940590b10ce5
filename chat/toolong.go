package chat

import "regexp"

// tooLongText finds in a message that the prompt does not fit the model: OpenAI (chat and
// Responses), Anthropic (input and answer together), Gemini, Bedrock and Nova, xAI, Mistral,
// Cohere, DeepSeek, Perplexity, Alibaba, Vercel, Together and text-generation-inference,
// llama.cpp, Ollama, LM Studio, and limits per minute that the one request alone exceeds.
var tooLongText = regexp.MustCompile(`(?i)` +
	`maximum context length|maximum prompt length|maximum model length|max_model_len|exceeded max context length` +
	`|context (window|length|limit|size)[^.]{0,60}\b(exceed|overflow)|\bexceed[^.]{0,80}context (window|length|limit|size)` +
	`|prompt (is )?too long|input (is )?too long|input length and .?max_tokens.? exceed` +
	`|input token count[^.]{0,80}exceeds|too many tokens: total|input tokens exceed|too_many_prompt_tokens` +
	`|number of input tokens exceeds maximum|range of input length should be` +
	`|inputs. tokens \+ .max_new_tokens. must be|too large for model with \d+ maximum context` +
	`|reduce the length of the (messages|prompt|input)|context the overflows` +
	`|request too large for [^.]{0,120}tokens per min`)

// fullText is how llama.cpp says so, as a failure of the server.
var fullText = regexp.MustCompile(`(?i)^context size has been exceeded`)

// tooLong reports whether a provider refused a prompt for its length.
func (f fault) tooLong() bool {
	if f.is("context_length_exceeded", "exceed_context_size_error", "request_too_large", "string_above_max_length",
		"model_max_prompt_tokens_exceeded", "too_many_prompt_tokens", "TOO_MANY_TOKENS", "model_context_window_exceeded") {
		return true
	}
	return fullText.MatchString(f.message) || f.status >= 400 && f.status < 500 && tooLongText.MatchString(f.message)
}

// TooLong reports whether a provider's message says that a prompt does not fit its model.
func TooLong(message string) bool { return tooLongText.MatchString(message) }

package fantasy

import (
	"regexp"

	"atelier/chat"
)

// fullText is how llama.cpp says so, as a failure of the server.
var fullText = regexp.MustCompile(`(?i)^context size has been exceeded`)

// tooLong reports whether a provider refused a prompt for its length.
func (f fault) tooLong() bool {
	if f.is("context_length_exceeded", "exceed_context_size_error", "request_too_large", "string_above_max_length",
		"model_max_prompt_tokens_exceeded", "too_many_prompt_tokens", "TOO_MANY_TOKENS", "model_context_window_exceeded") {
		return true
	}
	return fullText.MatchString(f.message) || f.status >= 400 && f.status < 500 && chat.TooLong(f.message)
}

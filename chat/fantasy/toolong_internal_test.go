package fantasy

import (
	"encoding/json"
	"testing"
	"time"

	"atelier/media"
)

// refused is an error answer.
type refused struct {
	StatusCode   int
	Message      string
	ResponseBody []byte
}

func (r refused) code() media.Code {
	body := r.ResponseBody
	if body == nil {
		body, _ = json.Marshal(map[string]any{"error": map[string]any{"message": r.Message}}) // strings only, never fails
	}
	return readFault(r.StatusCode, nil, body, time.Time{}).code(asked{})
}

// TestPromptsThatDoNotFit: the providers' own error messages for prompts that are too long.
func TestPromptsThatDoNotFit(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]refused{
		"openai chat":       {StatusCode: 400, Message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens. Please reduce the length of the messages."},
		"openai responses":  {StatusCode: 400, Message: "Your input exceeds the context window of this model. Please adjust your input and try again."},
		"openai code":       {StatusCode: 400, Message: "Too long.", ResponseBody: []byte(`{"error":{"message":"Too long.","type":"invalid_request_error","code":"context_length_exceeded"}}`)},
		"openai per minute": {StatusCode: 429, Message: "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully."},
		"anthropic":         {StatusCode: 400, Message: "prompt is too long: 202630 tokens > 200000 maximum"},
		"anthropic answer":  {StatusCode: 400, Message: "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"},
		"anthropic body":    {StatusCode: 413, Message: "Request exceeds the maximum size", ResponseBody: []byte(`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`)},
		"gemini":            {StatusCode: 400, Message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."},
		"bedrock":           {StatusCode: 400, Message: "Input is too long for requested model."},
		"openrouter":        {StatusCode: 400, Message: "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens."},
		"xai":               {StatusCode: 400, Message: "This model's maximum prompt length is 131072 but the request contains 537812 tokens."},
		"mistral":           {StatusCode: 400, Message: "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length"},
		"groq":              {StatusCode: 400, Message: "Please reduce the length of the messages or completion."},
		"cohere":            {StatusCode: 400, Message: "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000"},
		"together":          {StatusCode: 422, Message: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens"},
		"vllm":              {StatusCode: 400, Message: "The decoder prompt (length 9000) is longer than the maximum model length of 8192."},
		"llama.cpp":         {StatusCode: 400, Message: "the request exceeds the available context size. try increasing the context size", ResponseBody: []byte(`{"error":{"code":400,"message":"…","type":"exceed_context_size_error"}}`)},
		"ollama":            {StatusCode: 400, Message: "the input length exceeds the context length"},
		"deepseek":          {StatusCode: 400, ResponseBody: []byte(`{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 800022 tokens.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`)},
		"perplexity":        {StatusCode: 400, ResponseBody: []byte(`{"error":{"message":"Prompt exceeds the limit","type":"too_many_prompt_tokens","code":400}}`)},
		"nova":              {StatusCode: 400, Message: "Input Tokens Exceeded: Number of input tokens exceeds maximum length"},
		"cohere v2":         {StatusCode: 400, ResponseBody: []byte(`{"id":"x","message":"too large","code":"TOO_MANY_TOKENS"}`)},
		"ollama cloud":      {StatusCode: 400, ResponseBody: []byte(`{"error":"prompt too long; exceeded max context length by 12 tokens"}`)},
		"llama.cpp full":    {StatusCode: 500, ResponseBody: []byte(`{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`)},
		"openrouter before": {StatusCode: 400, ResponseBody: []byte(`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 3333404 tokens > 200000 maximum\"}}","provider_name":"Anthropic"}}}`)},
		"alibaba":           {StatusCode: 400, Message: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"},
		"lm studio":         {StatusCode: 400, Message: "Trying to keep the first 6000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"},
	} {
		if got := e.code(); got != media.CodeContextLength {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestOtherRefusalsAreNoLength: errors that mention tokens or lengths but have another cause.
func TestOtherRefusalsAreNoLength(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		e    refused
		want media.Code
	}{
		"rate":            {refused{StatusCode: 429, Message: "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000."}, media.CodeRateLimited},
		"answer's length": {refused{StatusCode: 400, Message: "max_tokens is too large: 200000. This model supports at most 16384 completion tokens"}, media.CodeInvalid},
		"image":           {refused{StatusCode: 400, Message: "image exceeds 5 MB maximum"}, media.CodeInvalid},
		"server":          {refused{StatusCode: 500, Message: "context window exceeded while loading"}, media.CodeUnavailable},
		"body":            {refused{StatusCode: 413, Message: "Payload too large"}, media.CodeTooLarge},
		"type":            {refused{StatusCode: 429, Message: "x", ResponseBody: []byte(`{"error":{"type":"insufficient_quota","code":null}}`)}, media.CodeQuotaExceeded},
	} {
		if got := tt.e.code(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestOllamaHosts: every form of OLLAMA_HOST is an origin.
func TestOllamaHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"box": "http://box:11434", "box:80": "http://box:80", "http://box/": "http://box", "https://box": "https://box",
		"::1": "http://[::1]:11434", "[::1]": "http://[::1]:11434", "[::1]:99": "http://[::1]:99", ":99": "http://127.0.0.1:99",
	} {
		s := Service{cfg: Config{Keys: map[string]string{"ollama": host}}}
		if got := s.origin("ollama"); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// TestPromptsThatDoNotFitInAStream: LM Studio reports them in an answer with status 200.
func TestPromptsThatDoNotFitInAStream(t *testing.T) {
	t.Parallel()
	body := json.RawMessage(`{"message":"Trying to keep the first 6000 tokens when context the overflows."}`)
	if e := (&model{}).inside(body, asked{}, time.Time{}); e.Code != media.CodeContextLength {
		t.Errorf("%s: %s", e.Code, e)
	}
}

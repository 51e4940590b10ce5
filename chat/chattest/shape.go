package chattest

import (
	"net/http"
	"strings"
)

// Situation is a row of the conformance table.
type Situation string

// The situations to which each service responds in its own form.
const (
	SituationRefusal    Situation = "refusal"
	SituationMinute     Situation = "rate limit per minute"
	SituationDay        Situation = "rate limit per day"
	SituationContext    Situation = "context length"
	SituationCredit     Situation = "credit"
	SituationOverload   Situation = "overload"
	SituationErrorIn200 Situation = "error in 200"
)

// Shape is one response of a service in the exact form that it has on the wire.
type Shape struct {
	// Status is the HTTP status; 0 means 200.
	Status int
	// Header contains lines like "Retry-After: 2". Without a Content-Type, the body is JSON.
	Header []string
	Body   string
	// Says is a part of the response that the error message must contain.
	Says string
	// Code is the expected error code, if the situation does not determine it.
	Code string
	// Wait is the requested waiting time in Go's duration format; empty if the response requests none.
	Wait string
	// Billed means that the response reports token usage.
	Billed bool
}

// write writes the shape as the response.
func (s Shape) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	for _, line := range s.Header {
		name, value, _ := strings.Cut(line, ": ")
		w.Header().Set(name, value)
	}
	w.WriteHeader(max(s.Status, http.StatusOK))
	_, _ = w.Write([]byte(s.Body)) // the client may have disconnected
}

// Play makes the next requests get the given shapes, one each.
func (s *Simulator) Play(shapes ...Shape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shapes = append(s.shapes, shapes...)
}

// next returns the shape for a request. ok is false if the request gets the usual answer.
func (s *Simulator) next() (shape Shape, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.shapes) == 0 {
		return Shape{}, false
	}
	shape, s.shapes = s.shapes[0], s.shapes[1:]
	return shape, true
}

// Service is a chat provider, or a compatible service, with its own shapes.
type Service struct {
	// Name is the column of the table, Model the requested model, and Path a suffix of the base URL.
	Name, Model, Path string
	// Streams requests answers as server-sent events.
	Streams bool
	// Paints is a model that answers with pictures. If it is empty, NoPaint says why there is none.
	Paints, NoPaint string
	// New is a model id whose family no row of the profiles names.
	New string
	// Shapes are the responses by situation. Absent says why a situation has none.
	Shapes map[Situation][]Shape
	Absent map[Situation]string
}

const (
	noDay    = "no limit per day is on record"
	noCredit = "no answer about credit is on record"
	noIn200  = "no error with status 200 is on record"
	noPaint  = "its chat models make no pictures"
)

// counted is the usage in a chat completion.
const counted = `"usage":{"prompt_tokens":40,"completion_tokens":9,"total_tokens":49}`

// completion returns a chat completion with one choice.
func completion(choice string) string {
	return `{"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"m","choices":[` + choice + `],` + counted + `}`
}

// Services returns the columns of the conformance table. Their shapes are recorded or documented responses (November
// 2026).
func Services() []Service {
	return []Service{openaiService(), responsesService(), azureService(), anthropicService(), geminiService(), bedrockService(), openrouterService(), ollamaService(), xaiService(), mistralService(), deepseekService(), perplexityService(), llamacppService()}
}

// openaiLimits returns the shapes that both of OpenAI's protocols have in common.
func openaiLimits() map[Situation][]Shape {
	return map[Situation][]Shape{
		SituationMinute: {
			{Status: 429, Header: []string{"Retry-After-Ms: 1200", "Retry-After: 2"}, Body: `{"error":{"message":"Rate limit reached for gpt-5.4 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 1.2s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, Says: "org-x", Wait: "2s"},
			{Status: 429, Header: []string{"X-Ratelimit-Remaining-Requests: 0", "X-Ratelimit-Reset-Requests: 17s", "X-Ratelimit-Remaining-Tokens: 900", "X-Ratelimit-Reset-Tokens: 1h9m7s"}, Body: `{"error":{"message":"Rate limit reached for requests","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, Wait: "17s"},
		},
		SituationDay: {{Status: 429, Body: `{"error":{"message":"Rate limit reached for gpt-5.4 in organization org-x on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, Says: "requests per day (RPD): Limit 200"}},
		SituationContext: {
			{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, Says: "128000"},
			{Status: 400, Body: `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`},
		},
		SituationCredit:   {{Status: 429, Body: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, Says: "billing details"}},
		SituationOverload: {{Status: 503, Body: `{"error":{"message":"The server is overloaded or not ready yet.","type":"server_error","param":null,"code":null}}`}},
	}
}

func openaiService() Service {
	s := Service{Name: "OpenAI", Model: "openai/gpt-5.4", Path: "/v1", NoPaint: "pictures come by Responses", New: "openai/gpt-7-sol", Shapes: openaiLimits()}
	s.Shapes[SituationRefusal] = []Shape{
		{Body: completion(`{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I'm sorry, I can't assist with that request."}}`), Says: "I can't assist with that request", Billed: true},
		{Body: completion(`{"index":0,"finish_reason":"content_filter","message":{"role":"assistant","content":"","refusal":null}}`), Says: "content_filter", Billed: true},
		{Status: 400, Body: `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","type":"invalid_request_error","param":null,"code":"invalid_prompt"}}`, Says: "flagged"},
	}
	s.Absent = map[Situation]string{SituationErrorIn200: noIn200}
	return s
}

func responsesService() Service {
	s := Service{Name: "OpenAI Responses", Model: "openai/painting", Path: "/v1", Paints: "openai/painting", New: "openai/gpt-7-image", Shapes: openaiLimits()}
	response := func(rest string) string {
		return `{"id":"resp_1","object":"response","created_at":1790000000,"model":"m","moderation":null,"content_filters":null,` + rest + `,"usage":{"input_tokens":40,"output_tokens":9,"total_tokens":49}}`
	}
	failed := func(code, message string) string {
		return response(`"status":"completed","error":null,"incomplete_details":null,"output":[{"id":"ig_1","type":"image_generation_call","status":"failed","result":null,"error":{"type":"image_generation_error","code":"` + code + `","message":"` + message + `","moderation_details":{"moderation_stage":"input","categories":["violence"]}}}]`)
	}
	s.Shapes[SituationRefusal] = []Shape{
		{Body: response(`"status":"completed","error":null,"incomplete_details":null,"output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"I can't help with that."}]}]`), Says: "I can't help with that", Billed: true},
		{Body: response(`"status":"incomplete","error":null,"incomplete_details":{"reason":"content_filter"},"output":[]`), Says: "content_filter", Billed: true},
		{Body: response(`"status":"failed","error":{"code":"image_content_policy_violation","message":"The picture was rejected by our safety system."},"incomplete_details":null,"output":[]`), Says: "rejected by our safety system", Billed: true},
		{Body: failed("moderation_blocked", "Your request was rejected by the safety system."), Says: "violence", Billed: true},
	}
	s.Shapes[SituationErrorIn200] = []Shape{
		{Body: failed("server_error", "The picture could not be made."), Says: "could not be made", Code: "unavailable"},
		{Body: response(`"status":"failed","error":{"code":"insufficient_quota","message":"You exceeded your current quota."},"incomplete_details":null,"output":[]`), Code: "quota_exceeded"},
		{Body: response(`"status":"failed","error":{"code":"server_error","message":"An error occurred while processing your request."},"incomplete_details":null,"output":[]`), Says: "An error occurred", Code: "unavailable"},
	}
	return s
}

func azureService() Service {
	return Service{
		Name: "Azure OpenAI", Model: "openai/gpt-5.4", Path: "/openai/v1", NoPaint: "pictures come by Responses", New: "openai/gpt-7-sol",
		Shapes: map[Situation][]Shape{
			SituationRefusal: {
				{Status: 400, Body: `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"violence":{"filtered":true,"severity":"medium"}}}}}`, Says: "content management policy"},
				{Body: completion(`{"index":0,"finish_reason":"content_filter","content_filter_results":{"hate":{"filtered":false,"severity":"safe"},"violence":{"filtered":true,"severity":"high"}},"message":{"role":"assistant","refusal":null}}`), Says: "violence", Billed: true},
				{Body: completion(`{"index":0,"finish_reason":"stop","content_filter_results":{"self_harm":{"filtered":true,"severity":"high"}},"message":{"role":"assistant","content":"","refusal":null}}`), Says: "self_harm", Billed: true},
			},
			SituationMinute:   {{Status: 429, Header: []string{"Retry-After: 1", "Retry-After-Ms: 0"}, Body: `{"error":{"code":"RateLimitReached","message":"Your requests to gpt-5.4 have exceeded the call rate limit for your current tier. Please retry after 1 second."}}`, Wait: "1s"}},
			SituationContext:  openaiLimits()[SituationContext],
			SituationOverload: {{Status: 503, Body: `{"error":{"code":"ServiceUnavailable","message":"The service is temporarily unable to process your request."}}`}},
		},
		Absent: map[Situation]string{SituationDay: noDay, SituationCredit: noCredit, SituationErrorIn200: noIn200},
	}
}

func anthropicService() Service {
	message := func(stop, content string) string {
		return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` + content + `],"stop_reason":` + stop + `,"usage":{"input_tokens":40,"output_tokens":9}}`
	}
	wrong := func(kind, text string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + text + `"},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}`
	}
	return Service{
		Name: "Anthropic", Model: "anthropic/claude-sonnet-4-6", NoPaint: noPaint, New: "anthropic/claude-opus-7",
		Shapes: map[Situation][]Shape{
			SituationRefusal: {
				{Body: message(`"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"The request asks for an exploit.","recommended_model":null}`, ""), Says: "asks for an exploit", Billed: true},
				{Body: message(`"refusal","stop_details":null`, ""), Says: "refused", Billed: true},
			},
			SituationMinute: {{Status: 429, Header: []string{"Retry-After: 12"}, Body: wrong("rate_limit_error", "This request would exceed your organization's rate limit of 50 requests per minute."), Says: "50 requests per minute", Wait: "12s"}},
			SituationContext: {
				{Status: 400, Body: wrong("invalid_request_error", "prompt is too long: 3333404 tokens > 200000 maximum"), Says: "3333404"},
				{Status: 413, Body: wrong("request_too_large", "Request exceeds the maximum size")},
				{Body: message(`"model_context_window_exceeded"`, "")},
			},
			SituationCredit: {
				{Status: 400, Body: wrong("invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."), Says: "credit balance is too low"},
				{Status: 402, Body: wrong("billing_error", "Billing is not set up.")},
			},
			SituationOverload:   {{Status: 529, Body: wrong("overloaded_error", "Overloaded")}},
			SituationErrorIn200: {{Body: wrong("overloaded_error", "Overloaded"), Says: "Overloaded", Code: "unavailable"}},
		},
		Absent: map[Situation]string{SituationDay: noDay},
	}
}

func geminiService() Service {
	const usage = `"usageMetadata":{"promptTokenCount":40,"candidatesTokenCount":0,"thoughtsTokenCount":9,"totalTokenCount":49},"modelVersion":"m"`
	ended := func(reason, rest string) Shape {
		return Shape{Body: `{"candidates":[{"content":{},"finishReason":"` + reason + `","index":0` + rest + `}],` + usage + `}`, Says: reason, Billed: true}
	}
	blocked := func(reason, rest string) Shape {
		return Shape{Body: `{"promptFeedback":{"blockReason":"` + reason + `"` + rest + `},"usageMetadata":{"promptTokenCount":0,"totalTokenCount":0},"modelVersion":"m"}`, Says: reason}
	}
	violation := func(id, metric, value string) string {
		return `{"quotaMetric":"generativelanguage.googleapis.com/` + metric + `","quotaId":"` + id + `","quotaDimensions":{"location":"global","model":"gemini-3.6-flash"},"quotaValue":"` + value + `"}`
	}
	exhausted := func(text, delay string, violations ...string) string {
		return `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, head over to: https://ai.google.dev/gemini-api/docs/rate-limits. ` + text + `","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[` + strings.Join(violations, ",") + `]},{"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Learn more","url":"https://ai.google.dev/gemini-api/docs/rate-limits"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"}]}}`
	}
	day := violation("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "generate_content_free_tier_requests", "20")
	minute := violation("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "generate_content_free_tier_requests", "5")
	input := violation("GenerateContentInputTokensPerModelPerMinute-FreeTier", "generate_content_free_tier_input_token_count", "250000")
	s := Service{
		Name: "Gemini", Model: "gemini/gemini-3.1-pro-preview", Paints: "gemini/gemini-3-pro-image", New: "gemini/gemini-5-neon",
		Shapes: map[Situation][]Shape{
			SituationRefusal: {
				blocked("SAFETY", ""), blocked("PROHIBITED_CONTENT", ""), blocked("IMAGE_SAFETY", ""), blocked("MODEL_ARMOR", `,"blockReasonMessage":"Blocked by Model Armor: floor settings"`),
				ended("SAFETY", ""), ended("PROHIBITED_CONTENT", ""), ended("RECITATION", ""), ended("SPII", ""), ended("BLOCKLIST", ""), ended("MODEL_ARMOR", `,"finishMessage":"Blocked by Model Armor"`),
				ended("NO_IMAGE", `,"finishMessage":"No image was generated."`), ended("IMAGE_SAFETY", ""), ended("IMAGE_PROHIBITED_CONTENT", ""), ended("IMAGE_RECITATION", ""), ended("IMAGE_OTHER", ""),
			},
			SituationMinute: {
				{Status: 429, Body: exhausted(`\nPlease retry in 48.939935699s.`, "48s", minute), Says: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier", Wait: "48.939935699s"},
				{Status: 429, Body: exhausted("", "34.4s", input), Says: "GenerateContentInputTokensPerModelPerMinute-FreeTier of 250000", Wait: "34.4s"},
				{Status: 429, Body: `{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}`},
			},
			SituationDay: {
				{Status: 429, Body: exhausted(`\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 20, model: gemini-3.6-flash\nPlease retry in 36.1s.`, "36s", day), Says: "GenerateRequestsPerDayPerProjectPerModel-FreeTier of 20", Wait: "36.1s"},
				{Status: 429, Body: exhausted("", "36s", day, minute, input), Says: "gemini-api/docs/rate-limits", Wait: "36s"},
			},
			SituationContext: {
				{Status: 400, Body: `{"error":{"code":400,"message":"The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, Says: "1250074"},
				{Status: 429, Body: exhausted("", "10s", violation("GenerateContentPaidTierInputTokensPerModelPerMinute", "generate_content_paid_tier_input_token_count", "2"))},
			},
			SituationCredit:     {{Status: 429, Body: exhausted(`\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-3-pro-image`, "36s", day), Says: "limit: 0"}},
			SituationOverload:   {{Status: 503, Body: `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`}},
			SituationErrorIn200: {{Body: `{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: x","index":0}],` + usage + `}`, Says: "Malformed function call", Code: "bad_response"}},
		},
	}
	return s
}

func bedrockService() Service {
	stopped := func(reason, text string) Shape {
		return Shape{Body: `{"output":{"message":{"role":"assistant","content":[{"text":"` + text + `"}]}},"stopReason":"` + reason + `","metrics":{"latencyMs":12},"usage":{"inputTokens":40,"outputTokens":9,"totalTokens":49}}`, Says: reason, Billed: true}
	}
	wrong := func(status int, kind, text string) Shape {
		return Shape{Status: status, Header: []string{"X-Amzn-Errortype: " + kind + ":http://internal.amazon.com/coral/com.amazon.bedrock/"}, Body: `{"message":"` + text + `"}`, Says: text}
	}
	return Service{
		Name: "Bedrock", Model: "bedrock/amazon.nova-pro-v1:0", NoPaint: noPaint, New: "bedrock/us.anthropic.claude-opus-7-20270101-v1:0",
		Shapes: map[Situation][]Shape{
			SituationRefusal:  {stopped("guardrail_intervened", "Sorry, the model cannot answer this question."), stopped("content_filtered", "")},
			SituationMinute:   {wrong(429, "ThrottlingException", "Too many requests, please wait before trying again.")},
			SituationDay:      {wrong(429, "ThrottlingException", "Too many tokens per day, please wait before trying again.")},
			SituationContext:  {wrong(400, "ValidationException", "Input Tokens Exceeded: Number of input tokens exceeds maximum length"), wrong(400, "ValidationException", "Input is too long for requested model.")},
			SituationOverload: {wrong(503, "ServiceUnavailableException", "The service is unable to process the request.")},
		},
		Absent: map[Situation]string{SituationCredit: noCredit, SituationErrorIn200: noIn200},
	}
}

func openrouterService() Service {
	return Service{
		Name: "OpenRouter", Model: "openrouter/meta-llama/llama-4-maverick", Paints: "openrouter/google/gemini-3-pro-image", New: "openrouter/anthropic/claude-opus-9",
		Shapes: map[Situation][]Shape{
			SituationRefusal: {
				{Status: 403, Body: `{"error":{"message":"Your chosen model requires moderation and your input was flagged.","code":403,"metadata":{"reasons":["violence/graphic"],"flagged_input":"how to …","provider_name":"OpenAI","model_slug":"openai/gpt-5.4"}},"user_id":"user_1"}`, Says: "violence/graphic"},
				{Body: completion(`{"index":0,"finish_reason":"stop","native_finish_reason":"refusal","message":{"role":"assistant","content":"","refusal":"I cannot help with this."}}`), Says: "I cannot help with this", Billed: true},
			},
			SituationMinute: {
				{Status: 429, Body: `{"error":{"message":"Rate limit exceeded: limit_rpm/meta-llama/llama-4-maverick/a4f5d9d2-9f4e-4d57-8b67-2f5ac3f5a1f0. High demand.","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"20","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1795356009000"}}}}`, Says: "limit_rpm/meta-llama/llama-4-maverick/a4f5d9d2-9f4e-4d57-8b67-2f5ac3f5a1f0", Wait: "9s"},
				{Status: 429, Body: `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":{\"message\":\"meta-llama/llama-4-maverick is temporarily rate-limited upstream. Please retry in 5s.\"}}","provider_name":"Together"}}}`, Says: "rate-limited upstream", Wait: "5s"},
			},
			SituationDay: {{Status: 429, Body: `{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1795392000000"}}}}`, Says: "free-models-per-day"}},
			SituationContext: {
				{Status: 400, Body: `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 200012 tokens.","code":400,"metadata":{"provider_name":null,"previous_errors":[{"code":400,"message":"prompt is too long"}]}}}`, Says: "131072"},
			},
			SituationCredit:   {{Status: 402, Body: `{"error":{"message":"This request requires more credits, or fewer max_tokens.","code":402,"metadata":{"limit_source":"account"}}}`, Says: "requires more credits"}},
			SituationOverload: {{Status: 502, Body: `{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream connect error","provider_name":"DeepInfra"}}}`, Says: "upstream connect error"}},
			SituationErrorIn200: {
				{Body: "\n         \n" + `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Unsupported parameter: top_k\"}}","provider_name":"Azure"}},"user_id":"user_1"}`, Says: "Unsupported parameter: top_k", Code: "invalid"},
				{Body: completion(`{"index":0,"finish_reason":"error","native_finish_reason":"error","error":{"message":"Upstream idle timeout exceeded","code":502},"message":{"role":"assistant","content":"{\"rea","refusal":null}}`), Says: "Upstream idle timeout", Code: "unavailable"},
				{Body: completion(`{"index":0,"finish_reason":"error","message":{"role":"assistant","content":"","refusal":null}}`), Code: "unavailable"},
			},
		},
	}
}

func ollamaService() Service {
	return Service{
		Name: "Ollama", Model: "ollama/llama4", NoPaint: noPaint, New: "ollama/qwen5-vl:30b",
		Shapes: map[Situation][]Shape{
			SituationContext:  {{Status: 400, Body: `{"error":{"message":"prompt too long; exceeded max context length by 1240 tokens","type":"invalid_request_error","param":null,"code":null}}`, Says: "1240"}, {Status: 400, Body: `{"error":"the input length exceeds the context length"}`}},
			SituationOverload: {{Status: 503, Body: `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, Says: "server busy"}},
		},
		Absent: map[Situation]string{
			SituationRefusal: "a refusal is a text there", SituationMinute: "one's own server has no limit of calls", SituationDay: "one's own server has no limit of calls",
			SituationCredit: "one's own server has no account", SituationErrorIn200: noIn200,
		},
	}
}

func xaiService() Service {
	return Service{
		Name: "xAI", Model: "openai/grok-4.6", Path: "/v1", NoPaint: noPaint, New: "openai/grok-6",
		Shapes: map[Situation][]Shape{
			SituationMinute:   {{Status: 429, Header: []string{"Retry-After: 3"}, Body: `{"code":"resource-exhausted","error":"Too many requests for team 1f0 and model grok-4.6"}`, Says: "grok-4.6", Wait: "3s"}},
			SituationContext:  {{Status: 400, Body: `{"code":"invalid-argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, Says: "537812"}},
			SituationCredit:   {{Status: 403, Body: `{"code":"permission-denied","error":"Your team 1f0 has either used all available credits or reached its monthly spending limit."}`, Says: "used all available credits"}},
			SituationOverload: {{Status: 503, Body: `{"error":"The service is currently unavailable."}`}},
		},
		Absent: map[Situation]string{SituationRefusal: "no refusal of a chat is on record", SituationDay: noDay, SituationErrorIn200: noIn200},
	}
}

func mistralService() Service {
	return Service{
		Name: "Mistral", Model: "openai/mistral-medium-3.5", Path: "/v1", NoPaint: noPaint, New: "openai/mistral-large-4",
		Shapes: map[Situation][]Shape{
			SituationMinute:   {{Status: 429, Body: `{"object":"error","message":"Requests rate limit exceeded","type":"rate_limited","param":null,"code":"1300"}`, Says: "Requests rate limit exceeded"}},
			SituationContext:  {{Status: 400, Body: `{"object":"error","message":"Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","param":null,"code":"3051"}`, Says: "65673"}},
			SituationOverload: {{Status: 500, Body: `{"object":"error","message":"Service unavailable.","type":"internal_server_error","param":null,"code":"1000"}`}},
		},
		Absent: map[Situation]string{SituationRefusal: "no refusal of a chat is on record", SituationDay: noDay, SituationCredit: noCredit, SituationErrorIn200: noIn200},
	}
}

func deepseekService() Service {
	octets := []string{"Content-Type: application/octet-stream"}
	return Service{
		Name: "DeepSeek", Model: "openai/deepseek-flash", Path: "/v1", NoPaint: noPaint, New: "openai/deepseek-v5-flash",
		Shapes: map[Situation][]Shape{
			SituationMinute:   {{Status: 429, Header: octets, Body: `{"error":{"message":"Rate limit reached. Please retry in 4 s.","type":"rate_limit_error","param":null,"code":null}}`, Wait: "4s"}},
			SituationContext:  {{Status: 400, Header: octets, Body: `{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 800022 tokens.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, Says: "800022"}},
			SituationCredit:   {{Status: 402, Header: octets, Body: `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, Says: "Insufficient Balance"}},
			SituationOverload: {{Status: 503, Header: octets, Body: `{"error":{"message":"Service is too busy.","type":"service_unavailable_error","param":null,"code":null}}`, Says: "too busy"}},
		},
		Absent: map[Situation]string{SituationRefusal: "no refusal of a chat is on record", SituationDay: noDay, SituationErrorIn200: noIn200},
	}
}

func perplexityService() Service {
	return Service{
		Name: "Perplexity", Model: "openai/seeing", Path: "/v1", NoPaint: noPaint,
		Shapes: map[Situation][]Shape{
			SituationMinute:   {{Status: 429, Header: []string{"Content-Type: text/html"}, Body: `<html><head><title>429 Too Many Requests</title></head><body></body></html>`, Says: "web page"}},
			SituationContext:  {{Status: 400, Body: `{"error":{"message":"Prompt exceeds the limit","type":"too_many_prompt_tokens","code":400}}`}},
			SituationOverload: {{Status: 502, Header: []string{"Content-Type: text/html"}, Body: `<html><body>502 Bad Gateway</body></html>`, Says: "web page"}},
		},
		Absent: map[Situation]string{SituationRefusal: "no refusal of a chat is on record", SituationDay: noDay, SituationCredit: noCredit, SituationErrorIn200: noIn200},
	}
}

func llamacppService() Service {
	return Service{
		Name: "llama.cpp", Model: "openai/seeing", Path: "/v1", NoPaint: noPaint, New: "openai/gemma-4-12b-it",
		Shapes: map[Situation][]Shape{
			SituationContext: {
				{Status: 500, Body: `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`},
				{Status: 400, Body: `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`},
			},
			SituationOverload: {{Status: 503, Body: `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, Says: "Loading model"}},
		},
		Absent: map[Situation]string{
			SituationRefusal: "a refusal is a text there", SituationMinute: "one's own server has no limit of calls", SituationDay: "one's own server has no limit of calls",
			SituationCredit: "one's own server has no account", SituationErrorIn200: noIn200,
		},
	}
}

package chat_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"atelier/internal/sim"

	"atelier/chat"
	"atelier/media"
)

// answering returns a service with one fixed answer.
func answering(t *testing.T, status int, kind, body string) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client reads it
	})
}

func completed(message, usage string) string {
	return `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",` + message + `}}],"usage":` + usage + `}`
}

// TestWhatAnswersSayTheyUsed: usage and cost are those that the answer states.
func TestWhatAnswersSayTheyUsed(t *testing.T) {
	t.Parallel()
	const text = `"content":"hello","refusal":null`
	gemini := func(parts, usage string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"finishReason":"STOP"}],"usageMetadata":` + usage + `}`
	}
	picture := `{"inlineData":{"mimeType":"image/png","data":"` + base64.StdEncoding.EncodeToString(pngOf(t, noise(30, 20, 2))) + `"}}`
	painted := `{"type":"image_generation_call","id":"ig_1","status":"completed","output_format":"png","result":"` + base64.StdEncoding.EncodeToString(pngOf(t, noise(30, 20, 2))) + `"}`
	for name, c := range map[string]struct {
		model, path, body string
		want              chat.Usage
		cost              string
		reported, missing bool
	}{
		"OpenRouter's cost": {
			model: "openrouter/meta-llama/llama-4-maverick", body: completed(text, `{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"cost":0.00014625,"is_byok":false,"cost_details":{"upstream_inference_cost":null}}`),
			want: chat.Usage{InputTokens: 9, OutputTokens: 3}, cost: "0.00014625", reported: true,
		},
		"OpenRouter with one's own key": {
			model: "openrouter/x/new", body: completed(text, `{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"cost":0.00001,"is_byok":true,"cost_details":{"upstream_inference_cost":0.0002}}`),
			want: chat.Usage{InputTokens: 9, OutputTokens: 3}, cost: "0.00021", reported: true,
		},
		"xAI on Azure: thoughts beside the answer, more cached than asked": {
			model: "openai/grok-4.6", path: "/v1", body: completed(text, `{"prompt_tokens":6,"completion_tokens":1,"total_tokens":132,"prompt_tokens_details":{"cached_tokens":128},"completion_tokens_details":{"reasoning_tokens":125}}`),
			want: chat.Usage{InputTokens: 6, OutputTokens: 126, CachedTokens: 6}, cost: "0.000759",
		},
		"absurd figures": {
			model: "openai/gpt-6.1-sol", path: "/v1", body: completed(text, `{"prompt_tokens":-1000,"completion_tokens":9,"total_tokens":-991,"cost":1e999999999}`),
			want: chat.Usage{OutputTokens: 9}, cost: "0.00009",
		},
		"xAI's ticks": {
			model: "openai/grok-4.6", path: "/v1", body: completed(text, `{"prompt_tokens":6,"completion_tokens":1,"total_tokens":7,"cost_in_usd_ticks":37756000}`),
			want: chat.Usage{InputTokens: 6, OutputTokens: 1}, cost: "0.0037756", reported: true,
		},
		"OpenAI's cached tokens": {
			model: "openai/gpt-6.1-sol", path: "/v1", body: completed(text, `{"prompt_tokens":1000,"completion_tokens":0,"total_tokens":1000,"prompt_tokens_details":{"cached_tokens":900}}`),
			want: chat.Usage{InputTokens: 1000, CachedTokens: 900}, cost: "0.00029",
		},
		"Gemini's picture": {
			model: "gemini/gemini-3-pro-image", body: gemini(picture, `{"promptTokenCount":100,"candidatesTokenCount":1120,"thoughtsTokenCount":100,"totalTokenCount":1320,"candidatesTokensDetails":[{"modality":"IMAGE","tokenCount":1120}]}`),
			want: chat.Usage{InputTokens: 100, OutputTokens: 1220, ImageTokens: 1120}, cost: "0.1358",
		},
		"Gemini's picture without details": {
			model: "gemini/gemini-3-pro-image", body: gemini(picture, `{"promptTokenCount":100,"candidatesTokenCount":1120,"totalTokenCount":1220}`),
			want: chat.Usage{InputTokens: 100, OutputTokens: 1120}, cost: "0.01364", missing: true,
		},
		"the picture of OpenAI's tool": {
			model: "openai/painting", path: "/v1", body: `{"id":"r","object":"response","created_at":1,"model":"m","status":"completed","output":[` + painted + `],"usage":{"input_tokens":40,"output_tokens":9,"total_tokens":49,"input_tokens_details":{"cached_tokens":4}},"tool_usage":{"image_gen":{"input_tokens":12,"output_tokens":2058}}}`,
			want: chat.Usage{InputTokens: 40, OutputTokens: 9, CachedTokens: 4}, cost: "0.000062", missing: true,
		},
		"Anthropic's cache": {
			model: "anthropic/claude-sonnet-4-6", body: `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","stop_details":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":1000,"output_tokens":2}}`,
			want: chat.Usage{InputTokens: 1010, OutputTokens: 2, CachedTokens: 1000}, cost: "0.00036",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := connect(t, answering(t, 200, "application/json", c.body), c.model, c.path)
			if c.model == "openai/painting" {
				r = paintingAt(t, answering(t, 200, "application/json", c.body))
			}
			got, err := ask(t, named(t, r, c.model))
			if err != nil {
				t.Fatal(err)
			}
			if got.Usage != c.want || got.CostUSD == nil || *got.CostUSD != c.cost || got.CostReported != c.reported || got.CostIncomplete != c.missing {
				t.Errorf("%+v, cost %v, reported %t, incomplete %t", got.Usage, *got.CostUSD, got.CostReported, got.CostIncomplete)
			}
		})
	}
}

// paintingAt returns a registry whose painting model has a price.
func paintingAt(t *testing.T, h http.Handler) *chat.Registry {
	t.Helper()
	address := sim.Serve(t, h)
	return newRegistry(t, func(c *config) {
		c.Keys["openai"], c.BaseURLs["openai"] = "sk-test", address+"/v1"
		var err error
		if c.Profiles, err = chat.LoadProfiles(strings.NewReader(`models: [{provider: openai, id: painting, supports_vision: true, image_output: true, input_usd: "1", output_usd: "2", cached_usd: "2"}]`)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestThoughtsAreNoText: the thinking parts of an answer never become its text.
func TestThoughtsAreNoText(t *testing.T) {
	t.Parallel()
	const usage = `{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}`
	for name, c := range map[string]struct{ model, path, body string }{
		"Mistral":  {"openai/magistral-medium-2512", "/v1", completed(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"What do they want?"}],"closed":true},{"type":"text","text":"hel"},{"type":"text","text":"lo"}]`, usage)},
		"DeepSeek": {"openai/deepseek-flash", "/v1", completed(`"reasoning_content":"What do they want?","content":"hello"`, usage)},
		"Gemini":   {"gemini/gemini-3.1-pro-preview", "", `{"candidates":[{"content":{"role":"model","parts":[{"text":"What do they want?","thought":true},{"text":"hello"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`},
		"Claude":   {"anthropic/claude-opus-5-5", "", `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"What do they want?","signature":"s"},{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := connect(t, answering(t, 200, "application/json", c.body), c.model, c.path)
			if got, err := ask(t, named(t, r, c.model)); err != nil || got.Text != "hello" {
				t.Errorf("%q, %v", got.Text, err)
			}
		})
	}
}

// TestJSONIsReadAsSuch: an answer is read by its content, whatever type it declares; its pictures are lifted.
func TestJSONIsReadAsSuch(t *testing.T) {
	t.Parallel()
	picture := pngOf(t, noise(30, 20, 2))
	body := completed(`"content":"hello","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`+base64.StdEncoding.EncodeToString(picture)+`"}}]`, `{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"cost":0.02}`)
	for _, kind := range []string{"application/octet-stream", "text/plain; charset=utf-8", "text/html", "binary/octet-stream", "garbage"} {
		r, _ := connect(t, answering(t, 200, kind, "\n \n"+body), "openrouter/google/gemini-3-pro-image", "")
		got, err := ask(t, named(t, r, "openrouter/google/gemini-3-pro-image"))
		if err != nil || got.Text != "hello" || len(got.Media) != 1 || got.Media[0].Digest != media.DigestOf(picture) || got.CostUSD == nil || *got.CostUSD != "0.02" {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
	r, _ := connect(t, answering(t, 200, "text/html", "<!doctype html><html>Sign in</html>"), "openai/seeing", "/v1")
	if _, err := ask(t, named(t, r, "openai/seeing")); media.CodeOf(err) != media.CodeBadResponse || !strings.Contains(err.Error(), "a web page instead of JSON: check the base URL") {
		t.Errorf("a web page: %v", err)
	}
}

// TestRefusalsOfOtherKinds: bad keys, pictures for text models and retired ids are known whatever the status.
func TestRefusalsOfOtherKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		body, says string
		code       media.Code
		picture    bool
	}{
		{400, `{"code":"invalid-argument","error":"Incorrect API key provided: xa***st. You can obtain an API key from https://console.x.ai."}`, "check OPENAI_API_KEY", media.CodeUnauthorized, false},
		{400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}]`, "API key not valid", media.CodeUnauthorized, false},
		{403, `{"message":"Invalid API key"}`, "Invalid API key", media.CodeUnauthorized, false},
		{400, `{"error":{"message":"This model does not support image_url content.","type":"invalid_request_error","param":"messages","code":"invalid_value"}}`, "choose a chat model with vision", media.CodeUnsupported, true},
		{400, `{"object":"error","message":"Image input is not enabled for this model","type":"invalid_request_error","param":null,"code":"3051"}`, "Image input is not enabled", media.CodeUnsupported, true},
		{500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, "mmproj", media.CodeUnsupported, true},
		{404, `{"error":{"message":"No endpoints found that support image input","code":404}}`, "No endpoints found", media.CodeUnsupported, true},
		{400, `{"error":{"message":"messages[0].content must be a string","type":"invalid_request_error"}}`, "must be a string", media.CodeUnsupported, true},
		{403, `{"message":"This model is text only","type":"multimodal_not_enabled","code":"multimodal_not_enabled"}`, "text only", media.CodeUnsupported, true},
		{400, `{"error":{"message":"messages[0].content must be a string","type":"invalid_request_error"}}`, "must be a string", media.CodeInvalid, false},
		{400, `{"error":{"message":"x/y is not a valid model ID","code":400},"user_id":"u"}`, "models list --chat", media.CodeNotFound, false},
		{404, `{"error":{"code":404,"message":"models/gemini-1.5-pro is no longer available.","status":"NOT_FOUND"}}`, "models/gemini-1.5-pro", media.CodeNotFound, false},
		{402, `{"error":"You have depleted your monthly included credits for Inference Providers."}`, "depleted your monthly included credits", media.CodeQuotaExceeded, false},
		{402, `{"error":"The model is no longer available without payment."}`, "without payment", media.CodeQuotaExceeded, false},
		{422, `{"detail":[{"loc":["body","messages"],"msg":"Field required","type":"missing"}]}`, "Field required", media.CodeInvalid, false},
		{400, `{"success":false,"errors":[{"code":5006,"message":"required properties are missing"}]}`, "required properties are missing", media.CodeInvalid, false},
		{400, `{"error":{"message":"Item 'rs_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f607182' of type 'reasoning' was provided without its required following item.","type":"invalid_request_error"}}`, "rs_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f607182", media.CodeInvalid, false},
	} {
		calls := 0
		r, codec := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls++
			answering(t, c.status, "application/json", c.body).ServeHTTP(w, r)
		}), "openai/seeing", "/v1")
		msg := chat.Message{Role: chat.RoleUser, Parts: []chat.Part{{Text: "x"}}}
		if c.picture {
			o := store(t, codec, pngOf(t, noise(9, 9, 1)))
			msg.Parts = append(msg.Parts, chat.Part{Media: &o})
		}
		_, err := named(t, r, "openai/seeing").Generate(scoped(t), chat.Request{Messages: []chat.Message{msg}})
		if media.CodeOf(err) != c.code || calls != 1 || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d %s: %d calls, %s: %v", c.status, c.body, calls, media.CodeOf(err), err)
		}
	}
}

// TestNoFalseRefusals: fields that every answer of a service contains are not taken for a refusal.
func TestNoFalseRefusals(t *testing.T) {
	t.Parallel()
	const usage = `{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}`
	filters := `"content_filter_results":{"hate":{"filtered":false,"severity":"safe"},"protected_material_code":{"filtered":false,"detected":false}}`
	for name, body := range map[string]string{
		"an empty refusal": completed(`"content":"hello","refusal":""`, usage),
		"Azure's filters":  strings.Replace(completed(`"content":"hello"`, usage), `"index":0,`, `"index":0,`+filters+`,`, 1),
		"a null error":     strings.Replace(completed(`"content":"hello"`, usage), `{"id"`, `{"error":null,"id"`, 1),
		"a text about it":  completed(`"content":"hello","refusal":null`, usage),
	} {
		r, _ := connect(t, answering(t, 200, "application/json", body), "openai/seeing", "/v1")
		if got, err := ask(t, named(t, r, "openai/seeing")); err != nil || got.Text != "hello" {
			t.Errorf("%s: %q, %v", name, got.Text, err)
		}
	}
	text := `{"candidates":[{"content":{"parts":[{"text":"hello"}]},"finishReason":"NO_IMAGE"}],"promptFeedback":{"safetyRatings":[]},"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`
	r, _ := connect(t, answering(t, 200, "application/json", text), "gemini/gemini-3-pro-image", "")
	if got, err := ask(t, named(t, r, "gemini/gemini-3-pro-image")); err != nil || got.Text != "hello" {
		t.Errorf("a text instead of a picture: %q, %v", got.Text, err)
	}
}

// TestSoundInPiecesIsOneItem: raw samples in several parts of an answer become one sound.
func TestSoundInPiecesIsOneItem(t *testing.T) {
	t.Parallel()
	piece := `{"inlineData":{"mimeType":"audio/L16;codec=pcm;rate=24000","data":"` + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1, 2, 3}, 8_000)) + `"}}`
	body := `{"candidates":[{"content":{"role":"model","parts":[{"text":"Listen."},` + piece + `,` + piece + `]},"finishReason":"STOP"}],"usageMetadata":{}}`
	r, _ := connect(t, answering(t, 200, "application/json", body), "gemini/gemini-4-argon", "")
	got, err := ask(t, named(t, r, "gemini/gemini-4-argon"))
	if err != nil || len(got.Media) != 1 || got.Media[0].MIMEType != "audio/wav" || got.Media[0].DurationSeconds != 1 || got.Text != "Listen." {
		t.Errorf("%+v, %v", got, err)
	}
}

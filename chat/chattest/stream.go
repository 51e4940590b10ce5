package chattest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"

	"atelier/internal/sim"
)

// asksForStream reports whether a request asks for server-sent events.
func asksForStream(path string, raw []byte) bool {
	var b struct {
		Stream bool `json:"stream"`
	}
	return json.Unmarshal(raw, &b) == nil && b.Stream || strings.HasSuffix(path, ":streamGenerateContent")
}

// stream sends the response that answer writes as server-sent events. Responses with an error status, and HTML, stay as
// they are. A truncated response is also truncated as a stream.
func (s *Simulator) stream(w http.ResponseWriter, d Dialect, answer func(http.ResponseWriter)) {
	rec := httptest.NewRecorder()
	answer(rec)
	whole := map[string]any{}
	kind := rec.Header().Get("Content-Type")
	if rec.Code != http.StatusOK || strings.HasPrefix(kind, "text/html") {
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()) // the client may have disconnected
		return
	}
	out := sim.NewEvents(w)
	cut := json.Unmarshal(rec.Body.Bytes(), &whole) != nil
	if cut {
		whole = map[string]any{"choices": []any{map[string]any{"index": 0, "message": map[string]any{"content": "half of"}}}}
	}
	var events []map[string]any
	switch d {
	case DialectAnthropic:
		events = anthropicEvents(whole)
	case DialectGemini:
		events = geminiEvents(whole)
	case DialectOpenAI:
		events = completionEvents(whole)
	case DialectResponses, DialectBedrock:
		events = []map[string]any{whole}
	}
	for i, e := range events {
		if s.Between != nil && i > 0 {
			s.Between()
		}
		b, err := json.Marshal(e)
		if err != nil {
			panic(err) // it was JSON before
		}
		kind, _ := e["type"].(string)
		out.Send(kind, string(b))
	}
	if cut {
		panic(http.ErrAbortHandler)
	}
	if d == DialectOpenAI {
		out.Send("", "[DONE]")
	}
}

// pieces splits a text into pieces as a model streams them. Pieces of a long text are larger.
func pieces(text string) (out []string) {
	runes := []rune(text)
	size := max(5, len(runes)/200)
	for len(runes) > 0 {
		n := min(len(runes), size)
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}

// with returns a copy of an object with other values. The value nil removes a key.
func with(o map[string]any, values map[string]any) map[string]any {
	out := maps.Collect(maps.All(o)) // o may be nil
	for k, v := range values {
		if out[k] = v; v == nil {
			delete(out, k)
		}
	}
	return out
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// completionEvents returns the chunks of a chat completion.
func completionEvents(whole map[string]any) []map[string]any {
	choices := list(whole["choices"])
	if len(choices) == 0 {
		return []map[string]any{whole}
	}
	base := with(whole, map[string]any{"object": "chat.completion.chunk", "choices": nil, "usage": nil})
	choice := object(choices[0])
	message := object(choice["message"])
	chunk := func(choice map[string]any) map[string]any {
		return with(base, map[string]any{"choices": []any{choice}})
	}
	delta := func(d map[string]any) map[string]any {
		return chunk(map[string]any{"index": 0, "delta": d, "finish_reason": nil})
	}
	events := []map[string]any{delta(map[string]any{"role": "assistant", "content": ""})}
	text, isText := message["content"].(string)
	for _, p := range pieces(text) {
		events = append(events, delta(map[string]any{"content": p}))
	}
	if !isText && message["content"] != nil { // parts, including thoughts
		events = append(events, delta(map[string]any{"content": message["content"]}))
	}
	if refusal, ok := message["refusal"].(string); ok {
		for _, p := range pieces(refusal) {
			events = append(events, delta(map[string]any{"refusal": p}))
		}
	}
	events = append(events, chunk(with(choice, map[string]any{"message": nil, "delta": map[string]any{}})))
	if usage := whole["usage"]; usage != nil {
		events = append(events, with(base, map[string]any{"choices": []any{}, "usage": usage}))
	}
	return events
}

// anthropicEvents returns the events of a message.
func anthropicEvents(whole map[string]any) []map[string]any {
	if whole["type"] != "message" {
		return []map[string]any{whole} // an error
	}
	usage := object(whole["usage"])
	events := []map[string]any{{"type": "message_start", "message": with(whole, map[string]any{
		"content": []any{}, "stop_reason": nil, "stop_details": nil, "usage": with(usage, map[string]any{"output_tokens": 1}),
	})}}
	for i, block := range list(whole["content"]) {
		text, _ := object(block)["text"].(string)
		events = append(events, map[string]any{"type": "content_block_start", "index": i, "content_block": with(object(block), map[string]any{"text": ""})})
		for _, p := range pieces(text) {
			events = append(events, map[string]any{"type": "content_block_delta", "index": i, "delta": map[string]any{"type": "text_delta", "text": p}})
		}
		events = append(events, map[string]any{"type": "content_block_stop", "index": i})
	}
	return append(events,
		map[string]any{
			"type":  "message_delta",
			"delta": map[string]any{"stop_reason": whole["stop_reason"], "stop_sequence": nil, "stop_details": whole["stop_details"]},
			"usage": map[string]any{"output_tokens": usage["output_tokens"]},
		},
		map[string]any{"type": "message_stop"})
}

// geminiEvents returns the chunks of an answer. The last chunk has the finish reason and the usage.
func geminiEvents(whole map[string]any) []map[string]any {
	candidates := list(whole["candidates"])
	if len(candidates) == 0 {
		return []map[string]any{whole}
	}
	candidate := object(candidates[0])
	part := func(values map[string]any, parts ...any) map[string]any {
		c := with(candidate, map[string]any{"finishReason": nil, "finishMessage": nil, "content": map[string]any{"role": "model", "parts": parts}})
		return with(whole, map[string]any{"usageMetadata": nil, "candidates": []any{with(c, values)}})
	}
	var events []map[string]any
	for _, p := range list(object(candidate["content"])["parts"]) {
		text, isText := object(p)["text"].(string)
		if !isText {
			events = append(events, part(nil, p))
		}
		for _, piece := range pieces(text) {
			events = append(events, part(nil, with(object(p), map[string]any{"text": piece})))
		}
	}
	end := part(map[string]any{"finishReason": candidate["finishReason"], "finishMessage": candidate["finishMessage"]}, map[string]any{"text": ""})
	end["usageMetadata"] = whole["usageMetadata"]
	return append(events, end)
}

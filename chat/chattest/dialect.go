package chattest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"atelier/internal/sim"
)

// Dialect is a protocol that the simulator implements. The path of a request determines it.
type Dialect string

// The values of [Dialect].
const (
	DialectOpenAI    Dialect = "openai"    // POST …/chat/completions
	DialectResponses Dialect = "responses" // POST …/responses
	DialectAnthropic Dialect = "anthropic" // POST …/v1/messages
	DialectGemini    Dialect = "gemini"    // POST …/models/ID:generateContent, :streamGenerateContent
	DialectBedrock   Dialect = "bedrock"   // POST /model/ID/converse
)

// dialectOf returns the dialect of a path; empty if there is none.
func dialectOf(path string) Dialect {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return DialectOpenAI
	case strings.HasSuffix(path, "/responses"):
		return DialectResponses
	case strings.HasSuffix(path, "/v1/messages"):
		return DialectAnthropic
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return DialectGemini
	case strings.HasSuffix(path, "/converse"):
		return DialectBedrock
	}
	return ""
}

// content is one part of a message in any dialect.
type content struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Image json.RawMessage `json:"image"`
	// ImageURL is an object in chat completions, and a string in Responses.
	ImageURL json.RawMessage `json:"image_url"`
	Detail   string          `json:"detail"`
	Source   struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	InlineData *struct {
		MIMEType string `json:"mimeType"`
		Data     string `json:"data"`
	} `json:"inlineData"`
}

// turn is one message in any dialect.
type turn struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Parts   []content       `json:"parts"`
}

// body is a request in any dialect.
type body struct {
	Model    string          `json:"model"`
	System   json.RawMessage `json:"system"`
	Messages []turn          `json:"messages"`
	Contents []turn          `json:"contents"`
	Input    []turn          `json:"input"`
	Gemini   struct {
		Parts []content `json:"parts"`
	} `json:"systemInstruction"`
	GenerationConfig struct {
		ResponseModalities []string `json:"responseModalities"`
	} `json:"generationConfig"`
	Tools []struct {
		Type string `json:"type"`
	} `json:"tools"`
	Modalities     []string `json:"modalities"`
	ResponseFormat struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

// parse parses a request as its service documents it.
func parse(d Dialect, path string, raw []byte) (Request, error) {
	var in body
	if err := json.Unmarshal(raw, &in); err != nil {
		return Request{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	out := Request{Dialect: d, Model: in.Model, JSONMode: in.ResponseFormat.Type == "json_object"}
	if out.Model == "" {
		out.Model = path
	}
	out.Paints = len(in.Modalities) > 1 || len(in.GenerationConfig.ResponseModalities) > 1 || len(in.Tools) > 0 && in.Tools[0].Type == "image_generation"
	system := textOf(in.System)
	for _, p := range in.Gemini.Parts {
		system += p.Text
	}
	if system != "" {
		out.Messages = append(out.Messages, Message{Role: "system", Text: system})
	}
	for _, t := range append(append(in.Messages, in.Contents...), in.Input...) {
		m, err := t.message()
		if err != nil {
			return out, err
		}
		out.Messages = append(out.Messages, m)
	}
	if len(out.Messages) == 0 {
		return out, errors.New("there is no message")
	}
	if out.JSONMode && !strings.Contains(strings.ToLower(out.System()+out.join("user")), "json") {
		return out, errors.New("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'")
	}
	return out, nil
}

// textOf returns the text of a string or a list of parts.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []content
	_ = json.Unmarshal(raw, &parts) // other forms have no text
	for _, p := range parts {
		s += p.Text
	}
	return s
}

func (t turn) message() (Message, error) {
	role := t.Role
	if role == "model" {
		role = "assistant"
	}
	m := Message{Role: role}
	parts := t.Parts
	if len(parts) == 0 {
		var text string
		if json.Unmarshal(t.Content, &text) == nil {
			m.add(text, nil)
			return m, nil
		}
		if err := json.Unmarshal(t.Content, &parts); err != nil {
			return m, fmt.Errorf("content of a %s message: %w", t.Role, err)
		}
	}
	for _, p := range parts {
		img, err := p.image()
		if err != nil {
			return m, err
		}
		if img != nil && role != "user" {
			return m, fmt.Errorf("a %s message contains a picture: only user messages may", role)
		}
		m.add(p.Text, img)
	}
	return m, nil
}

// image returns the picture of a part; nil if there is none.
func (p content) image() (*Image, error) {
	switch {
	case p.Type == "image" && p.Source.Type == "base64":
		return decoded(p.Source.MediaType, p.Source.Data)
	case p.InlineData != nil:
		return decoded(p.InlineData.MIMEType, p.InlineData.Data)
	case p.Type == "image_url":
		var address struct{ URL, Detail string }
		if err := json.Unmarshal(p.ImageURL, &address); err != nil {
			return nil, errors.New("image_url must be an object")
		}
		img, err := parseImage(address.URL)
		img.Detail = address.Detail
		return &img, err
	case p.Type == "input_image":
		var url string
		if err := json.Unmarshal(p.ImageURL, &url); err != nil {
			return nil, errors.New("input_image: image_url must be a string")
		}
		img, err := parseImage(url)
		img.Detail = p.Detail
		return &img, err
	case len(p.Image) > 0:
		var b struct {
			Format string `json:"format"`
			Source struct {
				Bytes string `json:"bytes"`
			} `json:"source"`
		}
		if err := json.Unmarshal(p.Image, &b); err != nil {
			return nil, fmt.Errorf("image: %w", err)
		}
		if b.Format != "png" && b.Format != "jpeg" && b.Format != "gif" && b.Format != "webp" {
			return nil, fmt.Errorf("image format %q is none of png, jpeg, gif, webp", b.Format)
		}
		return decoded("image/"+b.Format, b.Source.Bytes)
	}
	return nil, nil
}

func decoded(mimeType, data string) (*Image, error) {
	img, err := parseImage("data:" + mimeType + ";base64," + data)
	return &img, err
}

// replyDialect responds in the dialect of the request. picture is a picture that the model made; nil for none.
func replyDialect(w http.ResponseWriter, req Request, text string, picture []byte) {
	data := base64.StdEncoding.EncodeToString(picture)
	tokens := req.Bytes / 4
	switch req.Dialect {
	case DialectAnthropic:
		sim.JSON(w, http.StatusOK, map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": req.Model, "stop_reason": "end_turn",
			"content": []any{map[string]any{"type": "text", "text": text}},
			"usage":   map[string]any{"input_tokens": tokens, "output_tokens": 7},
		})
	case DialectGemini:
		parts := []any{map[string]any{"text": text}}
		usage := map[string]any{"promptTokenCount": tokens, "candidatesTokenCount": 7, "totalTokenCount": tokens + 7}
		if picture != nil {
			usage["candidatesTokenCount"], usage["totalTokenCount"] = 1127, tokens+1127
			usage["candidatesTokensDetails"] = []any{map[string]any{"modality": "IMAGE", "tokenCount": 1120}}
			parts = append(parts, map[string]any{"inlineData": map[string]any{"mimeType": "image/png", "data": data}})
		}
		sim.JSON(w, http.StatusOK, map[string]any{
			"candidates":    []any{map[string]any{"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": parts}}},
			"usageMetadata": usage,
		})
	case DialectResponses:
		output := []any{map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}},
		}}
		if picture != nil {
			output = append(output, map[string]any{"id": "ig_1", "type": "image_generation_call", "status": "completed", "output_format": "png", "result": data})
		}
		sim.JSON(w, http.StatusOK, map[string]any{
			"id": "resp_1", "object": "response", "created_at": 1763700000, "model": req.Model, "status": "completed", "output": output,
			"usage":      map[string]any{"input_tokens": tokens, "output_tokens": 7, "total_tokens": tokens + 7},
			"tool_usage": map[string]any{"image_gen": map[string]any{"input_tokens": 12, "output_tokens": 2058}},
		})
	case DialectBedrock:
		sim.JSON(w, http.StatusOK, map[string]any{
			"output":     map[string]any{"message": map[string]any{"role": "assistant", "content": []any{map[string]any{"text": text}}}},
			"stopReason": "end_turn", "metrics": map[string]any{"latencyMs": 12},
			"usage": map[string]any{"inputTokens": tokens, "outputTokens": 7, "totalTokens": tokens + 7},
		})
	case DialectOpenAI:
	}
}

package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"
	"github.com/openai/openai-go/v3/option"

	"atelier/media"
)

// paintingOpenAI is OpenAI's Responses API with its image tool, which chat completions
// do not have.
func paintingOpenAI(base, key string, client *http.Client) (fantasy.Provider, error) {
	o := []openai.Option{
		openai.WithAPIKey(key), openai.WithHTTPClient(client), openai.WithUseResponsesAPI(),
		openai.WithResponsesAPIFunc(func(string) bool { return true }),
		openai.WithSDKOptions(option.WithJSONSet("tools", []map[string]string{{"type": "image_generation"}})),
	}
	if base != "" {
		o = append(o, openai.WithBaseURL(base))
	}
	return openai.New(o...)
}

// maxPaintingRequest bounds a request that is changed on its way; pictures stand in it
// as markers.
const maxPaintingRequest = 64 << 20

// paintingGemini asks Gemini for pictures beside text, for which the SDK above it has no
// word. It lies above the transport that puts bytes in.
type paintingGemini struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t paintingGemini) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		return t.next.RoundTrip(req)
	}
	b, err := io.ReadAll(io.LimitReader(req.Body, maxPaintingRequest+1))
	if err != nil {
		return nil, err
	}
	if err := req.Body.Close(); err != nil {
		return nil, err
	}
	if len(b) > maxPaintingRequest {
		return nil, media.Errorf(media.CodeTooLarge, "the request has over %d bytes of text: give less", maxPaintingRequest)
	}
	var body map[string]json.RawMessage
	var config map[string]json.RawMessage
	if json.Unmarshal(b, &body) == nil {
		_ = json.Unmarshal(body["generationConfig"], &config) // missing or null: a new one
		if config == nil {
			config = map[string]json.RawMessage{}
		}
		config["responseModalities"] = json.RawMessage(`["TEXT","IMAGE"]`)
		if body["generationConfig"], err = json.Marshal(config); err == nil {
			b, err = json.Marshal(body)
		}
		if err != nil {
			return nil, err
		}
	}
	out := req.Clone(req.Context())
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	return t.next.RoundTrip(out)
}

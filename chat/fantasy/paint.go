package fantasy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// rewriting modifies the body of every request in transit, which contains markers instead of pictures: it is above the
// transport that inserts the bytes of media.
type rewriting struct {
	next   http.RoundTripper
	change func(context.Context, map[string]json.RawMessage) error
}

// RoundTrip implements http.RoundTripper.
func (t rewriting) RoundTrip(req *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(req.Body)
	if err = errors.Join(err, req.Body.Close()); err != nil {
		return nil, err
	}
	var body map[string]json.RawMessage
	if json.Unmarshal(b, &body) == nil {
		if err := t.change(req.Context(), body); err != nil {
			return nil, err
		}
		if b, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	out := req.Clone(req.Context())
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	return t.next.RoundTrip(out)
}

// askGemini requests pictures in addition to text. The SDK has no option for this.
func askGemini(_ context.Context, body map[string]json.RawMessage) (err error) {
	var config map[string]json.RawMessage
	_ = json.Unmarshal(body["generationConfig"], &config) // missing or null: use a new one
	if config == nil {
		config = map[string]json.RawMessage{}
	}
	config["responseModalities"] = json.RawMessage(`["TEXT","IMAGE"]`)
	body["generationConfig"], err = json.Marshal(config)
	return err
}

// askResponses sets the detail of each picture. The SDK omits it in requests to the Responses API.
func askResponses(ctx context.Context, body map[string]json.RawMessage) (err error) {
	s, _ := ctx.Value(replyKey{}).(*reply)
	if s == nil || len(s.by.details) == 0 {
		return nil
	}
	details := s.by.details
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(body["input"], &items); err != nil {
		return fmt.Errorf("read the messages of the request: %w", err)
	}
	for _, item := range items {
		var parts []map[string]json.RawMessage
		if json.Unmarshal(item["content"], &parts) != nil {
			continue // the content is text
		}
		for _, p := range parts {
			if string(p["type"]) != `"input_image"` || len(details) == 0 {
				continue
			}
			detail := "auto" // the field is required
			if d := details[0]; d == "low" || d == "high" {
				detail = d
			}
			p["detail"] = json.RawMessage(`"` + detail + `"`)
			details = details[1:]
		}
		if item["content"], err = json.Marshal(parts); err != nil {
			return err
		}
	}
	body["input"], err = json.Marshal(items)
	return err
}

package chattest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Image is a picture as the service received it.
type Image struct {
	MIMEType string
	Size     int
	// SHA256 is the hexadecimal hash of the decoded bytes.
	SHA256 string
	// Width and Height are in pixels; 0 if the bytes cannot be decoded.
	Width, Height int
	// Detail is the requested detail, in dialects that have one.
	Detail string

	// found is the type detected from the bytes.
	found string
}

// Part is a text or a picture in a message.
type Part struct {
	Text  string
	Image *Image
}

// Message is one message as the service received it.
type Message struct {
	Role   string
	Text   string
	Images []Image
	// Parts are the texts and the pictures in order.
	Parts []Part
}

// add appends a part to the message.
func (m *Message) add(text string, img *Image) {
	m.Text += text
	m.Parts = append(m.Parts, Part{Text: text, Image: img})
	if img != nil {
		m.Images = append(m.Images, *img)
	}
}

// Request is one request as the service received it.
type Request struct {
	Dialect  Dialect
	Model    string
	Messages []Message
	JSONMode bool
	// Paints means that the request asks for pictures in the answer.
	Paints bool
	// Bytes is the length of the body. ContentLength is the announced length.
	Bytes, ContentLength int64
}

// System returns the text of the system messages.
func (r Request) System() string { return r.join("system") }

func (r Request) join(role string) string {
	var parts []string
	for _, m := range r.Messages {
		if m.Role == role {
			parts = append(parts, m.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// parse parses a chat completion request as the service documents it.
func parse(body []byte) (Request, error) {
	var in struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		ResponseFormat struct {
			Type string `json:"type"`
		} `json:"response_format"`
		Modalities []string `json:"modalities"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("we could not parse the JSON body of your request: %w", err)
	}
	out := Request{Dialect: DialectOpenAI, Model: in.Model, JSONMode: in.ResponseFormat.Type == "json_object", Paints: len(in.Modalities) > 1}
	for _, m := range in.Messages {
		msg, err := parseContent(m.Role, m.Content)
		if err != nil {
			return out, err
		}
		out.Messages = append(out.Messages, msg)
	}
	if out.JSONMode && !strings.Contains(strings.ToLower(out.System()+out.join("user")), "json") {
		return out, fmt.Errorf("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'")
	}
	return out, nil
}

func parseContent(role string, raw json.RawMessage) (Message, error) {
	msg := Message{Role: role}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		msg.add(text, nil)
		return msg, nil
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL struct {
			URL    string `json:"url"`
			Detail string `json:"detail"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return msg, fmt.Errorf("invalid type for 'messages.content': %w", err)
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			msg.add(p.Text, nil)
		case "image_url":
			img, err := parseImage(p.ImageURL.URL)
			if err != nil {
				return msg, err
			}
			img.Detail = p.ImageURL.Detail
			msg.add("", &img)
		default:
			return msg, fmt.Errorf("invalid content part type %q", p.Type)
		}
	}
	return msg, nil
}

func parseImage(url string) (Image, error) {
	head, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok {
		return Image{}, fmt.Errorf("invalid image_url")
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return Image{}, fmt.Errorf("invalid base64 image_url: %w", err)
	}
	sum := sha256.Sum256(b)
	img := Image{MIMEType: head, Size: len(b), SHA256: hex.EncodeToString(sum[:])}
	img.found, img.Width, img.Height = look(b)
	return img, nil
}

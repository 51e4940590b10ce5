package chattest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
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

package media

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Facts are the properties of media. They are read from the bytes, never copied from a request.
type Facts struct {
	// MIMEType is the sniffed type, lower case, without parameters.
	MIMEType string `json:"mime_type"`
	// Width and Height are in pixels as displayed (after orientation); 0 if the type has none.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
	// Orientation is the EXIF orientation, 1 to 8; 0 if there is none.
	Orientation int `json:"orientation,omitempty"`
	// Frames is the number of frames or pages; 0 if unknown.
	Frames int `json:"frames,omitempty"`
	// DurationSeconds is the duration of audio and video, to the millisecond; 0 if unknown.
	DurationSeconds float64 `json:"duration_seconds,omitempty"`
}

// Blob is one stored byte string: its key, its size and its facts.
type Blob struct {
	Digest Digest `json:"digest"`
	// SizeBytes is the length of the bytes.
	SizeBytes int64 `json:"size_bytes"`
	Facts
}

// ClipLabel returns the first 500 characters of a label.
func ClipLabel(label string) string { return Head(label, 500) }

// Head returns the first n characters of a text.
func Head(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// Meta is a caller's description of an item to store.
type Meta struct {
	// Label is a short display text ("Generated image 1"); at most 500 characters are kept.
	Label string
	// Description is the maker's own note: what the item shows and why.
	Description string
	// FileName is the original name, without a path; may be empty.
	FileName string
	// MIMEType is the declared type. The sniffed type takes precedence; this one only decides for
	// types without a signature (text, raw PCM).
	MIMEType string
	// Metadata is free, small and JSON-encodable: model, provider, seed.
	Metadata map[string]any
	// Lineage lists what the item was made from.
	Lineage []Parent
}

// Parent is one edge of lineage: the item was made from Ref in the given role.
type Parent struct {
	Ref Ref `json:"ref"`
	// Role is input, mask, variation, frame, thumbnail or same_bytes.
	Role string `json:"role"`
}

// Output is the value that actions, models and agents exchange for one media item. It never holds bytes.
type Output struct {
	// ID is the media record's UUIDv7; empty until it is recorded.
	ID       string   `json:"id,omitempty"`
	Modality Modality `json:"modality"`
	Ref      Ref      `json:"ref,omitempty"`
	Blob
	// URL is set instead of a digest while only the address of an item is known; the item is
	// fetched before anything else sees the output.
	URL         string         `json:"url,omitempty"`
	FileName    string         `json:"file_name,omitempty"`
	Label       string         `json:"label,omitempty"`
	Description string         `json:"description,omitempty"`
	Promoted    bool           `json:"promoted,omitempty"`
	Partial     bool           `json:"partial,omitempty"`
	Origin      Origin         `json:"origin"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	Lineage     []Parent       `json:"lineage,omitempty"`
	CreatedAt   time.Time      `json:"created_at"`
}

// Origin is where an item came from.
type Origin struct {
	// Direction is input (a person or a caller provided it) or output (the program made it).
	Direction string `json:"direction,omitempty"`
	// Source names the action, model or agent.
	Source string `json:"source,omitempty"`
	// AgentPath is the path from the root agent, separated by slashes: research-agent/research-report-writer.
	AgentPath string `json:"agent_path,omitempty"`
	// Operation is the generation that made it, if any.
	Operation string `json:"operation,omitempty"`
}

// NewOutput returns the output of a stored blob; modality and ref follow from its bytes.
func NewOutput(b Blob, m Meta) Output {
	mod := ModalityOf(b.MIMEType)
	return Output{
		Modality: mod, Ref: RefOf(mod, b.Digest), Blob: b, FileName: m.FileName,
		Label: m.Label, Description: m.Description, Metadata: m.Metadata, Lineage: m.Lineage,
	}
}

// InputImage is a stored picture that a model is shown, in the form used in saved state.
type InputImage struct {
	Ref      Ref    `json:"ref"`
	MIMEType string `json:"mime_type"`
	FileName string `json:"filename,omitempty"`
	// Detail is auto, low or high; empty means auto.
	Detail string `json:"detail,omitempty"`
}

// String returns the item without its bytes: <image image/png 12345 bytes img-7k3m9q2x>. Debug
// output, logs and error texts show media only in this form.
func (o Output) String() string {
	return fmt.Sprintf("<%s %s %d bytes %s>", o.Modality, o.MIMEType, o.SizeBytes, cmp.Or(o.Ref, "no ref"))
}

// LogValue is [Output.String], so that slog cannot show more.
func (o Output) LogValue() slog.Value { return slog.StringValue(o.String()) }

// Recorder stores the record of an item, in its own commit, before anything else sees the item
// (law 2). Recording the same bytes again in a run tree adds lineage and keeps the first label. It
// returns the output with the ID of its record.
type Recorder interface {
	Record(ctx context.Context, o Output) (Output, error)
}

// Storage stores and returns media bytes; *wire.Codec implements it.
type Storage interface {
	// Store reads r to its end, stores the content and returns its digest, size and sniffed facts. Errors have codes:
	// CodeTooLarge, CodeDiskFull.
	Store(ctx context.Context, r io.Reader, declaredMIME string) (Blob, error)
	// Open returns the bytes; the caller closes them.
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)
}

// Package offline is the chat model that needs no provider: deterministic rules instead of a language model. It reads
// the same prompts as every other model, plans the steps of the shipped agents, extracts and ranks sentences of prose,
// computes totals, shares, trends and extremes of tables, chooses charts that fit, and writes the report. Of pictures
// it reports what pixels show: size, palette, brightness, likeness. Its reports say that it is not a language model.
//
// It never fails because there is no network. It returns errors only for a cancelled context, and for pictures that
// are too many or cannot be read. It may import chat, imaging, media, internal/pattern and its own subpackages.
package offline

import (
	"context"
	"encoding/json"
	"strings"

	"atelier/chat"
	"atelier/media"
)

// Model is the offline chat model. The zero value is ready to use, without vision. It is safe for concurrent use.
type Model struct {
	// Blobs opens the pictures whose pixels it reads; if nil, it sees none.
	Blobs Blobs
	// Painter reports what can be drawn if the offline painter makes pictures; it is nil if
	// another model makes them, which is asked for anything.
	Painter Painter
}

var _ chat.Model = Model{}

// Profile implements chat.Model.
func (m Model) Profile() chat.Profile {
	return chat.Profile{
		SupportsVision: m.Blobs != nil,
		ImageLimits: chat.ImageLimits{
			MaxImages: maxSeen, MaxImageSide: 4096, MediaTypes: []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
			ImageTokens: chat.TokenRule{Rule: "flat", Each: 64},
		},
		ID: "offline", Name: "Atelier Offline", Provider: "offline", Offline: true,
		ContextTokens: 1_000_000, MaxOutputTokens: 100_000, StructuredOutput: true,
	}
}

// Generate implements chat.Model: it answers with one JSON step.
func (m Model) Generate(ctx context.Context, r chat.Request) (chat.Response, error) {
	if err := ctx.Err(); err != nil {
		return chat.Response{}, media.Errorf(media.CodeOf(err), "ask the offline model: %w", err)
	}
	c := read(r)
	c.painter = m.Painter
	var err error
	if c.seen, err = m.inspect(ctx, r); err != nil {
		return chat.Response{}, err
	}
	s := decide(c)
	text, err := json.Marshal(s)
	if err != nil {
		return chat.Response{}, media.Errorf(media.CodeInternal, "write the offline model's step: %w", err)
	}
	u, free := chat.Usage{InputTokens: m.Profile().EstimateTokens(r), OutputTokens: int64(len(text)) / 4}, "0"
	return chat.Response{
		Text: string(text), Warnings: s.warnings, Usage: u, FinishReason: "stop", Model: "offline", CostUSD: &free,
	}, nil
}

// decide chooses the rules by what the agent can call, so that custom agents also get sensible ones.
func decide(c *conversation) step {
	switch {
	case len(c.agents) > 0 && !c.writesItself():
		s := coordinate(c)
		if s.Done && len(c.seen) > 0 {
			s.Message = strings.TrimSpace(s.Message + " The pictures that came with the task: " + c.describe())
		}
		return s
	case c.canCall("Read File"), c.canCall("Query Tables"):
		return research(c.withQuestionOnly())
	case c.canCall("Query Database"):
		return querying(c.withQuestionOnly())
	case c.canCall("Search Knowledge Base"):
		return searching(c.withQuestionOnly())
	case c.canCall("Web Search"):
		return browsing(c.withQuestionOnly())
	case c.canCall(infographicAction):
		return infographic(c)
	case c.canCall("Create SVG Chart"):
		return write(c)
	}
	if s, asks := consult(c); asks {
		return s
	}
	if asksAboutShownPictures(c) {
		return finish("The question is about pictures that I am shown.", c.describe()+" "+wordsFor(c.task).Say("I am Atelier's offline model and go by pixels alone: size, colours, brightness and likeness. What a picture shows I cannot tell; a language model with vision can.", "Ich bin Ateliers Offline-Modell und sehe nur Pixel: Größe, Farben, Helligkeit und Ähnlichkeit. Was ein Bild zeigt, kann ein Sprachmodell sagen, das Bilder sieht."))
	}
	return converse(c)
}

// withQuestionOnly returns the conversation of a researcher, whose task is the question alone.
func (c *conversation) withQuestionOnly() *conversation {
	c.task = questionOf(c.task)
	return c
}

// Package offline is the chat model that needs no provider: deterministic rules
// instead of a language model. It reads the same prompts as every other model,
// plans the steps of the shipped agents, extracts and ranks sentences of prose,
// computes totals, shares, trends and extremes of tables, chooses charts that fit,
// and writes the report. It says in every report that it is no language model.
//
// It never fails for want of a network; its only errors are those of a cancelled
// context. It may import chat and media.
package offline

import (
	"context"
	"encoding/json"

	"atelier/chat"
	"atelier/media"
)

// Model is the offline chat model. The zero value is ready and safe for concurrent use.
type Model struct{}

var _ chat.Model = Model{}

// Note is what reports and answers of this model say about themselves.
const Note = "It was written by Atelier's offline model, which follows rules and is no language model: sentences are quoted from the sources, numbers are computed from the tables."

// Profile implements chat.Model.
func (Model) Profile() chat.Profile {
	return chat.Profile{
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
	text, err := json.Marshal(decide(c))
	if err != nil {
		return chat.Response{}, media.Errorf(media.CodeInternal, "write the offline model's step: %w", err)
	}
	u := chat.Usage{InputTokens: int64(len(r.System)) / 4, OutputTokens: int64(len(text)) / 4}
	for _, msg := range r.Messages {
		u.InputTokens += int64(len(msg.Text())) / 4
	}
	return chat.Response{
		Text: string(text), Usage: u, FinishReason: "stop", Model: "offline", CostUSD: m.Profile().Cost(u),
	}, nil
}

// decide chooses the rule book by what the agent can call, so that agents of other
// people's making get a sensible one as well.
func decide(c *conversation) step {
	switch {
	case len(c.agents) > 0 && !c.writesItself():
		return coordinate(c)
	case c.can("Read File"):
		return research(c)
	case c.can("Query Database"):
		return querying(c)
	case c.can("Search Knowledge Base"):
		return searching(c)
	case c.can("Web Search"):
		return browsing(c)
	case c.can(infographicAction):
		return infographic(c)
	case c.can("Create SVG Chart"):
		return write(c)
	default:
		return converse(c)
	}
}

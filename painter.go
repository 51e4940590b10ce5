package atelier

import (
	"context"

	"atelier/generate"
	offlineimage "atelier/generate/offline"
)

// painter tells the offline chat model what the offline painter knows. Where another model would make the
// picture, it objects to nothing.
type painter struct {
	offlineimage.Painter
	gateway *generate.Gateway
	model   string // that a person named; empty for the one that comes first
}

// UnknownWords are the words of a prompt that name what will not be drawn.
func (p painter) UnknownWords(prompt string) []string {
	if !p.paints() {
		return nil
	}
	return p.Painter.UnknownWords(prompt)
}

// UnknownChanges are the words of a change that will not be made.
func (p painter) UnknownChanges(change string) []string {
	if !p.paints() {
		return nil
	}
	return p.Painter.UnknownChanges(change)
}

// paints reports whether pictures are made by the offline painter.
func (p painter) paints() bool {
	r := generate.Request{Prompt: "x"}
	if p.model != "" {
		r.Prefer = []string{p.model}
	}
	plan, err := p.gateway.Plan(context.Background(), r)
	return err == nil && plan.Model.Provider == offlineimage.Provider
}

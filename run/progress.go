package run

import (
	"context"
	"fmt"
	"time"

	"atelier/agent"
	"atelier/generate"
	"atelier/media"
)

// Progress tells how the generations of a run go on; it is the Events function of
// the gateway. Generations outside a run are told to their caller only.
func (o *Observer) Progress(ctx context.Context, e generate.Event) {
	scope := media.ScopeOf(ctx)
	if scope.Run == "" {
		return
	}
	out := agent.Event{
		Type: agent.EventOperationProgress, Tree: scope.Tree, RunID: scope.Run, AgentPath: scope.AgentPath,
		Data: agent.OperationProgress{StepID: scope.Step, Operation: e.Operation, Note: note(e)},
	}
	if e.Kind == generate.EventPartial && e.Partial != nil {
		// A preview is temporary: it has no record and no ref.
		label := fmt.Sprintf("preview %d of image %d", e.Sequence, e.Slot)
		if e.Shows > 1 {
			label = fmt.Sprintf("preview %d of the grid of %d that image %d is the first of", e.Sequence, e.Shows, e.Slot)
		}
		preview := media.NewOutput(*e.Partial, media.Meta{Label: label})
		preview.Ref, preview.Partial = "", true
		preview.Origin = media.Origin{Direction: "output", AgentPath: scope.AgentPath, Operation: e.Operation, Source: e.Model}
		out.Type, out.Data = agent.EventOperationPartial, agent.MediaEvent{Output: preview}
	}
	o.Emit(ctx, out)
}

// note says in one line what happened.
func note(e generate.Event) string {
	switch e.Kind {
	case generate.EventStarted:
		return fmt.Sprintf("%s makes %d", e.Model, e.N)
	case generate.EventRetry:
		return fmt.Sprintf("%s is asked again in %s%s", e.Model, e.Wait.Round(time.Second), why(e))
	case generate.EventWait:
		return fmt.Sprintf("%s waits %s%s", e.Model, e.Wait.Round(time.Second), why(e))
	case generate.EventFallback:
		return fmt.Sprintf("%s is asked instead%s", e.Model, why(e))
	case generate.EventSlot:
		return fmt.Sprintf("%d of %d %s%s", e.Slot, e.N, e.Status, why(e))
	case generate.EventFinished:
		return fmt.Sprintf("%s %s%s", e.Model, e.Status, why(e))
	case generate.EventProgress, generate.EventPartial:
	}
	if e.Progress >= 0 {
		return fmt.Sprintf("%s %.0f %%", e.Model, e.Progress*100)
	}
	return e.Model + " is at work"
}

func why(e generate.Event) string {
	if e.Error == nil {
		return ""
	}
	return ": " + e.Error.Message
}

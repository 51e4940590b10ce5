package record

import (
	"context"
	"fmt"
	"time"

	"atelier/agent"
	"atelier/generate"
	"atelier/media"
)

// Progress reports the progress of a run's generations; it is the gateway's Events function. Generations outside of
// runs are reported only to their caller.
func (o *Observer) Progress(ctx context.Context, e generate.Event) {
	scope := media.ScopeOf(ctx)
	if scope.Run == "" {
		return
	}
	out := agent.Event{
		Type: agent.EventOperationProgress, Tree: scope.Tree, RunID: scope.Run, AgentPath: scope.AgentPath, At: o.now(),
		Data: agent.OperationProgress{StepID: scope.Step, Operation: e.Operation, Note: Note(e)},
	}
	if scope.SubAction != "" {
		progress := agent.OperationProgress{MetadataID: scope.SubAction, Operation: e.Operation, Note: Note(e), ElapsedMS: e.Elapsed.Milliseconds()}
		if e.Kind == generate.EventProgress && e.Progress >= 0 {
			progress.Progress = &e.Progress
		}
		out.Data = progress
	}
	if e.Kind == generate.EventPartial && e.Partial != nil {
		// A preview is temporary: it has no record and no ref.
		label := fmt.Sprintf("preview %d of image %d", e.Sequence, e.Slot)
		if e.Shows > 1 {
			label = fmt.Sprintf("preview %d of a grid of %d that starts with image %d", e.Sequence, e.Shows, e.Slot)
		}
		preview := media.NewOutput(*e.Partial, media.Meta{Label: label})
		preview.Ref, preview.Partial = "", true
		preview.Origin = media.Origin{Direction: "output", AgentPath: scope.AgentPath, Operation: e.Operation, Source: e.Model}
		out.Type, out.Data = agent.EventOperationPartial, agent.MediaEvent{Output: preview, StepID: scope.Step, MetadataID: scope.SubAction}
	}
	o.Emit(ctx, out)
}

// Note describes an event in one line.
func Note(e generate.Event) string {
	switch e.Kind {
	case generate.EventStarted:
		return fmt.Sprintf("%s: requesting %d", e.Model, e.N)
	case generate.EventRetry:
		return fmt.Sprintf("%s: retrying in %s%s", e.Model, e.Wait.Round(time.Second), why(e))
	case generate.EventWait:
		return fmt.Sprintf("%s: waiting %s%s", e.Model, e.Wait.Round(time.Second), why(e))
	case generate.EventFallback:
		return fmt.Sprintf("falling back to %s%s", e.Model, why(e))
	case generate.EventSlot:
		return fmt.Sprintf("%d of %d %s%s", e.Slot, e.N, e.Status, why(e))
	case generate.EventFinished:
		return fmt.Sprintf("%s %s%s", e.Model, e.Status, why(e))
	case generate.EventProgress, generate.EventPartial:
	}
	if e.Progress >= 0 {
		return fmt.Sprintf("%s %.0f %%", e.Model, e.Progress*100)
	}
	return e.Model + ": in progress"
}

func why(e generate.Event) string {
	if e.Error == nil {
		return ""
	}
	return ": " + e.Error.Message
}

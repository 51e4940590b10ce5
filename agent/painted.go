package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/chat"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// painted is the step of an answer that is pictures and perhaps a sentence.
func painted(resp chat.Response) *Step {
	s := &Step{Reasoning: "The answer is a picture.", Message: strings.TrimSpace(resp.Text), Done: true}
	for _, o := range resp.Media {
		s.Promote = append(s.Promote, Promotion{Ref: string(o.Ref)})
		if !slices.Contains(media.Refs(s.Message), o.Ref) {
			s.Message = strings.TrimSpace(s.Message + " " + o.Ref.Placeholder())
		}
	}
	return s
}

// keepsake is a picture that a chat model made, as the journal remembers it.
type keepsake struct {
	Output  media.Output `json:"output"`
	Warning string       `json:"warning,omitempty"`
}

// keep records the pictures that a chat model made itself (law 2) and gives those that
// the run can use. It is a durable step: a replay records nothing again. call is the name
// of the call that made them.
func (r *run) keep(ctx context.Context, call step.Name, p chat.Profile, items []media.Output) (kept []media.Output, err error) {
	if len(items) == 0 {
		return nil, nil
	}
	record := func(ctx context.Context) ([]byte, error) {
		var list []keepsake
		for i, o := range items {
			list = append(list, r.keepOne(ctx, p, i+1, o))
		}
		return json.Marshal(list)
	}
	b, err := r.journal.Step(ctx, call.With(step.TailMedia).String(), record)
	if err != nil && !journal.Left(ctx) {
		b, err = record(ctx) // a run that is cancelled keeps what was made too
	}
	if err != nil {
		return nil, err
	}
	var list []keepsake
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, media.Errorf(media.CodeInternal, "read journalled pictures: %w", err)
	}
	for _, k := range list {
		r.warn(ctx, k.Warning)
		added, err := r.set.Add(k.Output)
		if err != nil {
			r.warn(ctx, fmt.Sprintf("%s cannot be used: %s", k.Output, err))
			continue
		}
		r.stored(ctx, []media.Output{added})
		kept = append(kept, added)
	}
	return kept, nil
}

// keepOne records the picture with that number.
func (r *run) keepOne(ctx context.Context, p chat.Profile, number int, o media.Output) keepsake {
	o.Origin = media.Origin{Direction: "output", Source: p.ID, AgentPath: r.path, Operation: o.Origin.Operation}
	if o.Label == "" && o.Modality == media.ModalityImage {
		o.Label = fmt.Sprintf("Picture %d by %s", number, p.Name)
	}
	if o.Metadata["digital_source_type"] == nil && !p.Offline {
		o.Metadata = maps.Clone(o.Metadata)
		if o.Metadata == nil {
			o.Metadata = map[string]any{}
		}
		o.Metadata["digital_source_type"], o.Metadata["model"] = "trainedAlgorithmicMedia", p.Name
	}
	if r.r.cfg.Recorder == nil {
		return keepsake{Output: o}
	}
	recorded, err := r.r.cfg.Recorder.Record(context.WithoutCancel(ctx), o)
	if err != nil {
		return keepsake{Output: o, Warning: fmt.Sprintf("%s is kept, but its record was not saved: %s", o, err)}
	}
	return keepsake{Output: recorded}
}

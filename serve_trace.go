package atelier

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"atelier/agent"
	"atelier/api"
	"atelier/ledger"
	"atelier/media"
)

// servedTrace implements the resource of traces.
type servedTrace struct{ servedRuns }

// ListSteps lists the finished steps of a run tree.
func (s servedTrace) ListSteps(ctx context.Context, id string) ([]api.Step, error) {
	if _, err := s.row(ctx, id); err != nil {
		return nil, err
	}
	steps, err := s.service.Steps(ctx, s.owner(ctx), id)
	var out []api.Step
	for _, st := range steps {
		out = append(out, api.Step{Name: st.Name, FinishedAt: st.FinishedAt.UTC()})
	}
	return out, err
}

// ListModelCalls lists the chat model calls of a run.
func (s servedTrace) ListModelCalls(ctx context.Context, q api.TraceQuery) (api.List[api.ModelCall], error) {
	if _, err := s.row(ctx, q.ID); err != nil {
		return api.List[api.ModelCall]{}, err
	}
	list, err := s.Ledger.ListPrompts(ctx, s.owner(ctx), q.ID, pageOf(q.Page))
	return views(list, func(p ledger.Prompt) api.ModelCall {
		return api.ModelCall{
			ID: p.ID, Turn: p.Turn, Model: p.Model, Provider: p.Provider, Status: string(p.Status), Messages: p.Messages, Answer: p.Answer,
			InputTokens: p.InputTokens, OutputTokens: p.OutputTokens, CostUSD: p.CostUSD, Error: failureView(p.Failure), StartedAt: p.StartedAt.UTC(), FinishedAt: timeOrNil(p.FinishedAt),
		}
	}), err
}

// ListActs lists the actions and sub-agents of a run.
func (s servedTrace) ListActs(ctx context.Context, q api.TraceQuery) (api.List[api.Act], error) {
	if _, err := s.row(ctx, q.ID); err != nil {
		return api.List[api.Act]{}, err
	}
	list, err := s.Ledger.ListSteps(ctx, s.owner(ctx), q.ID, pageOf(q.Page))
	return views(list, func(st ledger.Step) api.Act {
		return api.Act{
			ID: st.ID, Turn: st.Turn, Position: st.Position, Kind: st.Kind, Name: st.Name, Status: string(st.Status), Code: st.Code, Message: st.Message,
			Params: st.Params, Outputs: st.Outputs, ChildRunID: st.ChildRunID, StartedAt: st.StartedAt.UTC(), FinishedAt: timeOrNil(st.FinishedAt),
		}
	}), err
}

// Sight returns the pictures that the model of a run was shown.
func (s servedTrace) Sight(ctx context.Context, id string) (api.Sight, error) {
	row, err := s.row(ctx, id)
	if err != nil {
		return api.Sight{}, err
	}
	v := api.Sight{Agent: cmp.Or(row.AgentPath, row.Agent), Given: seen(row.InputImages), Shown: seen(row.VisionContext), Settings: settingViews(row.Dispositions)}
	var allowed agent.Limits
	if len(row.Limits) > 0 {
		if err := json.Unmarshal(row.Limits, &allowed); err != nil {
			return v, media.Errorf(media.CodeCorrupt, "read the permissions of run %s: %w", row.ID, err)
		}
	}
	v.LenientImages = allowed.LenientImages
	if p := allowed.Vision; p != nil {
		v.Vision = &api.VisionContext{MaxImages: p.MaxImages, MaxTotalBytes: p.MaxTotalBytes, TurnsToLive: p.TurnsToLive, AllowedSources: append([]string{}, p.AllowedSources...)}
	}
	return v, nil
}

func seen(all []ledger.InputImage) []api.SeenImage {
	out := []api.SeenImage{}
	for _, i := range all {
		out = append(out, api.SeenImage{Ref: string(i.Ref), MIMEType: i.MIMEType, FileName: i.FileName, Detail: i.Detail})
	}
	return out
}

// timeOrNil returns an end time; nil if it is zero.
func timeOrNil(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

package atelier

import (
	"context"
	"encoding/json"
	"iter"

	"atelier/api"
	"atelier/run/subactions"
)

// servedSubActions implements the resource of sub-actions.
type servedSubActions struct{ *Atelier }

// StartSubAction starts a sub-action.
func (s servedSubActions) StartSubAction(ctx context.Context, run, key string, body json.RawMessage) (string, error) {
	id, err := s.subActions.Start(ctx, subactions.Click{Owner: s.owner(ctx), WorkflowRunID: run, Key: key, Body: body})
	return id, validationErrorAt("", err)
}

// PriceSubAction returns the cost of a sub-action.
func (s servedSubActions) PriceSubAction(ctx context.Context, interaction string, body json.RawMessage) (api.SubActionPrice, error) {
	usd, err := s.subActions.Price(ctx, s.owner(ctx), interaction, body)
	return api.SubActionPrice{EstimatedUSD: usd}, validationErrorAt("", err)
}

// SubAction returns a sub-action.
func (s servedSubActions) SubAction(ctx context.Context, id string) (api.SubAction, error) {
	st, err := s.subActions.Status(ctx, s.owner(ctx), id)
	return subActionView(st), err
}

// ListSubActions lists the sub-actions of a run.
func (s servedSubActions) ListSubActions(ctx context.Context, run string, p api.Page) (api.List[api.SubAction], error) {
	if _, err := s.workflows.Status(ctx, s.owner(ctx), run); err != nil {
		return api.List[api.SubAction]{}, err
	}
	list, err := s.subActions.List(ctx, s.owner(ctx), run, pageOf(p))
	return views(list, subActionView), err
}

// CancelSubAction cancels a sub-action.
func (s servedSubActions) CancelSubAction(ctx context.Context, id string) (api.SubAction, error) {
	if err := s.subActions.Cancel(ctx, s.owner(ctx), id); err != nil {
		return api.SubAction{}, err
	}
	return s.SubAction(ctx, id)
}

// RetrySubAction retries failed results.
func (s servedSubActions) RetrySubAction(ctx context.Context, id string, r api.SubActionRetry) (api.SubAction, error) {
	if err := s.subActions.Retry(ctx, s.owner(ctx), id, r.Positions); err != nil {
		return api.SubAction{}, err
	}
	return s.SubAction(ctx, id)
}

// FollowSubAction returns the events of a sub-action.
func (s servedSubActions) FollowSubAction(ctx context.Context, id string, after int) iter.Seq2[api.SubActionEvent, error] {
	return func(yield func(api.SubActionEvent, error) bool) {
		for e, err := range s.subActions.Follow(ctx, s.owner(ctx), id, after) {
			v := api.SubActionEvent{ID: e.ID, Type: string(e.Type)}
			if err == nil {
				v.Data, err = json.Marshal(e.Data)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

func subActionView(st subactions.Status) api.SubAction {
	g := st.ContentGeneration
	v := api.SubAction{
		ID: g.ID, WorkflowRunID: g.WorkflowRunID, InteractionID: g.InteractionID, StepID: g.StepID, SubActionID: g.SubActionID, ActionType: g.ActionType,
		Provider: g.Provider, Model: g.Model, OperationID: g.OperationID, PromptID: g.PromptID, SourceData: g.SourceData, PromptAsSent: g.PromptAsSent,
		Params: g.Params, Settings: g.Dispositions, StandIn: g.StandIn, Status: g.Status, Error: failureView(g.Failure),
		Errors: []api.SubActionError{}, Contents: []api.GeneratedContent{}, ElapsedMS: g.ElapsedMS, CostUSD: g.CostUSD, CreatedAt: g.CreatedAt.UTC(), FinishedAt: timeOrNil(g.FinishedAt),
	}
	for _, e := range st.Errors {
		v.Errors = append(v.Errors, api.SubActionError(e))
	}
	for _, c := range st.Contents {
		v.Contents = append(v.Contents, api.GeneratedContent{
			ID: c.ID, Position: c.Position, MediaID: c.MediaID, URL: "/media/" + c.MediaID, Modality: string(c.Modality),
			Seed: c.Seed, RevisedPrompt: c.RevisedPrompt, SelectedAt: timeOrNil(c.SelectedAt),
		})
	}
	return v
}

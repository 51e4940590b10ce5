package run

import (
	"context"
	"slices"

	"atelier/agent"
	"atelier/media"
)

// recalled grants a request the items of its conversation that its images name by ref.
// What the conversation does not have stays unknown, and the runner says so.
func (s *Service) recalled(ctx context.Context, req agent.Request) (agent.Request, error) {
	unknown := func(i agent.Image) bool {
		return i.Ref != "" && !slices.ContainsFunc(req.Granted, func(o media.Output) bool { return o.Ref == i.Ref })
	}
	if req.Conversation == "" || req.Conversation == NewConversation || !slices.ContainsFunc(req.Images, unknown) {
		return req, nil
	}
	t := &thread{ID: req.Conversation}
	if err := s.recall(ctx, req.Owner, t); err != nil {
		return req, err
	}
	granted := slices.Clone(req.Granted)
	for _, o := range t.Inherited {
		if slices.ContainsFunc(req.Images, func(i agent.Image) bool { return i.Ref == o.Ref && unknown(i) }) {
			granted = append(granted, o)
		}
	}
	req.Granted = granted
	return req, nil
}

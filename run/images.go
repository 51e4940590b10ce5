package run

import (
	"context"
	"errors"
	"slices"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
)

// elsewhere adds to the error about a ref that a run does not know the media id of the
// item that its owner has under it elsewhere, which can be given instead.
func (s *Service) elsewhere(ctx context.Context, owner string, err error) error {
	wrong, ok := errors.AsType[*agent.ImageError](err)
	if !ok || wrong.Ref == "" || media.CodeOf(err) != media.CodeUnknownRef {
		return err
	}
	list, unread := s.cfg.Ledger.ListMedia(ctx, owner, ledger.MediaQuery{Ref: wrong.Ref, Page: ledger.Page{Limit: 1}})
	if unread != nil || len(list.Items) == 0 {
		return err
	}
	e := media.Errorf(media.CodeUnknownRef, "%w; its media id is %s", err, list.Items[0].ID)
	e.Valid = []string{list.Items[0].ID}
	return e
}

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

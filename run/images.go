package run

import (
	"context"
	"errors"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
)

// elsewhere adds to the error of an unknown ref the media id of the owner's item that has the ref
// in another run.
func elsewhere(ctx context.Context, l ledger.Store, owner string, err error) error {
	wrong, ok := errors.AsType[*agent.ImageError](err)
	if !ok || wrong.Ref == "" || media.CodeOf(err) != media.CodeUnknownRef {
		return err
	}
	list, unread := l.ListMedia(ctx, owner, ledger.MediaQuery{Ref: wrong.Ref, Page: ledger.Page{Limit: 1}})
	if unread != nil || len(list.Items) == 0 {
		return err
	}
	e := media.Errorf(media.CodeUnknownRef, "%w; its media id is %s", err, list.Items[0].ID)
	e.Valid = []string{list.Items[0].ID}
	return e
}

package agent

import (
	"context"
	"fmt"
	"slices"

	"atelier/media"
)

// inUse says why an item has to stay in sight: the answer so far embeds it.
func (r *run) inUse(ref media.Ref) string {
	used := false
	look := func(s string) { used = used || slices.Contains(media.Refs(s), ref) }
	look(r.message)
	eachString(r.payload, look)
	if used {
		return "it is embedded in the answer"
	}
	return ""
}

// labeller is a recorder that can change the label of a record; the ledger is one.
type labeller interface {
	LabelMedia(ctx context.Context, owner, id, label, description string) error
}

// decide makes the changes of an act: again in the set, where a journal replayed it,
// then in the records and for those who watch.
func (r *run) decide(ctx context.Context, changes []media.Change) {
	for _, c := range changes {
		o, ok := r.set.Apply(c)
		if !ok {
			continue
		}
		switch c.Kind {
		case media.ChangePrune:
			r.emit(ctx, EventMediaPruned, MediaEvent{Output: o})
		case media.ChangeLabel, media.ChangePromote:
			l, can := r.r.cfg.Recorder.(labeller)
			if !can || o.ID == "" || c.Label == "" && c.Description == "" {
				continue
			}
			if err := l.LabelMedia(context.WithoutCancel(ctx), r.owner, o.ID, c.Label, c.Description); err != nil {
				r.warn(ctx, fmt.Sprintf("the new label of %s was not saved: %s", o.Ref, err))
			}
		case media.ChangeView:
		}
	}
}

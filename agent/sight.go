package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"atelier/media"
)

// The budget of pictures that a model looks at in one turn, where its profile names
// none that is smaller.
const (
	maxViews     = 4
	maxViewBytes = 8 << 20
)

// canSee is nil if the run's model can be shown the pixels of an item.
func (r *run) canSee(o media.Output) error {
	if r.model == nil {
		return media.Errorf(media.CodeUnsupported, "this agent has no chat model that could look at pictures")
	}
	p := r.model.Profile()
	types := p.MediaTypes
	if len(types) == 0 {
		types = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
	}
	most := int64(maxViewBytes)
	if p.MaxImageBytes > 0 {
		most = min(most, p.MaxImageBytes)
	}
	switch {
	case !p.SupportsVision:
		return media.Errorf(media.CodeUnsupported, "%s cannot see pictures: go by label, description and details", p.Name)
	case !slices.Contains(types, o.MIMEType):
		return media.Errorf(media.CodeUnsupported, "%s sees %s, not %s", p.Name, joined(types), o.MIMEType)
	case o.SizeBytes > most:
		return media.Errorf(media.CodeTooLarge, "%s has %d bytes and %s sees at most %d at a time", o.Ref, o.SizeBytes, p.Name, most)
	}
	return nil
}

// look gathers the pictures that acts of a step want to be seen, within the budget.
func (r *run) look(ctx context.Context, changes []media.Change) []media.Output {
	var views []media.Output
	var bytes int64
	most := maxViews
	if r.model != nil {
		most = min(most, cmp.Or(r.model.Profile().MaxImages, maxViews))
	}
	for _, c := range changes {
		o, ok := r.set.Lookup(c.Ref)
		seen := slices.ContainsFunc(views, func(v media.Output) bool { return v.Ref == c.Ref })
		if c.Kind != media.ChangeView || !ok || seen {
			continue
		}
		if len(views) == most || bytes+o.SizeBytes > maxViewBytes {
			r.warn(ctx, fmt.Sprintf("%s is not shown: a turn has room for %d pictures and %d bytes", o.Ref, most, maxViewBytes))
			continue
		}
		views, bytes = append(views, o), bytes+o.SizeBytes
	}
	return views
}

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

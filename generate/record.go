package generate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/imaging"
	"atelier/media"
)

// partial passes a preview frame on and remembers the last one. A frame for a result
// beyond those of the call is shown to nobody.
func (x *execution) partial(ctx context.Context, c call, slot int, b media.Blob) {
	if slot < 1 || slot > c.n() {
		return
	}
	index := c.slots[slot-1]
	x.mu.Lock()
	p := preview{count: x.previews[index].count + 1, last: b, call: c}
	shows := max(c.plan.gives, 1)
	x.previews[index] = p
	x.frames[index] = append(x.frames[index], b.Digest)
	x.mu.Unlock()
	x.emit(ctx, Event{Kind: EventPartial, Slot: index, Sequence: p.count, Partial: &b, Shows: shows, Progress: -1, Status: StatusRunning})
}

// keepPreview records the last preview of a slot that ended without its picture.
func (x *execution) keepPreview(ctx context.Context, s Slot) Slot {
	x.mu.Lock()
	p, ok := x.previews[s.Index]
	x.mu.Unlock()
	if !ok || s.Error == nil || !x.stored(ctx, p.last) {
		return s
	}
	d := delivery{x: x, call: p.call}
	o := d.describe(ctx, p.last, s.Index, nil)
	o.Partial = true
	if p.call.plan.gives > 1 {
		o.Label += " (grid)"
	}
	o.Label += " (preview)"
	o = x.record(ctx, o)
	failed := *s.Error
	failed.Message += "; the last preview was kept as " + string(o.Ref)
	s.Error = &failed
	return s
}

// stored reports whether a preview can still be read: an operation with the same one drops it at its
// own end.
func (x *execution) stored(ctx context.Context, b media.Blob) bool {
	if x.g.config.Storage == nil {
		return true // the driver's own
	}
	in, err := x.g.config.Storage.Open(ctx, b.Digest)
	if err != nil {
		return media.CodeOf(err) != media.CodeNotFound
	}
	_ = in.Close() // only looked for
	return true
}

// dropFrames deletes the previews of a slot that is final, but for the one that was kept in the
// place of its picture. What cannot be deleted now is collected later.
func (x *execution) dropFrames(ctx context.Context, s Slot) {
	storage, ok := x.g.config.Storage.(Dropper)
	if !ok || s.Output == nil && s.Error == nil {
		return
	}
	x.mu.Lock()
	frames := x.frames[s.Index]
	delete(x.frames, s.Index)
	x.mu.Unlock()
	stays := media.Digest{}
	if s.Output != nil {
		stays = s.Output.Digest
	} else if n := len(frames); n > 0 {
		stays = frames[n-1]
	}
	scope := media.ScopeOf(ctx)
	scope.Operation = x.op.ID
	ctx = media.WithScope(context.WithoutCancel(ctx), scope)
	for _, d := range frames {
		if d != stays {
			_ = storage.Drop(ctx, d)
		}
	}
}

// record stores the record of an output before anybody sees it (law 2), unless it has one.
// A record that cannot be saved warns; the picture stays.
func (x *execution) record(ctx context.Context, o media.Output) media.Output {
	if x.g.config.Recorder == nil || o.ID != "" {
		return o
	}
	recorded, err := x.g.config.Recorder.Record(ctx, o)
	lost := fmt.Sprintf("the record of %s could not be saved: ", o.Ref)
	x.mu.Lock()
	if x.bare == nil {
		x.bare = map[media.Digest]bool{}
	}
	if x.bare[o.Digest] = err != nil; err == nil { // a try before may have failed
		x.warnings = slices.DeleteFunc(slices.Clone(x.warnings), func(w string) bool { return strings.HasPrefix(w, lost) })
	}
	x.mu.Unlock()
	if err != nil {
		x.warn(lost + asError(err).Message)
		return o
	}
	return recorded
}

// unsaved tries once more to save results, their records and ended calls that could not be
// saved, and reports whether one is left.
func (x *execution) unsaved(ctx context.Context) (left bool) {
	for i, s := range slices.Clone(x.slots) {
		switch bare, unkept := x.owed(s); {
		case s.Output != nil && (bare || unkept):
			s = x.saveSlot(ctx, s)
			x.mu.Lock()
			x.slots[i] = s
			x.mu.Unlock()
		case unkept: // its last preview was kept when it ended
			x.journalSlot(ctx, s)
		}
		bare, unkept := x.owed(s)
		left = left || bare || unkept
	}
	for _, a := range x.owing() {
		x.logAttempt(ctx, a)
	}
	return left || len(x.owing()) > 0
}

// owed tells what of a slot could not be saved: the record of its output, or the slot itself.
func (x *execution) owed(s Slot) (record, slot bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return s.Output != nil && x.bare[s.Output.Digest], x.unkept[s.Index]
}

// owing are the ended calls that could not be saved.
func (x *execution) owing() []Attempt {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Values(x.unlogged))
}

// describe makes the output of stored media.
func (d *delivery) describe(ctx context.Context, b media.Blob, index int, said map[string]any) media.Output {
	x, plan := d.x, d.call.plan
	label := plan.req.Label
	switch {
	case label == "":
		label = fmt.Sprintf("Generated %s %d", x.op.Modality, index)
	case x.op.N > 1:
		label = fmt.Sprintf("%s %d", label, index)
	}
	meta := map[string]any{
		"model": plan.Model.Name, "api_model": plan.Model.APIModel, "provider": plan.Model.Provider, "digital_source_type": term(plan.sourceType()),
	}
	maps.Copy(meta, said)
	note, _ := said["note"].(string) // what a driver says of how its results are made
	o := media.NewOutput(b, media.Meta{Label: label, Description: note, Metadata: meta})
	for _, in := range plan.req.Inputs {
		role := "input"
		if x.op.Method == MethodVariation {
			role = "variation"
		}
		o.Lineage = append(o.Lineage, media.Parent{Ref: in.Ref, Role: role})
	}
	if m := plan.req.Mask; m != nil {
		o.Lineage = append(o.Lineage, media.Parent{Ref: m.Ref, Role: "mask"})
	}
	o.Origin = media.Origin{Direction: "output", Source: plan.Model.Name, AgentPath: media.ScopeOf(ctx).AgentPath, Operation: x.op.ID}
	o.CreatedAt = x.g.config.Now().UTC()
	return o
}

// sourceType says how the pixels came to be. A rule that edits what a model made leaves
// a picture with parts that a model made.
func (p *Plan) sourceType() string {
	edited := p.req.Method == MethodEdit
	if p.Model.Provider != offlineProvider {
		if edited {
			return imaging.SourceEdited
		}
		return imaging.SourceGenerated
	}
	for _, in := range p.req.Inputs {
		if t, _ := in.Metadata["digital_source_type"].(string); t == term(imaging.SourceGenerated) || t == term(imaging.SourceEdited) {
			return imaging.SourceEdited
		}
	}
	return imaging.SourceAlgorithmic
}

// term is an IPTC digital source type without its scheme.
func term(uri string) string { return uri[strings.LastIndexByte(uri, '/')+1:] }

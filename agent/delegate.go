package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier/agent/contract"
	"atelier/agent/definition"
	"atelier/agent/internal/meter"
	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/agent/transcript"
	"atelier/agent/vision"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// delegate runs a sub-agent. The child is nil if it could not be started.
func (r *run) delegate(ctx context.Context, call contract.AgentCall, at callIndex) (transcript.Agent, *run, definition.AgentUse) {
	rec := r.begin(StepAgent, call.Name, at)
	rec.Params = plain.JSON(call)
	child, use, granted, err := r.prepare(ctx, call, at)
	if err != nil {
		p := transcript.Problem(err)
		rec.Status, rec.Code, rec.Message = statusOf(ctx, err), string(p.Code), p.Message
		r.end(ctx, rec)
		return transcript.Agent{Name: plain.Clip(call.Name, 80), Message: p.Message, Error: &p}, nil, use
	}
	out, _, ok := r.runChild(ctx, rec, child, granted)
	if !ok {
		child = nil
	}
	return out, child, use
}

// runChild runs a sub-agent until it ends or waits; ok is false if the run is handed over to another process.
func (r *run) runChild(ctx context.Context, rec StepRecord, child *run, granted []media.Output) (out transcript.Agent, res *Result, ok bool) {
	rec.Name, rec.ChildRunID = child.spec.slug, child.id
	r.saveStep(ctx, rec)
	r.emit(ctx, EventAgentStarted, AgentStarted{StepID: rec.ID, Agent: child.spec.slug, Name: child.spec.name, ChildRunID: child.id, Task: plain.Clip(child.task, 500)})
	res, err := child.do(ctx, granted)
	if journal.HandedOver(ctx) {
		return transcript.Agent{Name: child.spec.name}, res, false
	}
	if res.Status == StatusPaused {
		rec.StartedAt = r.wait.span(string(child.journal.Place())).StartedAt
		r.pauses.hold(ctx, rec, child)
		return transcript.Agent{Name: child.spec.name, Waits: true}, res, true
	}
	return r.recordDelegation(ctx, rec, child, res, err), res, true
}

// recordDelegation records the end of a sub-agent.
func (r *run) recordDelegation(ctx context.Context, rec StepRecord, child *run, res *Result, err error) transcript.Agent {
	made := slices.DeleteFunc(slices.Clone(res.Outputs), func(o media.Output) bool { return o.Origin.Direction == "input" })
	made = append(made, res.AlsoMade...)
	span := r.wait.span(string(child.journal.Place()))
	rec.StartedAt, rec.FinishedAt = span.StartedAt, span.EndedAt
	childCtx := media.WithScope(ctx, child.scope())
	payload, _ := object.MapKeyed("", child.draft.Payload, func(key, s string) any { return child.parentView(childCtx, key, s) }).(map[string]any)
	out := transcript.Agent{
		Name: child.spec.name, Slug: child.spec.slug, Success: err == nil, Message: res.Message,
		Payload: payload, Media: transcript.BoundedList(transcript.ViewsOf(made)), Error: res.Error,
	}
	if err != nil {
		out.Message = strings.TrimSpace(res.Error.Message + " " + res.Message)
	}
	rec.Status, rec.Message, rec.Media = res.Status, out.Message, made
	if res.Error != nil {
		rec.Code = string(res.Error.Code)
	}
	r.end(ctx, rec)
	r.emit(ctx, EventAgentFinished, AgentFinished{
		StepID: rec.ID, Agent: child.spec.slug, ChildRunID: child.id, Status: res.Status, Message: out.Message, Refs: refsOf(made),
	})
	return out
}

// prepare checks a call and creates the child's run with its grants: the items named in the call,
// those in the task, and those in the payload keys passed to the child.
func (r *run) prepare(ctx context.Context, call contract.AgentCall, at callIndex) (*run, definition.AgentUse, []media.Output, error) {
	if err := checkNotEnded(ctx); err != nil {
		return nil, definition.AgentUse{}, nil, err
	}
	sp, use, err := r.r.callee(r.spec.def, call.Name)
	if err != nil {
		return nil, use, nil, err
	}
	input := map[string]any{}
	for _, key := range use.Input {
		if v, ok := r.draft.Payload[key]; ok {
			input[key] = v
		}
	}
	granted, err := grants(r.set, call, input)
	if err != nil {
		return nil, use, nil, err
	}
	child, err := r.child(ctx, sp, at, granted)
	if err != nil {
		return nil, use, nil, err
	}
	child.task, child.input = call.Task, input
	return child, use, granted, nil
}

// child creates the run of a sub-agent.
func (r *run) child(ctx context.Context, sp spec, at callIndex, granted []media.Output) (*run, error) {
	j, err := r.journal.Part(ctx, step.Name{Kind: step.KindAgent, Turn: at.turn, Index: at.index, Label: sp.slug})
	if err != nil {
		return nil, fmt.Errorf("start agent %s: %w", sp.slug, err)
	}
	child := &run{core: &core{
		runLog: r.newLog(identity{
			id: r.newID("run", at), parent: r.id, tree: r.tree, owner: r.owner, path: r.path + "/" + sp.slug, depth: r.depth + 1, part: r.part,
		}, &meter.Meter{Parent: r.meter}),
		spec: sp, journal: j, past: past{replays: r.past.replays},
	}}
	seen := vision.Sights{Config: vision.Config{Lenient: true}} // a model chose the grants, so pictures that do not fit are left out
	if sp.def != nil {
		seen.Policy = sp.def.VisionContext.Within(r.sights.Policy)
		if sp.def.SeesGranted {
			seen.Given = grantedImages(granted)
		}
	}
	return child.initialize(seen), nil
}

// callee returns a sub-agent that an agent may call and that is available.
func (r *Runner) callee(d *definition.Agent, name string) (spec, definition.AgentUse, error) {
	var ready []string
	for _, use := range d.Agents {
		sp, err := r.spec(use.Slug)
		if strings.EqualFold(name, use.Slug) || err == nil && strings.EqualFold(name, sp.name) {
			return sp, use, err
		}
		if err == nil {
			ready = append(ready, use.Slug)
		}
	}
	e := media.Errorf(media.CodeNotFound, "unknown agent %q: this agent can ask %s", plain.Clip(name, 80), plain.Joined(ready))
	e.Valid, e.Retryable = ready, true
	return spec{}, definition.AgentUse{}, e
}

// grants returns the items that a call grants: those that it names, and those in its task and input.
func grants(set *media.Set, call contract.AgentCall, input map[string]any) ([]media.Output, error) {
	var granted []media.Output
	var unknown []string
	add := func(o media.Output) {
		if !slices.ContainsFunc(granted, func(g media.Output) bool { return g.Ref == o.Ref }) {
			granted = append(granted, o)
		}
	}
	for _, text := range call.Media {
		if o, err := set.Find(text); err == nil {
			add(o)
		} else {
			unknown = append(unknown, text)
		}
	}
	if unknown = append(unknown, set.UnknownPlaceholders(call.Task)...); len(unknown) > 0 {
		return nil, set.Unknown(unknown...)
	}
	embedded := func(s string) {
		for _, ref := range media.Refs(s) {
			if o, ok := set.Lookup(ref); ok {
				add(o)
			}
		}
	}
	embedded(call.Task)
	object.EachString(input, embedded)
	return granted, nil
}

// absorb adds the results of a finished child: its whole media set, usage, cost, log and warnings.
func (r *run) absorb(ctx context.Context, c *run) {
	if err := r.set.Merge(c.set.All()); err != nil {
		r.warn(ctx, fmt.Sprintf("agent %s: %s", c.spec.slug, err))
	}
	r.outcome.absorb(c.outcome)
}

func refsOf(items []media.Output) []media.Ref {
	var out []media.Ref
	for _, o := range items {
		out = append(out, o.Ref)
	}
	return out
}

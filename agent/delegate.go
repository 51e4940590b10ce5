package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// delegate runs a sub-agent. The child is nil if it could not be started.
func (r *run) delegate(ctx context.Context, call AgentCall, at callIndex) (agentOutcome, *run, AgentUse) {
	rec := r.begin(StepAgent, call.Name, at)
	rec.Params = plain(call)
	child, use, granted, err := r.prepare(ctx, call, at)
	if err != nil {
		p := problemOf(err)
		rec.Status, rec.Code, rec.Message = statusOf(ctx, err), string(p.Code), p.Message
		r.end(ctx, rec)
		return agentOutcome{Name: clip(call.Name, 80), Message: p.Message, Error: &p}, nil, use
	}
	rec.Name, rec.ChildRunID = child.spec.slug, child.id
	r.saveStep(ctx, rec)
	r.emit(ctx, EventAgentStarted, AgentStarted{StepID: rec.ID, Agent: child.spec.slug, Name: child.spec.name, ChildRunID: child.id, Task: clip(call.Task, 500)})
	res, err := child.do(ctx, granted)
	if journal.Left(ctx) {
		return agentOutcome{Name: child.spec.name}, nil, use
	}
	if res.Status == StatusPaused {
		rec.StartedAt = r.wait.span(child.journal.Name("")).StartedAt
		r.hold(ctx, rec, child)
		return agentOutcome{Name: child.spec.name, waits: true}, child, use
	}
	return r.delegated(ctx, rec, child, res, err), child, use
}

// delegated puts the end of a sub-agent on record.
func (r *run) delegated(ctx context.Context, rec StepRecord, child *run, res *Result, err error) agentOutcome {
	made := madeBy(res)
	span := r.wait.span(child.journal.Name(""))
	rec.StartedAt, rec.FinishedAt = span.StartedAt, span.EndedAt
	out := agentOutcome{
		Name: child.spec.name, Slug: child.spec.slug, Success: err == nil, Message: res.Message,
		Payload: child.shown(ctx), Media: boundedList(viewsOf(made)), Error: res.Error,
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

// prepare checks a call and makes the child's run with what it is granted: the refs
// named, those in the task, and those in the payload keys handed down.
func (r *run) prepare(ctx context.Context, call AgentCall, at callIndex) (*run, AgentUse, []media.Output, error) {
	if err := notBegun(ctx); err != nil {
		return nil, AgentUse{}, nil, err
	}
	sp, use, err := r.callee(call.Name)
	if err != nil {
		return nil, use, nil, err
	}
	input := map[string]any{}
	for _, key := range use.Input {
		if v, ok := r.payload[key]; ok {
			input[key] = v
		}
	}
	granted, err := r.grants(call, input)
	if err != nil {
		return nil, use, nil, err
	}
	j, err := r.journal.Part(ctx, step.Name{Kind: step.KindAgent, Turn: at.turn, Index: at.index, Label: sp.slug}.String())
	if err != nil {
		return nil, use, nil, fmt.Errorf("start agent %s: %w", sp.slug, err)
	}
	child := &run{
		r: r.r, spec: sp, id: r.newID("run", at), parent: r.id, tree: r.tree, owner: r.owner, path: r.path + "/" + sp.slug,
		depth: r.depth + 1, task: call.Task, input: input, journal: j, wait: r.wait, part: r.part, request: r.request, prefer: r.prefer, max: r.max,
		meter: &meter{up: r.meter}, replays: r.replays,
		// A model chose what is granted, so what does not fit is left out.
		lenient: true,
	}
	if sp.def != nil {
		child.vision = sp.def.VisionContext.within(r.vision)
		if sp.def.SeesGranted {
			child.images = grantedImages(granted)
		}
	}
	return child, use, granted, nil
}

// callee finds a sub-agent that this agent may ask and that is ready.
func (r *run) callee(name string) (spec, AgentUse, error) {
	var ready []string
	for _, use := range r.spec.def.Agents {
		sp, err := r.r.spec(use.Slug)
		if strings.EqualFold(name, use.Slug) || err == nil && strings.EqualFold(name, sp.name) {
			return sp, use, err
		}
		if err == nil {
			ready = append(ready, use.Slug)
		}
	}
	e := media.Errorf(media.CodeNotFound, "unknown agent %q: this agent can ask %s", clip(name, 80), joined(ready))
	e.Valid, e.Retryable = ready, true
	return spec{}, AgentUse{}, e
}

func (r *run) grants(call AgentCall, input map[string]any) ([]media.Output, error) {
	var granted []media.Output
	var unknown []string
	add := func(o media.Output) {
		if !slices.ContainsFunc(granted, func(g media.Output) bool { return g.Ref == o.Ref }) {
			granted = append(granted, o)
		}
	}
	for _, text := range call.Media {
		o, err := r.set.Find(text)
		if err != nil {
			unknown = append(unknown, text)
			continue
		}
		add(o)
	}
	if unknown = append(unknown, r.set.Strange(call.Task)...); len(unknown) > 0 {
		return nil, r.set.Unknown(unknown...)
	}
	embedded := func(s string) {
		for _, ref := range media.Refs(s) {
			if o, ok := r.set.Lookup(ref); ok {
				add(o)
			}
		}
	}
	embedded(call.Task)
	eachString(input, embedded)
	return granted, nil
}

// absorb rolls a finished child up: its whole media set, usage, cost, log, warnings.
func (r *run) absorb(ctx context.Context, c *run) {
	if err := r.set.Merge(c.set.All()); err != nil {
		r.warn(ctx, fmt.Sprintf("agent %s: %s", c.spec.slug, err))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for ref := range c.seen {
		r.seen[ref] = true
	}
	r.usage.add(c.usage)
	r.cost.add(c.cost)
	r.drawn.add(c.drawn)
	r.unstored = cmp.Or(r.unstored, c.unstored)
	r.steps = append(r.steps, c.steps...)
	for _, d := range c.dispositions {
		if !slices.Contains(r.dispositions, d) {
			r.dispositions = append(r.dispositions, d)
		}
	}
	r.told = append(r.told, c.told...)
	for _, m := range c.models {
		if !slices.Contains(r.models, m) {
			r.models = append(r.models, m)
		}
	}
	for _, w := range c.warnings {
		if !slices.Contains(r.warnings, w) {
			r.warnings = append(r.warnings, w)
		}
	}
}

// madeBy lists what a sub-agent made, promoted items first.
func madeBy(res *Result) []media.Output {
	var out []media.Output
	for _, o := range res.Outputs {
		if o.Origin.Direction != "input" {
			out = append(out, o)
		}
	}
	return append(out, res.AlsoMade...)
}

func refsOf(items []media.Output) []media.Ref {
	var out []media.Ref
	for _, o := range items {
		out = append(out, o.Ref)
	}
	return out
}

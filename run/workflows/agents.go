package workflows

import (
	"cmp"
	"context"
	"strings"

	"atelier/agent"
	"atelier/agent/contract"
	"atelier/ledger"
	"atelier/media"
	"atelier/workflow/module"
	"atelier/workflow/ordered"
)

// Agents runs agents as parts of a workflow's run: their acts, media and costs belong to the run.
type Agents struct{ Ledger ledger.Store }

var _ module.Agents = Agents{}

// Ask runs an agent. An agent that waits for a person pauses the workflow's run.
func (a Agents) Ask(ctx context.Context, t module.Task) (module.Reply, error) {
	stage, ok := ctx.Value(stageKey{}).(*agent.Stage)
	if !ok {
		return module.Reply{}, media.Errorf(media.CodeInternal, "an agent was requested outside of a workflow run")
	}
	call := contract.AgentCall{Name: t.Agent, Task: t.Message}
	granted := make([]media.Output, 0, len(t.Media))
	for _, id := range t.Media {
		o, err := Item(ctx, a.Ledger, t.Owner, t.RunID, id)
		if err == nil {
			o.Origin.Direction, o.Promoted = "input", false
			o, err = a.Ledger.Record(media.WithScope(ctx, media.Scope{Owner: t.Owner, Tree: t.RunID, Run: t.RunID}), o)
		}
		if err != nil {
			return module.Reply{}, err
		}
		granted = append(granted, o)
		call.Media = append(call.Media, string(o.Ref))
	}
	res, err := stage.Agent(ctx, call, granted)
	if err != nil {
		return module.Reply{}, err
	}
	reply := module.Reply{Message: res.Message}
	if len(res.Payload) > 0 && string(res.Payload) != "null" {
		if reply.Payload, err = ordered.DecodeObject(res.Payload); err != nil {
			return reply, err
		}
	}
	for _, o := range res.Outputs {
		reply.Media = append(reply.Media, cmp.Or(o.ID, string(o.Ref)))
	}
	return reply, nil
}

// Item finds the item that a step names: a media record by id, a sub-action's result by content id, or an item of the
// run's tree by ref or placeholder. The path of a media URL may precede the id or ref.
func Item(ctx context.Context, l ledger.Store, owner, tree, id string) (media.Output, error) {
	id = strings.TrimPrefix(id, "/media/")
	if strings.HasPrefix(id, "gc_") {
		c, err := l.GeneratedContent(ctx, owner, id)
		if err != nil {
			return media.Output{}, err
		}
		id = c.MediaID
	}
	if ref, err := media.ParseRef(id); err == nil {
		list, err := l.ListMedia(ctx, owner, ledger.MediaQuery{Tree: tree, Ref: ref, Page: ledger.Page{Limit: 1}})
		if err != nil {
			return media.Output{}, err
		}
		if len(list.Items) > 0 {
			return list.Items[0].Output, nil
		}
	}
	rec, err := l.MediaRecord(ctx, owner, id)
	if media.CodeOf(err) == media.CodeNotFound {
		err = media.Errorf(media.CodeNotFound, "there is no media item %.80q", media.ErrorText(id))
	}
	return rec.Output, err
}

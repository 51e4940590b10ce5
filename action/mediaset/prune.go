package mediaset

import (
	"context"
	"fmt"
	"slices"

	"atelier/action"
	"atelier/media"
)

func pruneAction() action.Action {
	return action.Action{
		Name: "Prune Agent Media",
		Description: "Removes media items of this run from the list, so that it contains only relevant items. " +
			"Nothing is deleted: placeholders of pruned items still work. Promoted and embedded items are skipped.",
		Tags: []string{"media"},
		Params: []action.Param{
			{Name: "RefIds", IsArray: true, Description: "Refs to prune."},
			{Name: "KeepLast", Type: "integer", Description: "Of the remaining items, keep only this many of the newest."},
			{Name: "MaxSizeBytes", Type: "integer", Description: "Prune the oldest items until the total size is at most this."},
			{Name: "pruned", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "The pruned refs."},
			{Name: "skipped", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "refId and reason of each skipped item."},
			{Name: "totalCount", Direction: action.Output, Type: "integer", Description: "The number of items still in the list."},
			{Name: "totalSizeBytes", Direction: action.Output, Type: "integer", Description: "Their total size."},
		},
		Run: prune,
	}
}

// skip is an item that was selected but not pruned.
type skip struct {
	RefID  string `json:"refId"`
	Reason string `json:"reason"`
}

// pruning is the state of one call.
type pruning struct {
	call     *action.Call
	pruned   []string
	skipped  []skip
	reported map[media.Ref]bool // already in skipped
}

func prune(_ context.Context, c *action.Call) (action.Result, error) {
	named, err := checked(c)
	if err != nil {
		return action.Result{}, err
	}
	p := pruning{call: c, pruned: []string{}, skipped: []skip{}, reported: map[media.Ref]bool{}}
	for _, o := range named {
		p.drop(o)
	}
	if c.Has("KeepLast") {
		list := c.Media.List()
		for _, o := range list[:max(0, len(list)-c.Int("KeepLast"))] {
			p.drop(o)
		}
	}
	list := c.Media.List()
	var size int64
	for _, o := range list {
		size += o.SizeBytes
	}
	if c.Has("MaxSizeBytes") {
		for _, o := range list {
			if size <= int64(c.Number("MaxSizeBytes")) {
				break
			}
			if p.drop(o) {
				size -= o.SizeBytes
			}
		}
		list = c.Media.List()
	}
	return action.Result{
		Message: fmt.Sprintf("Pruned %d media items, skipped %d; %d are left", len(p.pruned), len(p.skipped), len(list)),
		Outputs: map[string]any{"pruned": p.pruned, "skipped": p.skipped, "totalCount": len(list), "totalSizeBytes": size},
	}, nil
}

// checked reads the parameters. If one of them is invalid, nothing is pruned.
func checked(c *action.Call) ([]media.Output, error) {
	refs, _ := c.Params["RefIds"].([]any)
	switch {
	case len(refs) == 0 && !c.Has("KeepLast") && !c.Has("MaxSizeBytes"):
		return nil, invalid("Prune Agent Media: give RefIds, KeepLast or MaxSizeBytes")
	case c.Int("KeepLast") < 0 || c.Number("MaxSizeBytes") < 0:
		return nil, invalid("Prune Agent Media: KeepLast and MaxSizeBytes must not be negative")
	}
	var named []media.Output
	var unknown []string
	for _, r := range refs {
		text, _ := r.(string)
		o, err := c.Media.Find(text)
		if err != nil {
			unknown = append(unknown, text)
			continue
		}
		named = append(named, o)
	}
	if len(unknown) > 0 {
		return nil, c.Media.Unknown(unknown...)
	}
	return named, nil
}

// drop prunes one item unless the answer needs it. It reports whether it pruned the item.
func (p *pruning) drop(o media.Output) bool {
	reason := ""
	switch {
	case o.Promoted:
		reason = "it is promoted"
	case p.call.InUse != nil:
		reason = p.call.InUse(o.Ref)
	}
	if slices.Contains(p.pruned, string(o.Ref)) {
		return false
	}
	if reason == "" {
		p.call.Change(media.Change{Kind: media.ChangePrune, Ref: o.Ref})
		p.pruned = append(p.pruned, string(o.Ref))
		return true
	}
	if !p.reported[o.Ref] {
		p.reported[o.Ref] = true
		p.skipped = append(p.skipped, skip{RefID: string(o.Ref), Reason: reason})
	}
	return false
}

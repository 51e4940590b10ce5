package workflow

import (
	"slices"
	"strings"

	"atelier/media"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/subaction"
	"atelier/workflow/view"
)

// Click requests a sub-action. It identifies the sub-action by the path of the node and an id or, for clients that know
// only the declared actions, by action type, provider and key.
type Click struct {
	InteractionID string
	// Path is the JSON pointer of the node.
	Path, SubActionID string
	// ActionType, Provider, PromptID and Operation identify the sub-action without a path.
	ActionType, Provider, PromptID, Operation string
	// Params are the parameters from the form; nil if there are none.
	Params *ordered.Object
	// SourceData is the client's copy of the node's data, which must equal the server's. Source reports whether it is
	// set.
	SourceData any
	Source     bool
	// RequestID identifies the click; empty means a new click.
	RequestID string
	// StandIn is offline if the person permits the offline painter as a substitute.
	StandIn string
}

// maxRequestID is the maximum length of a request_id, which is a key in the database.
const maxRequestID = 200

// ParseClick parses the body of a request. Unknown names are problems.
func ParseClick(b []byte) (Click, error) {
	o, err := ordered.DecodeObject(b)
	if err != nil {
		return Click{}, err
	}
	c := Click{}
	texts := map[string]*string{
		"interaction_id": &c.InteractionID, "path": &c.Path, "sub_action_id": &c.SubActionID, "action_type": &c.ActionType, "provider": &c.Provider,
		"prompt_id": &c.PromptID, "operation": &c.Operation, "request_id": &c.RequestID, "stand_in": &c.StandIn,
	}
	var found problem.List
	for key, v := range o.All() {
		at := ordered.Join("", key)
		switch to := texts[key]; {
		case to != nil:
			s, ok := v.(string)
			if *to = s; !ok {
				found.Fail(at, "%s must be a string", key)
			}
		case key == "params":
			params, ok := v.(*ordered.Object)
			if c.Params = params; !ok && v != nil {
				found.Fail(at, "params must be an object")
			}
		case key == "source_data":
			c.SourceData, c.Source = v, true
		default:
			found.Fail(at, "%s is unknown: remove it", key)
		}
	}
	if c.StandIn != "" && c.StandIn != "offline" {
		found.Fail("/stand_in", "stand_in must be offline or omitted")
	}
	if len(c.RequestID) > maxRequestID {
		found.Fail("/request_id", "request_id is longer than %d bytes", maxRequestID)
	}
	return c, found.Err()
}

// Start is the checked sub-action of a click, ready to start.
type Start struct {
	// Key is the key of the node, and Source its data.
	Key    string
	Source any
	// Action is the declared sub-action with all templates resolved. Params are merged and checked.
	Action view.SubAction
	Params *ordered.Object
	Plan   subaction.Plan
}

// Start finds the declared sub-action of a click, checks its parameters and plans the request. The error has code
// media.CodeNotFound for an undeclared action, media.CodeConflict for an ambiguous one and media.CodeStaleData for
// outdated source data. Errors of parameters have pointers. The request uses the server's data.
func (i *Interaction) Start(c Click) (Start, error) {
	if c.InteractionID != "" && c.InteractionID != i.request.InteractionID {
		return Start{}, media.Errorf(media.CodeNotFound, "the run is not waiting at interaction %s", media.ErrorText(c.InteractionID))
	}
	node, action, err := i.declared(c)
	if err != nil {
		return Start{}, err
	}
	s := Start{Key: node.Key, Action: action}
	s.Source, _ = ordered.At(i.data.Value, node.Pointer)
	switch {
	case c.Source && !ordered.Equal(c.SourceData, s.Source):
		return Start{}, media.Errorf(media.CodeStaleData, "%s has changed since source_data was read: reload the interaction", node.Pointer)
	case action.Reason != "":
		return Start{}, media.Errorf(media.CodeUnsupported, "%s", action.Reason)
	case !action.Enabled:
		return Start{}, media.Errorf(media.CodeInvalid, "%s is not enabled by the values of its card", action.ID)
	case strings.TrimSpace(action.PromptAsSent) == "" && !strings.HasSuffix(action.ActionType, ".upscale") && !strings.HasSuffix(action.ActionType, ".variation"): // these start from a picture
		return Start{}, problem.Join(problem.At(node.Pointer, "the prompt is empty: describe the picture"))
	}
	s.Params = subaction.Merge(action.Params, c.Params)
	if action.ParamSchema != nil {
		if err := subaction.Check(action.ParamSchema, s.Params); err != nil {
			return Start{}, err
		}
	}
	handler, err := i.actions.Find(action.ActionType)
	if err != nil {
		return Start{}, err
	}
	s.Plan, err = handler.Plan(subaction.Call{Key: node.Key, Prompt: action.PromptAsSent, Params: s.Params})
	return s, err
}

// declared returns the only sub-action that matches a click.
func (i *Interaction) declared(c Click) (*view.Node, view.SubAction, error) {
	type match struct {
		node   *view.Node
		action view.SubAction
	}
	var found []match
	i.request.View.Walk(func(n *view.Node) {
		for _, a := range n.SubActions {
			if c.matches(n, a) {
				found = append(found, match{n, a})
			}
		}
	})
	switch len(found) {
	case 0:
		return nil, view.SubAction{}, media.Errorf(media.CodeNotFound, "the interaction does not declare this sub-action")
	case 1:
		return found[0].node, found[0].action, nil
	}
	places := make([]string, len(found))
	for n, m := range found {
		places[n] = m.node.Pointer + " " + m.action.ID
	}
	slices.Sort(places)
	return nil, view.SubAction{}, media.Errorf(media.CodeConflict, "several sub-actions match: select one by path and sub_action_id (%s)", strings.Join(places, ", "))
}

// matches reports whether a click matches a sub-action. Omitted fields match any value.
func (c Click) matches(n *view.Node, a view.SubAction) bool {
	if c.Path == "" && c.ActionType == "" {
		return false
	}
	operation := a.ActionType[strings.LastIndexByte(a.ActionType, '.')+1:]
	for _, pair := range [][2]string{{c.Path, n.Pointer}, {c.SubActionID, a.ID}, {c.ActionType, a.ActionType}, {c.Provider, a.Provider}, {c.PromptID, n.Key}, {c.Operation, operation}} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return true
}

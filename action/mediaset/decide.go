package mediaset

import (
	"context"
	"strings"

	"atelier/action"
	"atelier/media"
)

// maxDescription is the maximum length of a description, in bytes.
const maxDescription = 4000

func refParam() action.Param {
	return action.Param{Name: "RefId", Required: true, Description: "The ref of the item, such as img-7k3m9q2x."}
}

func labelAction() action.Action {
	return changing(action.Action{
		Name:        "Label Agent Media",
		Description: "Changes the label or description of a media item of this run, so that people and later steps know what it shows.",
		Run: func(_ context.Context, c *action.Call) (action.Result, error) {
			if c.Text("Label") == "" && c.Text("Description") == "" {
				return action.Result{}, invalid("Label Agent Media: give a Label or a Description")
			}
			return decide(c, media.ChangeLabel, "Labelled ")
		},
	}, "Short display text, at most 500 characters.", "What the item shows and why it was made.")
}

func promoteAction() action.Action {
	return changing(action.Action{
		Name:        "Promote Agent Media",
		Description: "Chooses a media item of this run for the answer, so that the person sees it. Items embedded in the answer are promoted automatically.",
		Run: func(_ context.Context, c *action.Call) (action.Result, error) {
			return decide(c, media.ChangePromote, "Promoted ")
		},
	}, "Short display text. By default, the item keeps its own.", "What the item shows and why it was chosen.")
}

// changing adds the parameters of an action that changes an item.
func changing(a action.Action, label, description string) action.Action {
	a.Tags = []string{"media"}
	a.Params = append([]action.Param{refParam(), {Name: "Label", Description: label}, {Name: "Description", Description: description}}, detailOutputs()...)
	return a
}

// decide applies one change and returns the item's details.
func decide(c *action.Call, kind media.ChangeKind, done string) (action.Result, error) {
	o, err := c.Media.Find(c.Text("RefId"))
	if err != nil {
		return action.Result{}, err
	}
	o, _ = c.Change(media.Change{ // a set keeps its items
		Kind: kind, Ref: o.Ref, Label: media.ClipLabel(strings.TrimSpace(c.Text("Label"))), Description: clean(c.Text("Description")),
	})
	return action.Result{Message: done + string(o.Ref), Outputs: detailsOf(o)}, nil
}

// clean trims a description and cuts it to its maximum length.
func clean(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxDescription {
		s = strings.ToValidUTF8(s[:maxDescription], "")
	}
	return s
}

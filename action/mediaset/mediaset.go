// Package mediaset is the actions that every agent has for the media of its own
// run: List, Get Details, View, Label, Promote and Prune.
//
// They show refs and facts, and the text of documents, never bytes. What they decide
// is what is shown, never what is kept. Errors are media.Error values; a ref that
// means nothing in the run is [media.CodeUnknownRef] and lists the valid ones. The
// package imports action and media.
package mediaset

import (
	"context"
	"fmt"
	"strings"

	"atelier/action"
	"atelier/media"
)

// Actions are List Agent Media, Get Agent Media Details, View Agent Media, Label Agent
// Media, Promote Agent Media and Prune Agent Media.
func Actions() []action.Action {
	return []action.Action{listAction(), detailsAction(), viewAction(), labelAction(), promoteAction(), pruneAction()}
}

// reference is one item of a list.
type reference struct {
	RefID       string         `json:"refId"`
	Placeholder string         `json:"placeholder,omitempty"`
	Modality    media.Modality `json:"modality"`
	MimeType    string         `json:"mimeType"`
	SizeBytes   int64          `json:"sizeBytes"`
	Width       int            `json:"width,omitempty"`
	Height      int            `json:"height,omitempty"`
	// DurationSeconds is the length of audio and video.
	DurationSeconds float64 `json:"durationSeconds,omitempty"`
	Label           string  `json:"label,omitempty"`
}

// details are all that a model may know of an item.
type details struct {
	reference
	Description string `json:"description,omitempty"`
	FileName    string `json:"fileName,omitempty"`
	Promoted    bool   `json:"promoted"`
	Partial     bool   `json:"partial,omitempty"`
	Origin      origin `json:"origin"`
	// Lineage are the items that this one was made from.
	Lineage  []parent       `json:"lineage,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// origin says where an item came from.
type origin struct {
	Direction string `json:"direction,omitempty"`
	Source    string `json:"source,omitempty"`
	AgentPath string `json:"agentPath,omitempty"`
	Operation string `json:"operation,omitempty"`
}

// parent is one edge of lineage.
type parent struct {
	RefID string `json:"refId"`
	Role  string `json:"role"`
}

// listedLabel is how much of a label a list shows, in bytes.
const listedLabel = 120

func shortLabel(s string) string {
	if len(s) <= listedLabel {
		return s
	}
	return strings.ToValidUTF8(s[:listedLabel], "") + "…"
}

func referenceOf(o media.Output) reference {
	return reference{
		RefID: string(o.Ref), Modality: o.Modality, MimeType: o.MIMEType, SizeBytes: o.SizeBytes,
		Width: o.Width, Height: o.Height, DurationSeconds: o.DurationSeconds, Label: shortLabel(o.Label),
	}
}

// pageItems is how many items one call lists, by default and at most. A run may hold
// hundreds, and a list of them all would fill a model's context.
const pageItems = 50

func listAction() action.Action {
	number := func(name string, def any, description string) action.Param {
		return action.Param{Name: name, Direction: action.Input, ValueType: action.Scalar, Type: "integer", Default: def, Description: description}
	}
	return action.Action{
		Name:        "List Agent Media",
		Description: "Lists the pictures and other media of this run, with the refs to embed or edit them.",
		Tags:        []string{"media"},
		Params: []action.Param{
			{Name: "Modality", Direction: action.Input, ValueType: action.Scalar, Values: []string{"image", "audio", "video", "document"}, Description: "Only items of this kind; all by default."},
			number("Offset", 0, "How many items to leave out at the start."),
			number("Limit", pageItems, fmt.Sprintf("How many items to list, at most %d.", pageItems)),
			{Name: "mediaReferences", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "refId, modality, mimeType, sizeBytes, width, height and label of each item, in the order in which they were made."},
			{Name: "totalCount", Direction: action.Output, ValueType: action.Scalar, Type: "integer", Description: "How many items there are, listed here or not."},
			{Name: "totalSizeBytes", Direction: action.Output, ValueType: action.Scalar, Type: "integer", Description: "Their size together."},
			{Name: "nextOffset", Direction: action.Output, ValueType: action.Scalar, Type: "integer", Description: "Where the list goes on; missing at its end."},
		},
		Run: list,
	}
}

func list(_ context.Context, c *action.Call) (action.Result, error) {
	from, limit := c.Int("Offset"), c.Int("Limit")
	if !c.Has("Limit") {
		limit = pageItems
	}
	if from < 0 || limit < 1 {
		e := media.Errorf(media.CodeInvalid, "List Agent Media: Offset must not be negative and Limit is 1 to %d", pageItems)
		e.Retryable = true
		return action.Result{}, e
	}
	limit = min(limit, pageItems)
	only := media.Modality(c.Text("Modality"))
	refs := []reference{}
	var size int64
	total := 0
	for _, o := range c.Media.List() {
		if only != "" && o.Modality != only {
			continue
		}
		if total >= from && len(refs) < limit {
			refs = append(refs, referenceOf(o))
		}
		total++
		size += o.SizeBytes
	}
	out := map[string]any{"mediaReferences": refs, "totalCount": total, "totalSizeBytes": size}
	message := fmt.Sprintf("%d media items", total)
	if total == 1 {
		message = "1 media item"
	}
	if len(refs) < total {
		message += fmt.Sprintf(", %d listed here", len(refs))
	}
	if next := from + len(refs); next < total && len(refs) > 0 {
		out["nextOffset"] = next
		message += fmt.Sprintf("; go on with Offset %d", next)
	}
	return action.Result{Message: message, Outputs: out}, nil
}

func detailsAction() action.Action {
	return action.Action{
		Name:        "Get Agent Media Details",
		Description: "Tells all about one media item of this run: placeholder, description, origin and what it was made from.",
		Tags:        []string{"media"},
		Params: []action.Param{
			refParam(),
			{Name: "details", Direction: action.Output, ValueType: action.Other, Description: "The list's fields with placeholder, description, promoted, origin and lineage."},
		},
		Run: get,
	}
}

func get(_ context.Context, c *action.Call) (action.Result, error) {
	o, err := c.Media.Find(c.Text("RefId"))
	if err != nil {
		return action.Result{}, err
	}
	return action.Result{
		Message: "Details of " + string(o.Ref) + ". The pixels are not part of the details: View Agent Media shows them",
		Outputs: map[string]any{"details": detailsOf(o)},
	}, nil
}

// detailsOf shows an item whole.
func detailsOf(o media.Output) details {
	reference := referenceOf(o)
	reference.Label = o.Label
	d := details{
		reference: reference, Description: o.Description, FileName: o.FileName,
		Promoted: o.Promoted, Partial: o.Partial, Metadata: o.Metadata,
		Origin: origin{o.Origin.Direction, o.Origin.Source, o.Origin.AgentPath, o.Origin.Operation},
	}
	d.Placeholder = o.Ref.Placeholder()
	for _, p := range o.Lineage {
		d.Lineage = append(d.Lineage, parent{RefID: string(p.Ref), Role: p.Role})
	}
	return d
}

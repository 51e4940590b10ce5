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

func referenceOf(o media.Output) reference {
	return reference{
		RefID: string(o.Ref), Modality: o.Modality, MimeType: o.MIMEType, SizeBytes: o.SizeBytes,
		Width: o.Width, Height: o.Height, DurationSeconds: o.DurationSeconds, Label: o.Label,
	}
}

func listAction() action.Action {
	return action.Action{
		Name:        "List Agent Media",
		Description: "Lists the pictures and other media of this run, with the refs to embed or edit them.",
		Tags:        []string{"media"},
		Params: []action.Param{
			{Name: "Modality", Direction: action.Input, ValueType: action.Scalar, Values: []string{"image", "audio", "video", "document"}, Description: "Only items of this kind; all by default."},
			{Name: "mediaReferences", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "refId, modality, mimeType, sizeBytes, width, height and label of each item, in the order in which they were made."},
			{Name: "totalCount", Direction: action.Output, ValueType: action.Scalar, Type: "integer", Description: "How many items there are."},
			{Name: "totalSizeBytes", Direction: action.Output, ValueType: action.Scalar, Type: "integer", Description: "Their size together."},
		},
		Run: list,
	}
}

func list(_ context.Context, c *action.Call) (action.Result, error) {
	only := media.Modality(c.Text("Modality"))
	refs := []reference{}
	var size int64
	for _, o := range c.Media.List() {
		if only == "" || o.Modality == only {
			refs = append(refs, referenceOf(o))
			size += o.SizeBytes
		}
	}
	message := fmt.Sprintf("%d media items", len(refs))
	if len(refs) == 1 {
		message = "1 media item"
	}
	return action.Result{
		Message: message,
		Outputs: map[string]any{"mediaReferences": refs, "totalCount": len(refs), "totalSizeBytes": size},
	}, nil
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
	d := details{
		reference: referenceOf(o), Description: o.Description, FileName: o.FileName,
		Promoted: o.Promoted, Partial: o.Partial, Metadata: o.Metadata,
		Origin: origin{o.Origin.Direction, o.Origin.Source, o.Origin.AgentPath, o.Origin.Operation},
	}
	d.Placeholder = o.Ref.Placeholder()
	for _, p := range o.Lineage {
		d.Lineage = append(d.Lineage, parent{RefID: string(p.Ref), Role: p.Role})
	}
	return d
}

// Package mediaset provides the actions that every agent has for the media of its run: List, Get Details, View, Label,
// Promote and Prune.
//
// They return refs and facts, and the text of documents, never bytes. They decide what is shown, never what is kept.
// Errors are media.Error values; a ref that is unknown in the run is [media.CodeUnknownRef] and lists the valid ones.
// The package imports action, media and wire.
package mediaset

import (
	"context"
	"fmt"
	"strings"

	"atelier/action"
	"atelier/media"
)

// Actions returns List Agent Media, Get Agent Media Details, View Agent Media, Label Agent Media, Promote Agent Media
// and Prune Agent Media.
func Actions() []action.Action {
	return []action.Action{listAction(), detailsAction(), viewAction(), labelAction(), promoteAction(), pruneAction()}
}

// invalid returns an error that a model can correct.
func invalid(format string, args ...any) error {
	e := media.Errorf(media.CodeInvalid, format, args...)
	e.Retryable = true
	return e
}

// origin is the source of an item.
type origin struct {
	Direction string `json:"direction,omitempty"`
	Source    string `json:"source,omitempty"`
	AgentPath string `json:"agentPath,omitempty"`
	Operation string `json:"operation,omitempty"`
}

// listedLabel is the maximum length of a label in a list, in bytes.
const listedLabel = 120

// referenceOf describes an item in a list.
func referenceOf(o media.Output) map[string]any {
	if len(o.Label) > listedLabel {
		o.Label = strings.ToValidUTF8(o.Label[:listedLabel], "") + "…"
	}
	return facts(o)
}

// facts describes an item; what it does not have is missing.
func facts(o media.Output) map[string]any {
	v := map[string]any{"refId": string(o.Ref), "modality": o.Modality, "mimeType": o.MIMEType, "sizeBytes": o.SizeBytes}
	if o.Width > 0 {
		v["width"], v["height"] = o.Width, o.Height
	}
	if o.DurationSeconds > 0 {
		v["durationSeconds"] = o.DurationSeconds
	}
	if o.Label != "" {
		v["label"] = o.Label
	}
	return v
}

// pageItems is the default and maximum number of items that one call lists. A run may contain hundreds, and a complete
// list would fill a model's context.
const pageItems = 50

func listAction() action.Action {
	return action.Action{
		Name:        "List Agent Media",
		Description: "Lists the pictures and other media of this run, with the refs to embed or edit them.",
		Tags:        []string{"media"},
		Params: []action.Param{
			{Name: "Modality", Values: []string{"image", "audio", "video", "document"}, Description: "Only items of this kind. The default is all kinds."},
			{Name: "Offset", Type: "integer", Default: 0, Description: "The number of items to skip."},
			{Name: "Limit", Type: "integer", Default: pageItems, Description: fmt.Sprintf("The maximum number of items to list, at most %d.", pageItems)},
			{Name: "mediaReferences", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "refId, modality, mimeType, sizeBytes, width, height and label of each item, in the order in which they were made."},
			{Name: "totalCount", Direction: action.Output, Type: "integer", Description: "The number of items, listed or not."},
			{Name: "totalSizeBytes", Direction: action.Output, Type: "integer", Description: "Their total size."},
			{Name: "nextOffset", Direction: action.Output, Type: "integer", Description: "The offset of the next page; missing on the last one."},
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
		return action.Result{}, invalid("List Agent Media: Offset must not be negative, and Limit must be 1 to %d", pageItems)
	}
	limit = min(limit, pageItems)
	only := media.Modality(c.Text("Modality"))
	refs := []map[string]any{}
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
		message += fmt.Sprintf("; continue with Offset %d", next)
	}
	return action.Result{Message: message, Outputs: out}, nil
}

func detailsAction() action.Action {
	return action.Action{
		Name:        "Get Agent Media Details",
		Description: "Returns the details of one media item of this run: placeholder, description, origin and what it was made from.",
		Tags:        []string{"media"},
		Params: append([]action.Param{
			refParam(),
			{Name: "IncludeData", Type: "boolean", Code: true, Description: "For Go code (agent.Context.Action): also returns the bytes. Models use View Agent Media."},
			{Name: "dataUri", Direction: action.Output, Description: "The bytes as data:TYPE;base64,…; only with IncludeData."},
		}, detailOutputs()...),
		Run: get,
	}
}

// detailOutputs declares the outputs of [detailsOf].
func detailOutputs() []action.Param {
	return []action.Param{
		{Name: "refId", Direction: action.Output, Type: "string", Description: "Its ref."},
		{Name: "modality", Direction: action.Output, Type: "string", Description: "image, audio, video or document."},
		{Name: "mimeType", Direction: action.Output, Type: "string", Description: "The type detected from its bytes."},
		{Name: "width", Direction: action.Output, Type: "integer", Description: "In pixels; like height, missing for items that have none."},
		{Name: "height", Direction: action.Output, Type: "integer", Description: "In pixels."},
		{Name: "durationSeconds", Direction: action.Output, Type: "number", Description: "The length of audio and video; missing for others."},
		{Name: "label", Direction: action.Output, Type: "string", Description: "Short display text; like description and fileName, missing if the item has none."},
		{Name: "sizeBytes", Direction: action.Output, Type: "integer", Description: "The number of bytes."},
		{Name: "placeholder", Direction: action.Output, Type: "string", Description: "Its placeholder in text."},
		{Name: "description", Direction: action.Output, Type: "string", Description: "What it shows and why it was made."},
		{Name: "fileName", Direction: action.Output, Type: "string", Description: "Its original file name."},
		{Name: "promoted", Direction: action.Output, Type: "boolean", Description: "Whether it is part of the answer."},
		{Name: "partial", Direction: action.Output, Type: "boolean", Description: "True for a preview that was kept instead of a picture."},
		{Name: "origin", Direction: action.Output, ValueType: action.Other, Description: "direction, source, agentPath and operation: where it came from."},
		{Name: "lineage", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "refId and role of each item that it was made from."},
		{Name: "metadata", Direction: action.Output, ValueType: action.Other, Description: "Details of how it was made: model, provider, seed."},
	}
}

func get(_ context.Context, c *action.Call) (action.Result, error) {
	if c.Bool("IncludeData") { // agent.Context.Action removes the parameter of Go code
		return action.Result{}, invalid("Get Agent Media Details: IncludeData is for programs: omit it, and use View Agent Media to see the item")
	}
	o, err := c.Media.Find(c.Text("RefId"))
	if err != nil {
		return action.Result{}, err
	}
	return action.Result{
		Message: "Details of " + string(o.Ref) + ". The pixels are not part of the details: View Agent Media shows them",
		Outputs: detailsOf(o),
	}, nil
}

// detailsOf returns all facts of an item that a model may see.
func detailsOf(o media.Output) map[string]any {
	d := facts(o)
	d["placeholder"], d["promoted"], d["origin"] = o.Ref.Placeholder(), o.Promoted, origin(o.Origin)
	lineage := []map[string]string{}
	for _, p := range o.Lineage {
		lineage = append(lineage, map[string]string{"refId": string(p.Ref), "role": p.Role})
	}
	d["lineage"] = lineage
	for name, v := range map[string]string{"description": o.Description, "fileName": o.FileName} {
		if v != "" {
			d[name] = v
		}
	}
	if o.Partial {
		d["partial"] = true
	}
	if len(o.Metadata) > 0 {
		d["metadata"] = o.Metadata
	}
	return d
}

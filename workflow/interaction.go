package workflow

import (
	"atelier/media"
	"atelier/workflow/ordered"
	"atelier/workflow/patch"
	"atelier/workflow/problem"
	"atelier/workflow/schema"
	"atelier/workflow/subaction"
	"atelier/workflow/view"
)

// Type is the type of an interaction.
type Type string

// The values of [Type].
const (
	TypeSubActions Type = "schema_with_sub_actions"
	TypeApproval   Type = "approval"
)

// InteractionRequest is what a person is asked to do.
type InteractionRequest struct {
	WorkflowRunID string `json:"workflow_run_id"`
	InteractionID string `json:"interaction_id"`
	Type          Type   `json:"interaction_type"`
	Title         string `json:"title"`
	// Mode is a hint for clients and has no effect.
	Mode string `json:"mode"`
	// DisplayData holds the values. DisplaySchema says how they are displayed.
	DisplayData   *ordered.Object `json:"display_data"`
	DisplaySchema *ordered.Object `json:"display_schema"`
	// InputSchema and Layout hold forms by JSON pointer into the data. _ux takes precedence.
	InputSchema *ordered.Object `json:"input_schema,omitempty"`
	Layout      *ordered.Object `json:"layout,omitempty"`
	// ParamSchemas and ParamDefaults are keyed by provider.
	ParamSchemas  *ordered.Object `json:"param_schemas,omitempty"`
	ParamDefaults *ordered.Object `json:"param_defaults,omitempty"`
	// StandIn is offline if the workflow lets the offline painter substitute for providers without keys.
	StandIn string `json:"stand_in,omitempty"`
	// View is the tree that clients render. Version is the version of the data.
	View    *view.Node `json:"view"`
	Version int        `json:"version"`
}

// Interaction is a request with its current data. It is immutable: edits and results return a new Interaction.
type Interaction struct {
	request InteractionRequest
	schema  *schema.Schema
	data    patch.Document
	actions *subaction.Registry
}

// Open registers the schema of a request and resolves its view. edits are the earlier edits of request.DisplayData, up
// to request.Version; they may be nil.
func Open(request InteractionRequest, edits []patch.Edit, actions *subaction.Registry) (*Interaction, error) {
	if request.DisplaySchema == nil || request.DisplayData == nil {
		return nil, media.Errorf(media.CodeInvalid, "an interaction needs display_data and display_schema")
	}
	s, err := schema.Parse(request.DisplaySchema)
	if err != nil {
		return nil, problem.Join(problem.Under("/display_schema", err)...)
	}
	i := &Interaction{request: request, schema: s, actions: actions, data: patch.Document{Value: request.DisplayData, Version: request.Version, Edits: edits}}
	i.request.View, err = i.view()
	return i, err
}

func (i *Interaction) view() (*view.Node, error) {
	r := i.request
	return view.Resolve(view.Input{
		Schema: i.schema, Data: i.data.Value, InputSchemas: r.InputSchema, Layouts: r.Layout,
		ParamSchemas: r.ParamSchemas, ParamDefaults: r.ParamDefaults, Actions: i.actions,
	})
}

// Request returns the request with the current data. The caller must not modify it.
func (i *Interaction) Request() InteractionRequest { return i.request }

// Edits returns all edits, oldest first.
func (i *Interaction) Edits() []patch.Edit { return i.data.Edits }

// Edit applies a person's edit that was made on version base.
func (i *Interaction) Edit(base int, ops []patch.Operation) (*Interaction, error) {
	next, err := i.data.Edit(base, ops, i.request.View.Forms())
	if err != nil {
		return nil, err
	}
	return i.with(next)
}

// Item is one result of a sub-action.
type Item struct{ ContentID, MetadataID, URL string }

// AppendItems appends results at a result_target. It also returns the change as operations.
func (i *Interaction) AppendItems(target []string, items ...Item) (*Interaction, []patch.Operation, error) {
	values := make([]any, len(items))
	for n, item := range items {
		values[n] = ordered.New("content_id", item.ContentID, "metadata_id", item.MetadataID, "url", item.URL)
	}
	ops, err := patch.Append(i.data.Value, target, values...)
	if err != nil {
		return nil, nil, err
	}
	data, err := i.data.Apply(i.data.Version, ops)
	if err != nil {
		return nil, nil, err
	}
	next, err := i.with(data)
	return next, ops, err
}

func (i *Interaction) with(data patch.Document) (_ *Interaction, err error) {
	next := *i
	next.data, next.request.DisplayData, next.request.Version = data, data.Value, data.Version
	next.request.View, err = next.view()
	return &next, err
}

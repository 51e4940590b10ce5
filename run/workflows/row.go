package workflows

import (
	"encoding/json"

	"atelier/ledger"
	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/patch"
	"atelier/workflow/subaction"
)

// openRow returns the interaction of a row.
func openRow(row ledger.Interaction, actions *subaction.Registry) (*workflow.Interaction, error) {
	var r workflow.InteractionRequest // without the view, which Open creates
	if err := json.Unmarshal(row.Request, &r); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read interaction %s: %w", row.ID, err)
	}
	var err error
	if r.DisplayData, err = ordered.DecodeObject(row.Data); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read the data of interaction %s: %w", row.ID, err)
	}
	r.InteractionID, r.WorkflowRunID, r.Version = row.ID, row.WorkflowRunID, row.Version
	var edits []patch.Edit
	if len(row.Edits) > 0 {
		if err := json.Unmarshal(row.Edits, &edits); err != nil {
			return nil, media.Errorf(media.CodeCorrupt, "read the edits of interaction %s: %w", row.ID, err)
		}
	}
	return workflow.Open(r, edits, actions)
}

package workflows

import (
	"encoding/json"

	"atelier/ledger"
	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/patch"
)

// requestOf reads the request to a person, with the current data and without the view.
func requestOf(row ledger.Interaction) (r workflow.InteractionRequest, err error) {
	if err := json.Unmarshal(row.Request, &r); err != nil {
		return r, media.Errorf(media.CodeCorrupt, "read interaction %s: %w", row.ID, err)
	}
	if r.DisplayData, err = ordered.DecodeObject(row.Data); err != nil {
		return r, media.Errorf(media.CodeCorrupt, "read the data of interaction %s: %w", row.ID, err)
	}
	r.InteractionID, r.WorkflowRunID, r.Version = row.ID, row.WorkflowRunID, row.Version
	return r, nil
}

func editsOf(row ledger.Interaction) (edits []patch.Edit, err error) {
	if len(row.Edits) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(row.Edits, &edits); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read the edits of interaction %s: %w", row.ID, err)
	}
	return edits, nil
}

// keptEdits is the number of edits that a row keeps: a client that is further behind reads again.
const keptEdits = 1000

// changed returns the row with the data of an interaction.
func changed(row ledger.Interaction, i *workflow.Interaction) (ledger.Interaction, error) {
	edits := i.Edits()
	text, err := json.Marshal(edits[max(0, len(edits)-keptEdits):])
	if err != nil {
		return row, media.Errorf(media.CodeInternal, "write the edits of interaction %s: %w", row.ID, err)
	}
	row.Data, row.Version, row.Edits = ordered.Encode(i.Request().DisplayData), i.Request().Version, text
	return row, nil
}

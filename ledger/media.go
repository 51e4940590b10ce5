package ledger

import (
	"context"
	"time"

	"atelier/media"
)

// Record is one media record: an item as it was first made or received. Other run trees are granted the item, and make
// no second record.
type Record struct {
	media.Output
	Owner string `json:"owner"`
	// Tree is the run tree (or the operation, outside of a run) in which the ref identifies this item.
	Tree string `json:"tree"`
	// Run is the run that made or received it; empty outside of a run.
	Run       string    `json:"run_id,omitempty"`
	UpdatedAt time.Time `json:"updated_at"`
	// DeletedAt is zero for an item that is not deleted.
	DeletedAt time.Time `json:"deleted_at,omitzero"`
}

// Link is one row of prompt_run_media or agent_run_media: an item of a run.
type Link struct {
	ID      string `json:"id"`
	MediaID string `json:"media_id"`
	RunID   string `json:"run_id,omitempty"`
	// PromptRunID is empty for items of actions and code, which have a StepID instead.
	PromptRunID string `json:"prompt_run_id,omitempty"`
	StepID      string `json:"step_id,omitempty"`
	OperationID string `json:"operation_id,omitempty"`
	// Direction is input or output; empty for agent-run media.
	Direction string `json:"direction,omitempty"`
	// SourceID is the prompt-run media row of a promoted item.
	SourceID string `json:"source_prompt_run_media_id,omitempty"`
	Snapshot
}

// Snapshot is an item as it was when it was made, seen, chosen or attached.
type Snapshot struct {
	Modality media.Modality `json:"modality"`
	MIMEType string         `json:"mime_type"`
	FileName string         `json:"file_name,omitempty"`
	// SizeBytes, Width, Height (pixels) and DurationSeconds are read from the bytes.
	SizeBytes       int64          `json:"size_bytes"`
	Width           int            `json:"width,omitempty"`
	Height          int            `json:"height,omitempty"`
	DurationSeconds float64        `json:"duration_seconds,omitempty"`
	Label           string         `json:"label,omitempty"`
	Description     string         `json:"description,omitempty"`
	Metadata        map[string]any `json:"metadata,omitempty"`
	// DisplayOrder counts from 1 within the run or the message.
	DisplayOrder int       `json:"display_order"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
}

// Edge is one edge of the lineage. If the same bytes are made again, the edge leads from the record to itself and has
// the role same_bytes.
type Edge struct {
	ID       string    `json:"id"`
	ChildID  string    `json:"child_media_id"`
	ChildRef media.Ref `json:"child_ref"`
	// ParentID is empty if the parent's ref has no record in the tree.
	ParentID    string    `json:"parent_media_id,omitempty"`
	ParentRef   media.Ref `json:"parent_ref"`
	Role        string    `json:"role"`
	RunID       string    `json:"run_id,omitempty"`
	OperationID string    `json:"operation_id,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
}

// TreeUse is a run tree that has an item, with its conversation.
type TreeUse struct {
	// Tree is the id of the root run, or of an operation outside of runs.
	Tree string `json:"tree"`
	// Conversation is empty for a tree outside of conversations.
	Conversation string `json:"conversation_id,omitempty"`
	// CreatedAt is when the tree received the item.
	CreatedAt time.Time `json:"created_at"`
}

// Provenance is the origin and the use of an item.
type Provenance struct {
	// Parents are the edges to the items that it was made from, Children those to the items made from it, both oldest
	// first. Edges with the role same_bytes are among the parents.
	Parents  []Edge `json:"parents"`
	Children []Edge `json:"children"`
	// Trees are the tree of its record, followed by those that it was granted to, oldest first.
	Trees []TreeUse `json:"trees"`
}

// MediaQuery filters a list of records; zero fields match all.
type MediaQuery struct {
	// Tree selects the items that a run tree has, including granted ones.
	Tree string
	// Run selects the items whose record a run made.
	Run      string
	Modality media.Modality
	Ref      media.Ref
	// Text is a text in label, description or file name; its case is ignored.
	Text string
	// Conversation selects the items of its runs.
	Conversation string
	// RefPrefix selects refs with this prefix: lower-case letters, digits and a hyphen.
	RefPrefix string
	// Deleted lists the deleted items instead of the others.
	Deleted bool
	Page
}

// Media stores media records and their lineage. media.Recorder saves a record; its scope (owner, tree, run, step,
// prompt run, operation) comes from the context. One commit writes the record, its prompt-run media row and its
// lineage. Owner and tree are required. An output with the id of a record that the owner has in another tree is
// granted: its ref identifies it in this tree too, without a second record, and it is returned with the given
// direction. The same applies to an input without an id that has the bytes and the file name of a recorded input: it is
// the same file. For a deleted one, the error has code media.CodeNotFound.
//
// Ids of copies of an item in databases of earlier versions identify its record.
type Media interface {
	// MediaRecord returns the record with an id.
	MediaRecord(ctx context.Context, owner, id string) (Record, error)
	// ListMedia lists records, newest first.
	ListMedia(ctx context.Context, owner string, q MediaQuery) (List[Record], error)
	// LabelMedia changes label and description; nil changes nothing.
	LabelMedia(ctx context.Context, owner, id string, label, description *string) error
	// DeleteMedia leaves a tombstone, in every tree that has the item. Records of the same bytes elsewhere stay, and so
	// do the bytes for some time: see Blobs.BlobReferenced. The error has code media.CodeNotFound for a deleted item, and
	// media.CodeConflict for an item of an unfinished run or operation.
	DeleteMedia(ctx context.Context, owner, id string) error
	// RestoreMedia undoes DeleteMedia. The error has code media.CodeNotFound if the item was not deleted since the
	// given time, and media.CodeConflict if its tree has the same bytes again.
	RestoreMedia(ctx context.Context, owner, id string, since time.Time) error
	// Provenance returns parents, children and trees of a record.
	Provenance(ctx context.Context, owner, mediaID string) (Provenance, error)
}

// RunMedia stores what runs made, saw and chose, as links to media records.
type RunMedia interface {
	// PromoteMedia saves the run's chosen items as agent-run media, in order, each once. A row that cannot be saved
	// produces a warning and does not affect the others; the error is for a failure of all.
	PromoteMedia(ctx context.Context, owner, runID string, chosen []media.Output) (warnings []string, err error)
	// ListPromptMedia lists the items that a run made or saw, in display order.
	ListPromptMedia(ctx context.Context, owner, runID string, p Page) (List[Link], error)
	// ListAgentMedia lists the items that a run chose for its answer, in display order.
	ListAgentMedia(ctx context.Context, owner, runID string, p Page) (List[Link], error)
}

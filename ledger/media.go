package ledger

import (
	"context"
	"time"

	"atelier/media"
)

// Record is one media record: an item as it was first made or given. Other run trees that
// have the item are granted it, and make no second record.
type Record struct {
	media.Output
	Owner string `json:"owner"`
	// Tree is the run tree (or the operation, outside a run) in which the ref means this item.
	Tree string `json:"tree"`
	// Run is the run that made or was given it; empty outside a run.
	Run string `json:"run_id,omitempty"`
	// ThumbnailDigest is the blob of its thumbnail; zero if there is none.
	ThumbnailDigest media.Digest `json:"thumbnail_digest,omitzero"`
	UpdatedAt       time.Time    `json:"updated_at"`
	// DeletedAt is zero for an item that is not deleted.
	DeletedAt time.Time `json:"deleted_at,omitzero"`
}

// Link is one row of prompt_run_media or agent_run_media: an item of a run.
type Link struct {
	ID      string `json:"id"`
	MediaID string `json:"media_id"`
	RunID   string `json:"run_id,omitempty"`
	// PromptRunID is empty for items of actions and code; then StepID says where.
	PromptRunID string `json:"prompt_run_id,omitempty"`
	StepID      string `json:"step_id,omitempty"`
	OperationID string `json:"operation_id,omitempty"`
	// Direction is input or output; empty for agent-run media.
	Direction string `json:"direction,omitempty"`
	// SourceID is the prompt-run media row behind a promoted item.
	SourceID string `json:"source_prompt_run_media_id,omitempty"`
	Snapshot
}

// Snapshot is an item as it stood when it was made, seen, chosen or attached.
type Snapshot struct {
	Modality media.Modality `json:"modality"`
	MIMEType string         `json:"mime_type"`
	FileName string         `json:"file_name,omitempty"`
	// SizeBytes, Width, Height (pixels) and DurationSeconds are facts of the bytes.
	SizeBytes       int64          `json:"size_bytes"`
	Width           int            `json:"width,omitempty"`
	Height          int            `json:"height,omitempty"`
	DurationSeconds float64        `json:"duration_seconds,omitempty"`
	Label           string         `json:"label,omitempty"`
	Description     string         `json:"description,omitempty"`
	Metadata        map[string]any `json:"metadata,omitempty"`
	// DisplayOrder counts from 1 within the run, or the message.
	DisplayOrder    int          `json:"display_order"`
	ThumbnailDigest media.Digest `json:"thumbnail_digest,omitzero"`
	CreatedAt       time.Time    `json:"created_at"`
	UpdatedAt       time.Time    `json:"updated_at"`
}

// Edge is one line of lineage. A second making of the same bytes is an edge from
// the record to itself in the role same_bytes.
type Edge struct {
	ID       string    `json:"id"`
	ChildID  string    `json:"child_media_id"`
	ChildRef media.Ref `json:"child_ref"`
	// ParentID is empty when the parent's ref has no record in the tree.
	ParentID    string    `json:"parent_media_id,omitempty"`
	ParentRef   media.Ref `json:"parent_ref"`
	Role        string    `json:"role"`
	RunID       string    `json:"run_id,omitempty"`
	OperationID string    `json:"operation_id,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
}

// TreeUse is a run tree that has an item, and the conversation that it belongs to.
type TreeUse struct {
	// Tree is the id of the root run, or of an operation outside of runs.
	Tree string `json:"tree"`
	// Conversation is empty outside of one.
	Conversation string `json:"conversation_id,omitempty"`
	// CreatedAt is when the tree got the item.
	CreatedAt time.Time `json:"created_at"`
}

// Provenance is where an item came from and what became of it.
type Provenance struct {
	// Parents are the edges to what it was made from, Children those to what was made from
	// it, both oldest first; edges in the role same_bytes are among the parents.
	Parents  []Edge `json:"parents"`
	Children []Edge `json:"children"`
	// Trees are the tree of its record and then those that it was granted to, oldest first.
	Trees []TreeUse `json:"trees"`
}

// MediaQuery narrows a list of records; zero fields match all.
type MediaQuery struct {
	// Tree asks for the items that a run tree has, granted ones too.
	Tree string
	// Run asks for those whose record a run made.
	Run      string
	Modality media.Modality
	Ref      media.Ref
	// Text is in label, description or file name, in any case of ASCII letters.
	Text string
	// Conversation asks for what its runs have.
	Conversation string
	// RefPrefix asks for those whose ref begins so: lower-case letters, digits and a hyphen.
	RefPrefix string
	// Deleted lists the deleted ones instead of the others.
	Deleted bool
	Page
}

// Media keeps media records and their lineage. Records come in through media.Recorder, whose
// scope (owner, tree, run, step, prompt run, operation) is read from the context: one
// commit writes the record, its prompt-run media row and its lineage. Owner and tree are
// required. An output with the id of a record that the owner has in another tree is granted:
// its ref means it in this tree from then on, and there is no second record; it comes back
// with the direction that it was given. So is an input without an id that has the bytes and the
// file name of an input on record: it is the same file. A deleted one is media.CodeNotFound.
//
// Ids that copies of an item had in databases of earlier versions find its record.
type Media interface {
	// MediaRecord reads one by id.
	MediaRecord(ctx context.Context, owner, id string) (Record, error)
	// ListMedia lists records, newest first.
	ListMedia(ctx context.Context, owner string, q MediaQuery) (List[Record], error)
	// LabelMedia changes label and description; empty values leave them.
	LabelMedia(ctx context.Context, owner, id, label, description string) error
	// DeleteMedia leaves a tombstone, in every tree that has the item. Records of the same
	// bytes elsewhere stay, and the bytes for now: see Blobs.BlobNamed. Deleting twice is
	// media.CodeNotFound; an item of a run or an operation that has not ended is
	// media.CodeConflict.
	DeleteMedia(ctx context.Context, owner, id string) error
	// RestoreMedia undoes DeleteMedia. It is media.CodeNotFound if no such item was deleted, or
	// not since the time given, and media.CodeConflict if its tree has the same bytes again.
	RestoreMedia(ctx context.Context, owner, id string, since time.Time) error
	// Provenance tells parents, children and trees of a record.
	Provenance(ctx context.Context, owner, mediaID string) (Provenance, error)
}

// RunMedia keeps what runs made, saw and chose, as links to media records.
type RunMedia interface {
	// PromoteMedia saves the run's chosen items as agent-run media, in order, once each.
	// A row that cannot be saved gives a warning and does not stop the others; the error
	// is for what stops them all.
	PromoteMedia(ctx context.Context, owner, runID string, chosen []media.Output) (warnings []string, err error)
	// ListPromptMedia lists what a run made or saw, in display order.
	ListPromptMedia(ctx context.Context, owner, runID string, p Page) (List[Link], error)
	// ListAgentMedia lists what a run chose for its answer, in display order.
	ListAgentMedia(ctx context.Context, owner, runID string, p Page) (List[Link], error)
}

package ledger

import (
	"context"
	"encoding/json"
	"time"
)

// Event is one line of a run tree's log.
type Event struct {
	// ID is the key to deduplicate by: the same for one event in every replay of its run.
	ID string `json:"id"`
	// Position is the global sequence number, growing in commit order.
	Position int64 `json:"position"`
	// Sequence counts from 1 without gaps within the run tree.
	Sequence int64 `json:"sequence"`
	// Tree is the root run; RunID is the run of the tree that it is about.
	Tree  string `json:"tree"`
	RunID string `json:"run_id"`
	// AgentPath is the way from the root agent to the one it is about, slash separated.
	AgentPath string `json:"agent_path,omitempty"`
	// Kind is one of the closed list of event kinds.
	Kind string `json:"kind"`
	// Payload is small JSON without media.
	Payload   json.RawMessage `json:"payload,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
}

// Events keeps the event log of run trees.
type Events interface {
	// AppendEvents saves events in order, in one commit, and gives them positions and
	// sequences, and an id and the time where they have none. An event whose id is known
	// is saved already: it is omitted, also of the answer. Tree, RunID and Kind are
	// required and the trees' root runs exist.
	AppendEvents(ctx context.Context, events []Event) ([]Event, error)
	// ListEvents lists a tree's events with a sequence above after, in order; limit as
	// in [Page]. The tree may be named by any of its runs.
	ListEvents(ctx context.Context, owner, runID string, after int64, limit int) ([]Event, error)
	// EventsAfter lists events with a position above after, in order: those of the tree that a
	// run names, or of all trees of the owner if runID is empty. An unknown run is
	// media.CodeNotFound. Nothing is saved later with a position below one that was listed.
	EventsAfter(ctx context.Context, owner, runID string, after int64, limit int) ([]Event, error)
	// LastPosition is that of the newest event of any owner; 0 if there is none.
	LastPosition(ctx context.Context) (int64, error)
}

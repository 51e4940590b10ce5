package ledger

import (
	"context"
	"encoding/json"
	"time"
)

// Event is one line of a run tree's log.
type Event struct {
	// ID is the deduplication key: the same for one event in every replay of its run.
	ID string `json:"id"`
	// Position is the global sequence number, increasing in commit order.
	Position int64 `json:"position"`
	// Sequence counts from 1 without gaps within the run tree.
	Sequence int64 `json:"sequence"`
	// Tree is the root run; RunID is the run of the tree that the event is about.
	Tree  string `json:"tree"`
	RunID string `json:"run_id"`
	// AgentPath is the path from the root agent to the event's agent, separated by slashes.
	AgentPath string `json:"agent_path,omitempty"`
	// Kind is one of the fixed list of event kinds.
	Kind string `json:"kind"`
	// Payload is small JSON without media.
	Payload   json.RawMessage `json:"payload,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
}

// Events stores the event log of run trees.
type Events interface {
	// AppendEvents saves events in order, in one commit, and assigns positions and sequences, and missing ids and
	// times. An event whose id is known is already saved: it is omitted, also from the result. Tree, RunID and Kind are
	// required, and the trees' root runs must exist.
	AppendEvents(ctx context.Context, events []Event) ([]Event, error)
	// ListEvents lists a tree's events with a sequence above after, in order; limit as in [Page]. Any run of the tree
	// identifies it.
	ListEvents(ctx context.Context, owner, runID string, after int64, limit int) ([]Event, error)
	// EventsAfter lists events with a position above after, in order: those of the tree of a run, or of all trees of
	// the owner if runID is empty. For an unknown run, the error has code media.CodeNotFound. No event is saved later
	// with a position below a listed one.
	EventsAfter(ctx context.Context, owner, runID string, after int64, limit int) ([]Event, error)
	// LastPosition returns the position of the newest event of any owner; 0 if there is none.
	LastPosition(ctx context.Context) (int64, error)
}

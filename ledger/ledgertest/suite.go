// Package ledgertest is the conformance suite of package ledger: one subtest per clause of its interfaces' comments. It
// may import internal/everyday, ledger, media and testing.
package ledgertest

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// Deps are the dependencies of a store under test.
type Deps struct {
	// Now is a clock that advances by one millisecond with each call.
	Now func() time.Time
	// NewID creates ids that sort in the order of their creation.
	NewID func() string
}

// Harness creates stores for the suite.
type Harness struct {
	// Open opens the database with a name, which is empty at first. A second Open with the same name returns a second
	// store on it, like that of another process. The suite closes the stores.
	Open func(t *testing.T, name string, d Deps) ledger.Store
	// Fill makes a database unable to grow, like a full disk.
	Fill func(t *testing.T, s ledger.Store)
	// Expire sets the expiry of all leases of a database to a stamp.
	Expire func(t *testing.T, s ledger.Store, at string)
	// OpenReadOnly opens a database that is not writable.
	OpenReadOnly func(t *testing.T, name string, d Deps) ledger.Store
}

// owner is the owner in the suite.
const owner = "ann"

// fixture is one open store with its injected ids and clock.
type fixture struct {
	ledger.Store
	deps Deps
	h    Harness
	name string
}

// newDeps returns ids and a clock that all stores of one test share, so that their order is consistent.
func newDeps() Deps {
	var ids, ticks atomic.Int64
	start := time.Date(2026, 11, 21, 4, 0, 0, 123456000, time.UTC)
	return Deps{
		Now:   func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Millisecond) },
		NewID: func() string { return fmt.Sprintf("0199a000-0000-7000-8000-%012d", ids.Add(1)) },
	}
}

func (h Harness) fixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{deps: newDeps(), h: h, name: "one"}
	f.Store = f.open(t)
	return f
}

func (f *fixture) open(t *testing.T) ledger.Store {
	t.Helper()
	s := f.h.Open(t, f.name, f.deps)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// run creates a root run, or a child of parent.
func (f *fixture) run(t *testing.T, who string, parent *ledger.Run) ledger.Run {
	t.Helper()
	id := f.deps.NewID()
	r := ledger.Run{
		ID: id, Owner: who, Tree: id, Agent: "research-agent", AgentPath: "research-agent",
		Status: ledger.StatusRunning, Task: "draw a cat", StartedAt: f.deps.Now(),
	}
	if parent != nil {
		r.Tree, r.Parent, r.Depth = parent.Tree, parent.ID, parent.Depth+1
	}
	if err := f.CreateRun(t.Context(), r); err != nil {
		t.Fatalf("create run: %v", err)
	}
	return r
}

func scoped(t *testing.T, r ledger.Run) context.Context {
	t.Helper()
	return media.WithScope(t.Context(), media.Scope{Owner: r.Owner, Tree: r.Tree, Run: r.ID})
}

// picture returns an output whose bytes are the text.
func picture(bytes string, m media.Meta) media.Output {
	return media.NewOutput(media.Blob{
		Digest: media.DigestOf([]byte(bytes)), SizeBytes: int64(len(bytes)),
		Facts: media.Facts{MIMEType: "image/png", Width: 64, Height: 48},
	}, m)
}

func (f *fixture) record(ctx context.Context, t *testing.T, o media.Output) media.Output {
	t.Helper()
	got, err := f.Record(ctx, o)
	if err != nil {
		t.Fatalf("record %s: %v", o, err)
	}
	return got
}

// parents returns the edges to the items that an item was made from.
func (f *fixture) parents(t *testing.T, id string) []ledger.Edge {
	t.Helper()
	p, err := f.Provenance(t.Context(), owner, id)
	must(t, err)
	return p.Parents
}

// finishRun finishes a run.
func (f *fixture) finishRun(t *testing.T, r ledger.Run) {
	t.Helper()
	r.Status = ledger.StatusSucceeded
	must(t, f.FinishRun(t.Context(), r))
}

func wantCode(t *testing.T, err error, code media.Code) {
	t.Helper()
	if got := media.CodeOf(err); got != code {
		t.Errorf("code = %q, want %q (error: %v)", got, code, err)
	}
}

// Run runs the whole suite.
func Run(t *testing.T, h Harness) {
	t.Helper()
	clauses := map[string]func(*testing.T, *fixture){
		"run round trip":                  runRoundTrip,
		"run conflicts and missing":       runConflicts,
		"runs newest first, paged":        runPages,
		"a cursor that is none":           badCursor,
		"runs filtered":                   runFilters,
		"run state round trip":            runStateRoundTrip,
		"run states are answered once":    runStateOnce,
		"run states listed":               runStateLists,
		"run states unchanged":            runStateUnchanged,
		"steps and prompts in order":      stepsAndPrompts,
		"empty owner is refused":          emptyOwner,
		"foreign owner sees nothing":      foreignOwner,
		"record without scope is refused": recordWithoutScope,
		"record round trip":               recordRoundTrip,
		"second making adds lineage":      secondMaking,
		"recording again by id adds none": recordAgainByID,
		"equal bytes in another tree":     otherTree,
		"ref collision":                   refCollision,
		"lineage to parents":              lineageToParents,
		"input direction":                 inputDirection,
		"media outlives cancellation":     outlivesCancel,
		"media pages and filters":         mediaPages,
		"label":                           labelling,
		"delete leaves other records":     deletion,
		"restore":                         restoring,
		"media in use stays":              inUse,
		"bytes that are named":            blobsNamed,
		"promote":                         promotion,
		"promote warns and goes on":       promotionWarns,
		"text unchanged in any column":    textUnchanged,
		"operation round trip":            operationRoundTrip,
		"operation conflicts":             operationConflicts,
		"operations follow their calls":   operationFollowsItsCalls,
		"operations are reopened once":    reopened,
		"operations of any owner":         operationsOfAnyOwner,
		"blobs adrift":                    unassignedBlobs,
		"budgets":                         budgets,
		"budgets of units":                budgetsOfUnits,
		"model call holds":                modelCallHolds,
		"images across processes":         imagesAcrossProcesses,
		"budgets under pressure":          budgetsUnderPressure,
		"money of what never began":       orphanedReservations,
		"blobs":                           blobs,
		"events in order":                 eventsInOrder,
		"events need a root run":          eventsNeedRun,
		"events saved once":               eventsOnce,
		"saved together":                  savedTogether,
		"concurrent writers":              concurrentWriters,
		"two handles on one database":     twoHandles,
		"two handles opened at once":      openedAtOnce,
		"equal bytes at once":             recordedAtOnce,
		"promoted at once":                promotedAtOnce,
		"events of several trees at once": eventsOfTrees,
		"events are seen in order":        eventsSeen,
		"budgets in any order":            budgetsInAnyOrder,
		"disk full":                       diskFull,
		"read-only":                       readOnly,
		"calls after close fail":          afterClose,
	}
	maps.Copy(clauses, conversationClauses())
	maps.Copy(clauses, grantClauses())
	maps.Copy(clauses, leaseClauses())
	maps.Copy(clauses, searchClauses())
	maps.Copy(clauses, servedClauses())
	maps.Copy(clauses, workflowClauses())
	for name, clause := range clauses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clause(t, h.fixture(t))
		})
	}
}

func conversationClauses() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"conversation round trip":         conversationRoundTrip,
		"conversations paged":             conversationPages,
		"conversations have an owner":     conversationScope,
		"conversation conflicts":          conversationMissing,
		"deleted conversation":            conversationDeleted,
		"attachments":                     attachments,
		"messages at once":                messagesAtOnce,
		"text unchanged in conversations": conversationTextUnchanged,
		"one message, two conversations":  messageInTwoConversations,
	}
}

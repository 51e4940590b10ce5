package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"atelier"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

// crashPhaseVariable makes the test binary generate one picture and kill itself with SIGKILL at a phase: before or
// after the ledger saves something. At the phase "never" it survives. Prompt and model are the arguments.
const crashPhaseVariable = "ATELIER_TEST_DIE_AT"

// crashingLedger is the ledger of a process that dies at a phase.
type crashingLedger struct {
	atelier.Ledger
	at string
}

// crashAt kills the process if this is the phase.
func (m crashingLedger) crashAt(phase string) {
	if phase != m.at {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until the signal is delivered
}

func (m crashingLedger) BeginOperation(ctx context.Context, o ledger.Operation) error {
	err := m.Ledger.BeginOperation(ctx, o)
	m.crashAfterSave(ctx, "after intent")
	return err
}

func (m crashingLedger) SaveTask(ctx context.Context, t ledger.Task) error {
	m.crashAt("before call " + t.Status)
	err := m.Ledger.SaveTask(ctx, t)
	m.crashAfterSave(ctx, "after call "+t.Status)
	return err
}

func (m crashingLedger) Record(ctx context.Context, o media.Output) (media.Output, error) {
	m.crashAt("before record")
	o, err := m.Ledger.Record(ctx, o)
	m.crashAt("after record")
	return o, err
}

func (m crashingLedger) SaveSlot(ctx context.Context, s ledger.Slot) error {
	err := m.Ledger.SaveSlot(ctx, s)
	m.crashAfterSave(ctx, "after slot")
	return err
}

func (m crashingLedger) Settle(ctx context.Context, act string, spent ledger.Amount) error {
	m.crashAt("before settle")
	err := m.Ledger.Settle(ctx, act, spent)
	m.crashAfterSave(ctx, "after settle")
	return err
}

func (m crashingLedger) FinishOperation(ctx context.Context, o ledger.Operation) error {
	m.crashAt("before end")
	err := m.Ledger.FinishOperation(ctx, o)
	m.crashAfterSave(ctx, "after end")
	return err
}

type batchKey struct{}

// crashAfterSave is crashAt for data that a transaction may commit later.
func (m crashingLedger) crashAfterSave(ctx context.Context, phase string) {
	if later, ok := ctx.Value(batchKey{}).(*[]string); ok {
		*later = append(*later, phase)
		return
	}
	m.crashAt(phase)
}

// InTransaction commits once, as the ledger itself does, and then passes the phases saved in it.
func (m crashingLedger) InTransaction(ctx context.Context, fn func(context.Context) error) error {
	var later []string
	err := m.Ledger.InTransaction(ctx, func(ctx context.Context) error {
		later = nil
		return fn(context.WithValue(ctx, batchKey{}, &later))
	})
	for _, phase := range later {
		m.crashAt(phase)
	}
	return err
}

// runUntilPhase is the main function of the process that dies at a phase.
func runUntilPhase(phase, prompt, model string) int {
	w := &world{ctx: context.Background(), stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv}
	cfg, err := atelier.ConfigFromEnv(w.env)
	if err != nil {
		return w.fail(err)
	}
	s, err := atelier.OpenStores(w.ctx, cfg)
	if err != nil {
		return w.fail(err)
	}
	s.Ledger = crashingLedger{s.Ledger, phase}
	a, err := s.Compose()
	if err != nil {
		return w.fail(err)
	}
	res, err := a.Gateway.Generate(a.Scoped(w.ctx, "the-tree-of-the-dead"), generate.Request{Prompt: prompt, Model: model})
	if err != nil {
		return w.fail(err)
	}
	w.line("%s %s", res.Operation, res.Status)
	return exitOK
}

// operationRecords is what the ledger of an environment records about its operations.
type operationRecords struct {
	operations      []string
	statuses        []string
	spent, reserved ledger.Pico
	// estimated is the estimate of the last operation.
	estimated ledger.Pico
	records   int
	digests   []string // of the records, in order
	unsettled int
}

// String returns the records as one row of a report.
func (l operationRecords) String() string {
	return fmt.Sprintf("%s, %d records, %d picodollars spent, %d reserved, %d unsettled", strings.Join(l.statuses, " "), l.records, l.spent, l.reserved, l.unsettled)
}

// operationRecords reads the records from the ledger of an environment.
func (p *testEnv) operationRecords() operationRecords {
	p.t.Helper()
	w := &world{ctx: p.t.Context(), stdout: os.Stdout, stderr: os.Stderr, env: func(k string) string { return p.env[k] }}
	var l operationRecords
	err := w.withStores(func(s *stores) error {
		list, err := s.Ledger.ListOperations(w.ctx, owner, ledger.OperationQuery{})
		if err != nil {
			return err
		}
		for _, o := range list.Items {
			l.operations, l.statuses = append(l.operations, o.ID), append(l.statuses, o.Status)
			if o.EstimatedUSD != nil {
				if l.estimated, err = ledger.ParsePico(*o.EstimatedUSD); err != nil {
					return err
				}
			}
			l.unsettled += strings.Count(string(o.Usage), `"unsettled_calls":`)
		}
		b, err := s.Ledger.Budget(w.ctx, "owner:"+owner)
		l.spent, l.reserved = ledger.Pico(b.Spent), ledger.Pico(b.Reserved)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	items := p.mediaList().Items
	l.records = len(items)
	for _, o := range items {
		l.digests = append(l.digests, o.Digest)
	}
	slices.Sort(l.digests)
	return l
}

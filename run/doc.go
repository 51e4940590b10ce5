// Package run executes agent runs and keeps them: it gives a run its id and scope,
// lets package agent run it, and writes what happens into the ledger — the run and
// its sub-agents' runs, acts, model calls, promoted media, generations, and the event
// log that people follow.
//
// The parts fit together so: an [Observer] and an [Operations] are made on the ledger
// first; the gateway is given the Operations and Observer.Progress, the agents' runner
// the Observer; a [Service] is made on all of them. The transport's Register hook is
// the ledger's RegisterBlob, and the ledger itself is the media.Recorder.
//
// Errors are media.Error values, those of agent and ledger. It may import every room
// below it: media, ledger, generate, action and agent.
package run

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
// A run may belong to a conversation: the person's message is saved before it begins, the
// answer when it ends, also when it fails, with what was chosen for it as attachments.
// Such a run is told of the newest 40 messages, as far as they fit into 24,000 bytes, and
// is granted the 100 items that were attached last.
//
// Errors are media.Error values, those of agent and ledger. It may import every room
// below it: media, ledger, generate, action and agent.
package run

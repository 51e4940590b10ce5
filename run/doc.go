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
// A run that waits for a person is a row of the ledger and nothing else: [Service.Resume] takes the
// answer and goes on, in this process or another. With a durable engine a run whose process
// ended goes on in the same way, [Service.Retry] goes on with one that failed, and
// [Service.Fork] repeats one from a step on; [Again] says what is different then.
//
// Errors are media.Error values, those of agent and ledger. It may import every room
// below it: media, ledger, generate, action and agent.
package run

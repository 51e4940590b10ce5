// Package run executes agent runs: it assigns each run an id and a scope, lets package agent execute it, and saves its
// outcome. Package record writes events to the ledger, package operations the generations, and package conversation the
// messages.
//
// To compose them, create a record.Observer and an operations.Log on the ledger, then the gateway with the Log and
// Observer.Progress, the agents' runner with the Observer, and a [Service] with all of them. The transport's Register
// hook is the ledger's RegisterBlob, and the ledger is the media.Recorder.
//
// A run can belong to a conversation. The person's message is saved before the run starts, and the answer, with the
// chosen items as attachments, when it ends, even if it fails.
//
// A run that waits for a person is only a row of the ledger: [Service.Resume] accepts the answer and continues the run,
// in this process or another. With a durable engine, a run whose process has died is continued in the same way,
// [Service.Retry] continues a failed run, and [Service.Fork] repeats a run from a step on; [ContinueOptions] contains the
// changes.
//
// Errors are media.Error values, those of agent and ledger. It may import all packages below it: media, ledger,
// journal, generate, action and agent.
package run

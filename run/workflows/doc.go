// Package workflows runs media workflows. A workflow run is a run of package run whose agent is Go code,
// [Service.Run]. Lease, adoption, pause, cancel, events, cost and fork are therefore those of runs. A module's Request
// and Execute are steps of its journal. If a module needs a person, an interaction is saved in the ledger and the run
// pauses with a question; the [Service] shows, edits and answers it.
//
// Errors are media.Error values; those of edits and answers are those of package workflow. It may
// import agent, journal, run, ledger, media and the packages of workflow.
package workflows

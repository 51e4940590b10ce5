// Package subactions executes the sub-actions that people start in the interactions of workflows. A click becomes a row
// of content_generation_metadata and a generation of the Gateway in the tree of the workflow's run. Its results become
// rows of generated_content and a patch of the interaction. A click with an identity starts one sub-action, however
// often it is sent. Work belongs to the [Service], not to the request that started it. Another process finishes the
// work that a process leaves. Nothing is paid for twice, because the row's id is the idempotency key of the generation.
//
// Errors are media.Error values. It may import agent, generate, journal, ledger, media, run, run/record and the
// packages of workflow.
package subactions

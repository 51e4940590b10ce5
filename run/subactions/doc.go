// Package subactions executes what people start from the interactions of workflows: a click becomes
// a row of content_generation_metadata and a generation of the Gateway in the tree of the
// workflow's run; its results become rows of generated_content and a patch of the interaction. A
// click with an identity is one sub-action, however often it is sent. Work belongs to the
// [Service], not to the request that started it; another process finishes what a process leaves,
// and nothing is paid for twice, because the id of the row is the idempotency key of the
// generation.
//
// Errors are media.Error values. It may import agent, generate, ledger, media and the packages of
// workflow.
package subactions

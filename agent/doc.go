// Package agent runs agents: definitions read from files, the loop that asks a
// chat model for one JSON step after another, the acts of a step in parallel,
// sub-agents whose media roll up to their parent, and the finishing of an answer.
//
// A [Runner] runs one agent at a time per call; what happens is told to an
// [Observer], which saves and shows it. Media that a run made is stored and recorded
// when it appears and is in the [Result] whatever the model does next, also when the
// run fails or is cancelled. A payload keeps its placeholders; [Resolve] renders them
// at read time.
//
// Errors are media.Error values: invalid and not_found for definitions and requests,
// over_budget, conflict for answers that come too late, bad_response, cancelled and what the chat model
// reports. It may import media, journal, blob, probe, wire, imaging, generate, chat
// and action.
package agent

// Package plan works out what a request would do before anything is spent: the [Planner] chooses the
// model, fits every setting to what its row takes and notes what became of it, splits the results
// over calls, estimates the cost, and makes the pictures of the request fit for the model.
//
// Errors are media.Error values, see [Planner.Plan]. It may import media, imaging, wire, generate,
// generate/catalog, generate/driver and generate/money. It makes no provider call.
package plan

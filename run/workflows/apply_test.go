package workflows_test

import (
	"atelier/workflow/ordered"
	"atelier/workflow/patch"
)

// apply applies a JSON Patch.
func apply(h *testService, data *ordered.Object, text []byte) *ordered.Object {
	h.t.Helper()
	ops, err := patch.Parse(text)
	must(h.t, err)
	next, err := patch.Document{Value: data}.Apply(0, ops)
	must(h.t, err)
	return next.Value
}

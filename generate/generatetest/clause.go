package generatetest

import (
	"slices"
	"strconv"
	"testing"

	"atelier/internal/sim"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
)

// Clause is one requirement of the contract, applied to one driver.
type Clause struct {
	// Name is the name of the scenario or of the fault.
	Name string
	// Fault is true for a fault of the provider.
	Fault bool
	// Variants is the number of variants to test; 0 means that the clause is omitted.
	Variants int
	// Absent says why the clause is omitted; empty for all others.
	Absent string

	play func(t *testing.T, h Harness, variant int)
}

// title returns the name of one variant.
func (c Clause) title(variant int) string {
	if variant == 0 {
		return c.Name
	}
	return c.Name + " variant " + strconv.Itoa(variant)
}

// Clauses returns what [Run] tests and what it omits, in the order of a report: the
// scenarios, then the faults. Every harness has the same names in the same order.
func Clauses(t *testing.T, h Harness) []Clause {
	t.Helper()
	b := h.newBench(t, nil)
	var all []Clause
	for _, s := range scenarios() {
		c := Clause{Name: s.name, Variants: 1, play: func(t *testing.T, h Harness, _ int) {
			t.Helper()
			s.play(t, h)
		}}
		if s.absent != nil {
			c.Absent = s.absent(h, b)
		}
		if c.Absent != "" {
			c.Variants = 0
		}
		all = append(all, c)
	}
	for _, f := range sim.Faults() {
		c := Clause{Name: string(f), Fault: true, Absent: "there is no provider that could fail", play: func(t *testing.T, h Harness, variant int) {
			t.Helper()
			faulty(t, h, sim.Injection{Fault: f, Variant: variant})
		}}
		if b.sim != nil {
			c.Variants, c.Absent = b.sim.Variants(f), b.sim.Absent(f)
		}
		if reason := noStream(h, b); (f == sim.FaultPartialsThenError || f == sim.FaultPreviewLost) && reason != "" && b.sim != nil {
			c.Variants, c.Absent = 0, reason // this model makes no previews, whatever the provider does
		}
		all = append(all, c)
	}
	return all
}

// scenario is one row of the suite.
type scenario struct {
	name string
	// absent says why a driver does not run it; nil means that all drivers do.
	absent func(h Harness, b *bench) string
	play   func(t *testing.T, h Harness)
}

// scenarios is the suite without the faults.
func scenarios() []scenario {
	return []scenario{
		{"ready", nil, ready},
		{"one", nil, singleResult},
		{"several", nil, multipleResults},
		{"sequential calls are independent", nil, independent},
		{"many at once", nil, concurrentCalls},
		{"ended context", nil, rejectsCancelledContext},
		{"bytes are the provider's", noProvider, storesExactBytes},
		{"every setting", scripted, settings},
		{"strict refuses before any call", nil, strict},
		{"bad input is refused before any call", nil, misused},
		{"unfit pictures are converted, refused in strict mode", noConversion, convertsInputs},
		{"n beyond one call", nil, splitCalls},
		{"only the failed call is repeated", noProvider, repeated},
		{"a refused call keeps the others", noProvider, keepsOtherSlots},
		{"failed results are retried once", noProvider, retriesFailedSlots},
		{"moderated results are retried on request only", noProvider, retriesModeratedOnRequest},
		{"edit", noEdit, edit},
		{"edit of a missing picture", noPictures, rejectsMissingInput},
		{"mask", noMask, mask},
		{"variation", noVariation, vary},
		{"poll of an unknown task", nil, pollUnknown},
		{"cancel is idempotent", nil, cancelTwice},
		{"task is adopted by another process", noTask, adoptsTask},
		{"task with a lost id is found by another process", noList, recoversLostTask},
		{"a lost task is distinguished from others", noList, findsTaskByKey},
		{"task with a lost id is recognised by its notification", noAddress, notifiedAfterRestart},
		{"such a task is recognised even after it was given up", noAddress, notifiedLate},
		{"notifications in order", noWebhook, notified},
		{"notifications out of order", noWebhook, notifiedOutOfOrder},
		{"notifications repeated", noWebhook, notifiedAgain},
		{"notifications beside polling", noWebhook, notifiedBesidePolling},
		{"forged notification", noWebhook, forged},
		{"grid is kept and cut", noGrid, grid},
		{"previews, then the picture", noStream, previews},
		{"previews of an edit", noStreamedEdit, previewsOfAnEdit},
	}
}

func noProvider(_ Harness, b *bench) string {
	if b.sim == nil {
		return "there is no provider that could fail"
	}
	return ""
}

func scripted(h Harness, _ *bench) string { return h.ScriptedReason }

func noEdit(_ Harness, b *bench) string {
	if !slices.Contains(b.model.Methods, generate.MethodEdit) {
		return "the model takes no pictures"
	}
	return ""
}

func noPictures(h Harness, b *bench) string {
	if h.ScriptedReason != "" {
		return h.ScriptedReason
	}
	return noEdit(h, b)
}

func noMask(h Harness, b *bench) string {
	if reason := noEdit(h, b); reason != "" {
		return reason
	}
	if !masks(b.model) {
		return "the model takes no mask"
	}
	return ""
}

func noVariation(_ Harness, b *bench) string {
	if !slices.Contains(b.model.Methods, generate.MethodVariation) && !slices.Contains(b.model.Emulates, generate.MethodVariation) {
		return "the model makes no variations"
	}
	return ""
}

// noTask asks the simulator: a provider with tasks has polls that can fail.
func noTask(h Harness, b *bench) string {
	if reason := noProvider(h, b); reason != "" {
		return reason
	}
	return b.sim.Absent(sim.FaultPollFails)
}

func noList(h Harness, b *bench) string {
	if reason := noTask(h, b); reason != "" {
		return reason
	}
	if _, ok := b.driver.(driver.Listed); !ok {
		return "the provider lists no tasks"
	}
	return ""
}

func noWebhook(h Harness, b *bench) string {
	if reason := noTask(h, b); reason != "" {
		return reason
	}
	if _, ok := b.driver.(driver.Notified); !ok {
		return "the provider calls no webhook"
	}
	return ""
}

// noAddress: if the provider lists its tasks, no notification is needed to find one.
func noAddress(h Harness, b *bench) string {
	if reason := noWebhook(h, b); reason != "" {
		return reason
	}
	if _, ok := b.driver.(driver.Listed); ok {
		return "the provider lists its tasks"
	}
	return ""
}

func noGrid(h Harness, _ *bench) string {
	if !h.CutsGrid {
		return "a call gives whole pictures, not a grid"
	}
	return ""
}

func noStream(h Harness, b *bench) string {
	if h.ScriptedReason != "" {
		return h.ScriptedReason
	}
	if !slices.Contains(b.model.Supports, "stream") {
		return "the model gives no previews"
	}
	return ""
}

func noStreamedEdit(h Harness, b *bench) string {
	if reason := noStream(h, b); reason != "" {
		return reason
	}
	return noEdit(h, b)
}

func masks(m catalog.Model) bool { return m.Mask != "" && m.Mask != "none" }

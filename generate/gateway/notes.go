package gateway

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"atelier/generate"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
)

// notes are what an operation says beside its results: warnings for people, and what providers
// answered beside the media. A warning is noted once. notes is safe for concurrent use.
type notes struct {
	mu       sync.Mutex // guards all below
	warnings []string   // saved with the operation
	private  string     // a warning of this process alone, which is not saved
	metadata map[string]any
}

// warn adds a warning.
func (n *notes) warn(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.warnings, text) {
		n.warnings = append(n.warnings, text)
	}
}

// warnHere replaces the warning that is shown and not saved.
func (n *notes) warnHere(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.private = text
}

// retract removes the warnings that begin with a text.
func (n *notes) retract(prefix string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.warnings = slices.DeleteFunc(slices.Clone(n.warnings), func(w string) bool { return strings.HasPrefix(w, prefix) })
}

// saved are the warnings that are saved with the operation.
func (n *notes) saved() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.warnings)
}

// shown are the warnings that this process shows: the saved ones first.
func (n *notes) shown() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := slices.Clone(n.warnings)
	if n.private != "" {
		all = append(all, n.private)
	}
	return all
}

// add adds what a provider answered beside the media; later values replace earlier ones.
func (n *notes) add(said map[string]any) {
	if len(said) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.metadata = join(n.metadata, said)
}

// said is what providers answered beside the media; nil if nothing.
func (n *notes) said() map[string]any {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.metadata)
}

// next is the status that follows an event. An event that the table does not allow is a defect of
// this program: the status stays, and a warning says so.
func (n *notes) next(s operation.Subject, from generate.Status, e operation.Event) generate.Status {
	to, err := operation.Advance(s, from, e)
	if err != nil {
		n.warn("internal error: " + fault.Of(err).Message)
	}
	return to
}

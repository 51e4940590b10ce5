package media

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Set is a run's ordered, deduplicated collection of outputs. Children merge into their parents. It
// decides which items are shown, never which are kept. Items are copied in and out. It is safe for
// concurrent use; the zero value is empty and ready to use.
type Set struct {
	mu     sync.Mutex // guards items, hidden and quoted
	items  []Output
	hidden map[Ref]bool    // pruned: not in List, but still resolved
	quoted map[string]bool // placeholders that are text, see TreatAsText
}

// Add appends o, or merges it into the item with the same digest: the first label is kept, a
// promotion is never undone, lineage grows. It returns the item as the set holds it. Another digest
// under the same ref is [CodeRefCollision] and changes nothing.
func (s *Set) Add(o Output) (Output, error) {
	if o.Ref == "" || o.Digest.IsZero() {
		return Output{}, Errorf(CodeInvalid, "media item %s has no bytes in the store", o)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(o.Ref)
	if i < 0 {
		s.items = append(s.items, o.clone())
		return o, nil
	}
	have := &s.items[i]
	if have.Digest != o.Digest {
		return Output{}, Errorf(CodeRefCollision, "two different items of this run share the ref %s: make this one again with a small change", o.Ref)
	}
	delete(s.hidden, o.Ref)
	have.Promoted = have.Promoted || o.Promoted
	have.Partial = have.Partial && o.Partial
	have.ID = cmp.Or(have.ID, o.ID)
	for _, p := range o.Lineage {
		if !slices.Contains(have.Lineage, p) {
			have.Lineage = append(have.Lineage, p)
		}
	}
	return have.clone(), nil
}

// clone returns o with its own lineage and metadata, so that no caller shares them with the set.
func (o Output) clone() Output {
	o.Lineage, o.Metadata = slices.Clone(o.Lineage), maps.Clone(o.Metadata)
	return o
}

// Merge adds every item of a child's list and returns the first error, if any, after adding the rest.
func (s *Set) Merge(outputs []Output) error {
	var first error
	for _, o := range outputs {
		if _, err := s.Add(o); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Lookup returns the item with a ref, even if it is pruned.
func (s *Set) Lookup(r Ref) (Output, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(r); i >= 0 {
		return s.items[i].clone(), true
	}
	return Output{}, false
}

// Find returns the item of a ref, placeholder or media URL as a model wrote it. The error has code
// [CodeUnknownRef], is retryable and lists the valid refs.
func (s *Set) Find(text string) (Output, error) {
	r, err := ParseRef(text)
	if err == nil {
		if o, ok := s.Lookup(r); ok {
			return o, nil
		}
	}
	return Output{}, s.Unknown(text)
}

// UnknownPlaceholders returns the placeholders in a text that name no item of the set: unknown refs, and the
// texts that [BadRefs] returns. It omits placeholders that are text; see [Set.TreatAsText].
func (s *Set) UnknownPlaceholders(text string) []string {
	bad := BadRefs(text)
	for _, r := range Refs(text) {
		if _, ok := s.Lookup(r); !ok {
			bad = append(bad, string(r))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(bad, func(b string) bool { return s.quoted[b] })
}

// TreatAsText declares the strange placeholders of a text to be text: a person wrote them, so a model
// that repeats them has not invented them.
func (s *Set) TreatAsText(text string) {
	strange := s.UnknownPlaceholders(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quoted == nil {
		s.quoted = map[string]bool{}
	}
	for _, placeholder := range strange {
		s.quoted[placeholder] = true
	}
}

// listedRefs is the maximum number of valid refs that an error lists, the newest ones.
const listedRefs = 50

// Len returns the number of items, including pruned ones.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.items)
}

// Unknown returns the error that a model gets for unknown refs. It lists the newest valid refs.
func (s *Set) Unknown(refs ...string) *Error {
	var valid []string
	for _, o := range s.List() {
		valid = append(valid, string(o.Ref))
	}
	have := "this run has no media yet"
	if all := len(valid); all > 0 {
		valid = valid[max(0, all-listedRefs):]
		have = "valid refs are " + strings.Join(valid, ", ")
		if older := all - len(valid); older > 0 {
			have += fmt.Sprintf(" and %d older ones: see List Agent Media", older)
		}
	}
	named := make([]string, len(refs))
	for i, r := range refs {
		named[i] = clip(r)
	}
	e := Errorf(CodeUnknownRef, "unknown media ref %s: %s", strings.Join(named, ", "), have)
	e.Valid, e.Retryable = valid, true
	return e
}

// List returns copies of the visible items in order.
func (s *Set) List() []Output { return s.filter(func(o Output) bool { return !s.hidden[o.Ref] }) }

// All returns copies of all items, including pruned ones.
func (s *Set) All() []Output { return s.filter(func(Output) bool { return true }) }

// Promoted returns copies of the promoted items in order.
func (s *Set) Promoted() []Output { return s.filter(func(o Output) bool { return o.Promoted }) }

func (s *Set) filter(keep func(Output) bool) []Output {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Output, 0, len(s.items))
	for _, o := range s.items {
		if keep(o) {
			out = append(out, o.clone())
		}
	}
	return out
}

// Promote chooses an item for the answer. A non-empty label or description replaces the old one. It
// returns false for an unknown ref.
func (s *Set) Promote(r Ref, label, description string) (Output, bool) {
	return s.update(r, func(o *Output) {
		o.Promoted = true
		o.describe(label, description)
		delete(s.hidden, r)
	})
}

// Arrange puts the named items into the given order, in the positions that they occupy. Parallel
// acts use it, so that the requested order replaces the order of completion.
func (s *Set) Arrange(refs []Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var places []int
	var items []Output
	for _, r := range refs {
		if i := s.index(r); i >= 0 && !slices.Contains(places, i) {
			places, items = append(places, i), append(items, s.items[i])
		}
	}
	slices.Sort(places)
	for n, i := range places {
		s.items[i] = items[n]
	}
}

func (o *Output) describe(label, description string) {
	o.Label, o.Description = cmp.Or(label, o.Label), cmp.Or(description, o.Description)
}

func (s *Set) update(r Ref, change func(*Output)) (Output, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(r)
	if i < 0 {
		return Output{}, false
	}
	change(&s.items[i])
	return s.items[i].clone(), true
}

// index returns the index of a ref, or -1; the caller holds mu.
func (s *Set) index(r Ref) int {
	return slices.IndexFunc(s.items, func(o Output) bool { return o.Ref == r })
}

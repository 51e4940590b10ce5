package media

// ChangeKind is the kind of a [Change].
type ChangeKind string

// The kinds. None of them changes bytes or records: they decide what is shown.
const (
	ChangePrune   ChangeKind = "prune"   // hide from List; placeholders still resolve
	ChangeLabel   ChangeKind = "label"   // new label or description
	ChangePromote ChangeKind = "promote" // choose for the answer
	ChangeView    ChangeKind = "view"    // show the pixels to the model on its next turn
)

// Change is one decision about an item of a run. It is small and JSON-encodable, so that a journal can replay it.
type Change struct {
	Kind ChangeKind `json:"kind"`
	Ref  Ref        `json:"ref"`
	// Label and Description apply to label and promote; empty values keep the old ones.
	Label       string `json:"label,omitempty"`
	Description string `json:"description,omitempty"`
}

// Apply applies the change and returns the item. It returns false for an unknown ref and an unknown
// kind. It is idempotent. A view changes nothing.
func (s *Set) Apply(c Change) (Output, bool) {
	switch c.Kind {
	case ChangePrune:
		return s.update(c.Ref, func(*Output) {
			if s.hidden == nil {
				s.hidden = map[Ref]bool{}
			}
			s.hidden[c.Ref] = true
		})
	case ChangeLabel:
		return s.update(c.Ref, func(o *Output) { o.describe(c.Label, c.Description) })
	case ChangePromote:
		return s.Promote(c.Ref, c.Label, c.Description)
	case ChangeView:
	default:
		return Output{}, false
	}
	return s.Lookup(c.Ref)
}

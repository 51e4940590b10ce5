package transcript

import (
	"slices"

	"atelier/chat"
	"atelier/media"
)

// Sight is a picture that the model is shown.
type Sight struct {
	// Ref is the item of the run; shown the form in which the model takes it.
	Ref    media.Ref
	Shown  media.Output
	Detail string
	// Turns is for how many turns it stays after its message.
	Turns int
	// Given marks pictures that came with an answer, Policy those that were shown unasked.
	Given, Policy bool
}

// partsOf puts pictures into a message, each behind its ref.
func partsOf(list []Sight) []chat.Part {
	var out []chat.Part
	for _, s := range list {
		out = append(out, chat.Part{Text: "\n" + string(s.Ref) + ":"}, chat.Part{Media: &s.Shown, Detail: s.Detail})
	}
	return out
}

// BytesOf is the size of pictures together.
func BytesOf(list []Sight) (n int64) {
	for _, s := range list {
		n += s.Shown.SizeBytes
	}
	return n
}

// Shows reports whether a message shows a picture already.
func (r *Results) Shows(ref media.Ref) bool {
	return slices.ContainsFunc(r.Views, func(s Sight) bool { return s.Ref == ref })
}

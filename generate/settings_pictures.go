package generate

import (
	"slices"
	"strings"

	"atelier/media"
)

// The words that stand for a variation where a model only edits.
const variationPrompt = "Make a variation of this picture: keep its subject, its style and its mood, and change composition and details."

// method chooses what the model is really asked for.
func (n *negotiation) method() {
	if !slices.Contains(n.model.Emulates, n.task.Method) {
		return
	}
	n.task.Method = MethodEdit
	n.task.Prompt = strings.TrimSpace(variationPrompt + " " + n.task.Prompt)
	n.adapted("method", string(n.req.Method), string(MethodEdit), n.model.Name+" has no variations; the picture is edited with a prompt that asks for one")
}

// pictures refuses what cannot be looked at, as far as facts tell. What has to be
// converted is converted by [Gateway.prepare].
func (n *negotiation) pictures() error {
	if len(n.req.Inputs) == 0 {
		return nil
	}
	for _, o := range n.req.Inputs {
		if err := picture(o); err != nil {
			return err
		}
	}
	n.applied("inputs", refNames(n.req.Inputs...))
	return n.mask()
}

// mask checks the mask against the first input.
func (n *negotiation) mask() error {
	m := n.req.Mask
	if m == nil {
		return nil
	}
	if err := picture(*m); err != nil {
		return err
	}
	if err := sameSize(*m, n.req.Inputs[0], sides{m.Width, m.Height}); err != nil {
		return err
	}
	n.applied("mask", told(*m))
	return nil
}

// room is nil if the model takes as many pictures, and a mask if there is one.
func (m Model) room(r Request) error {
	switch have := len(r.Inputs); {
	case have > m.MaxInputs:
		return media.Errorf(media.CodeUnsupported, "%d input pictures and %s takes %d: use fewer, or another model", have, m.Name, m.MaxInputs)
	case r.Mask != nil && (m.Mask == "" || m.Mask == "none"):
		return media.Errorf(media.CodeUnsupported, "%s takes no mask: say in the prompt what to change, or use another model", m.Name)
	}
	return nil
}

// picture refuses what has no pixels to edit.
func picture(o media.Output) error {
	switch {
	case o.Digest.IsZero():
		return media.Errorf(media.CodeInvalid, "the input %s has no bytes in the store: store it first", o)
	case o.Modality != media.ModalityImage:
		return media.Errorf(media.CodeUnsupported, "%s is no picture but %s: only png, jpeg, webp, gif and bmp pictures can be edited", told(o), o.MIMEType)
	case !isRaster(o.MIMEType):
		return media.Errorf(media.CodeUnsupported, "%s is %s and has no pixels that can be read: only png, jpeg, webp, gif and bmp pictures can be edited", told(o), o.MIMEType)
	}
	return nil
}

// sameSize compares a mask with its picture, where both sizes are known.
func sameSize(mask, of media.Output, have sides) error {
	if have.w == 0 || of.Width == 0 || have.w == of.Width && have.h == of.Height {
		return nil
	}
	return media.Errorf(media.CodeInvalid, "the mask %s is %s and the picture %s is %s: make the mask in the picture's size",
		told(mask), have, told(of), sides{of.Width, of.Height})
}

// refNames lists pictures for a disposition.
func refNames(outputs ...media.Output) string {
	names := make([]string, len(outputs))
	for i, o := range outputs {
		names[i] = told(o)
	}
	return strings.Join(names, ", ")
}

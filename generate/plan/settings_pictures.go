package plan

import (
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/media"
)

// The words that stand for a variation where a model only edits.
const variationPrompt = "Make a variation of this picture: keep its subject, its style and its mood, and change composition and details."

// method chooses what the model is really asked for.
func (n *negotiation) method() {
	if !slices.Contains(n.model.Emulates, n.task.Method) {
		return
	}
	n.task.Method = generate.MethodEdit
	n.task.Prompt = strings.TrimSpace(variationPrompt + " " + n.task.Prompt)
	n.adapted("method", string(n.req.Method), string(generate.MethodEdit), n.model.Name+" has no variations; the picture is edited with a prompt that asks for one")
}

// pictures refuses what cannot be looked at, as far as facts tell. What has to be
// converted is converted by [gateway.Gateway.prepare].
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
	if err := sameSize(*m, n.req.Inputs[0], catalog.Sides{W: m.Width, H: m.Height}); err != nil {
		return err
	}
	n.applied("mask", displayName(*m))
	return nil
}

// picture refuses what has no pixels to edit.
func picture(o media.Output) error {
	switch {
	case o.Digest.IsZero():
		return media.Errorf(media.CodeInvalid, "the input %s has no bytes in the store: store it first", o)
	case o.Modality != media.ModalityImage:
		return media.Errorf(media.CodeUnsupported, "%s is no picture but %s: only png, jpeg, webp, gif and bmp pictures can be edited", displayName(o), o.MIMEType)
	case !catalog.IsRaster(o.MIMEType):
		return media.Errorf(media.CodeUnsupported, "%s is %s and has no pixels that can be read: only png, jpeg, webp, gif and bmp pictures can be edited", displayName(o), o.MIMEType)
	}
	return nil
}

// sameSize compares a mask with its picture, where both sizes are known.
func sameSize(mask, of media.Output, have catalog.Sides) error {
	if have.W == 0 || of.Width == 0 || have.W == of.Width && have.H == of.Height {
		return nil
	}
	return media.Errorf(media.CodeInvalid, "the mask %s is %s and the picture %s is %s: make the mask in the picture's size",
		displayName(mask), have, displayName(of), catalog.Sides{W: of.Width, H: of.Height})
}

// refNames lists pictures for a disposition.
func refNames(outputs ...media.Output) string {
	names := make([]string, len(outputs))
	for i, o := range outputs {
		names[i] = displayName(o)
	}
	return strings.Join(names, ", ")
}

package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atelier/internal/pattern"
)

// maxListed is the maximum number of pictures that an answer lists or shows.
const maxListed = 12

// listAction is the action that reads the record of a conversation's pictures.
const listAction = "List Agent Media"

var (
	// polite matches the words around those of a change.
	polite = pattern.Lazy(`(?i)^\s*(?:(?:now|then|ok(?:ay)?|please|and|also|next|so|just|(?:can|could|would|will) you|jetzt|nun|bitte|und),?\s+)*(?:(?:go back|return) to \S+ \S+(?: \w+)? and )?(?:make (?:(?:this|that|the) (?:(?:first|second|third|last) )?(?:one|picture|image|photo|illustration|drawing)|it|this|that|them) (?:of them )?|mache? (?:es|das bild|das|sie) )?|[\s.?!]+$`)
	// recalls matches a request to see existing pictures again.
	recalls = pattern.Lazy(`(?i)\b(?:show|see|give|send|zeige?)\b[^.?!\n]*\b(?:it|that|this|them|those|these|the|both|all|es|das|sie|beide|alle)\b[^.?!\n]*\b(?:again|noch ?mal|noch einmal|wieder)\b|^\s*(?:please\s+)?(?:can you\s+|could you\s+)?show\s+(?:me\s+)?(?:it|them|both|img-[0-9a-z]{8}|the (?:first|second|third|last|latest|previous|original)(?: (?:one|picture|image|photo|illustration|drawing|version))?)\s*(?:please)?[.!?]*\s*$`)
	// lists matches a question for the record.
	lists = pattern.Lazy(`(?i)^\s*(?:please\s+|bitte\s+)?(?:(?:can|could) you\s+)?(?:list|show)\b[^.?!\n]*\b(?:my|our|your|all|the)\s+(?:\w+\s+)?(?:pictures|images|photos|drawings|media)\b` +
		`|\b(?:what|which(?: pictures| images)?|how many(?: pictures| images)?)\s+(?:have|did|do)\s+(?:you|we|i)\s+(?:already\s+)?(?:made?|drawn?|draw|painted?|created?|generated?|have|got)\b|\bwhich (?:pictures|images) (?:are there|do (?:we|i) have)\b` +
		`|^\s*(?:bitte\s+)?(?:liste?|zeige?|nenne?)\b[^.?!\n]*\b(?:meine|unsere|deine|alle|die)\s+(?:\p{L}+\s+)?(?:bilder|fotos|zeichnungen|medien)(?:\s+auf)?[\s.!?]*$` +
		`|\b(?:was|welche bilder|wie viele bilder)\s+(?:hast du|haben wir|habe ich|gibt es)\b[^.?!\n]*`)
)

// recall answers what needs no new picture: it lists existing pictures or shows them again.
// It returns false if the task is not about existing pictures.
func recall(c *conversation) (step, bool) {
	refs := c.editableRefs()
	lang := wordsFor(c.task)
	switch {
	case lists().MatchString(c.task):
		if c.canCall(listAction) && len(c.actionResults(listAction)) == 0 {
			return step{Reasoning: "The record knows.", Actions: []actionCall{{Name: listAction, Params: map[string]any{"Modality": "image"}}}}, true
		}
		return finish("The pictures are listed.", c.pictureListing(lang)), true
	case len(refs) == 0 || len(c.results) > 0:
		return step{}, false
	case recalls().MatchString(c.task) && len(unknown(c.task, refs)) > 0:
		return c.notKnown(unknown(c.task, refs), lang), true
	case recalls().MatchString(c.task):
		s := finish("The picture is there.", lang.Say("Here again:", "Hier noch einmal:"))
		again := c.targetRefs(c.task)
		for _, r := range again[max(0, len(again)-maxListed):] {
			s.Promote = append(s.Promote, promotion{Ref: r})
			s.Message += " ${media:" + r + "}"
		}
		return s, true
	case asksForInformation(c.task) && (wantsPicture().MatchString(c.task) || namedRef().MatchString(c.task)):
		return finish("A question about pictures.", c.pictureListing(lang)+" "+lang.Say("I know them by their names and sizes; what they show, a language model that sees pictures can tell.", "Ich kenne sie nach Namen und Größe; was sie zeigen, kann ein Sprachmodell sagen, das Bilder sieht.")), true
	}
	return step{}, false
}

// pictureListing lists the pictures of a conversation in the order in which they were added: those
// of the record, if it was read.
func (c *conversation) pictureListing(lang wording) string {
	refs := c.editableRefs()
	total := len(refs)
	for _, r := range c.actionResults(listAction) {
		var record struct {
			MediaReferences []item
			TotalCount      int
		}
		if json.Unmarshal(r.Outputs, &record) != nil {
			continue
		}
		c.media, refs, total = append(c.media, record.MediaReferences...), nil, record.TotalCount
		for _, i := range record.MediaReferences {
			refs = append(refs, i.Ref)
		}
	}
	switch total {
	case 0:
		return lang.Say("Nothing yet: there is no picture in this conversation. All pictures that are kept are listed by `atelier media list`.", "Noch nichts: In diesem Gespräch gibt es kein Bild. Alle aufbewahrten Bilder listet `atelier media list`.")
	case 1:
		return lang.Say("There is one picture", "Es gibt ein Bild") + ": " + c.named(refs[0]) + "."
	}
	from := max(0, len(refs)-maxListed)
	var list []string
	for i, r := range refs[from:] {
		list = append(list, fmt.Sprintf("%d. %s", from+i+1, c.named(r)))
	}
	text := fmt.Sprintf(lang.Say("There are %d pictures", "Es gibt %d Bilder"), total)
	if from > 0 {
		text += " (" + fmt.Sprint(from+1) + "–" + fmt.Sprint(len(refs)) + ")"
	}
	return text + ": " + strings.Join(list, "; ") + "."
}

func (c *conversation) named(ref string) string {
	name := ref
	if label := c.label(ref); label != "" {
		name += ", " + label
	}
	for _, i := range slices.Backward(c.media) {
		if i.Ref == ref && i.Width > 0 {
			return name + fmt.Sprintf(" (%d × %d)", i.Width, i.Height)
		}
	}
	return name
}

// changed returns the label of a changed picture: what it was and what changed.
func (c *conversation) changed(w pictureRequest) string {
	sentences := strings.SplitAfter(strings.TrimSpace(w.change), ". ")
	what := clip(polite().ReplaceAllString(sentences[len(sentences)-1], ""), 60)
	if variation().MatchString(w.change) {
		what = "variation"
	}
	was := subject(w.draw)
	if refs := c.targetRefs(w.change); was == "" && len(refs) == 1 {
		was, _, _ = strings.Cut(c.label(refs[0]), ": ")
	}
	if was == "" {
		return what
	}
	return clip(was, 60) + ": " + what
}

func (c *conversation) label(ref string) string {
	for _, i := range slices.Backward(c.media) {
		if i.Ref == ref && i.Label != "" {
			return i.Label
		}
	}
	return ""
}

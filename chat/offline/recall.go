package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// mostListed is how many pictures an answer lists or shows at most.
const mostListed = 12

var (
	// polite is what surrounds the words of a change.
	polite = regexp.MustCompile(`(?i)^\s*(?:(?:now|then|ok(?:ay)?|please|and|also|next|so|just|(?:can|could|would|will) you),?\s+)*(?:(?:go back|return) to \S+ \S+(?: \w+)? and )?(?:make (?:(?:this|that|the) (?:(?:first|second|third|last) )?(?:one|picture|image|photo|illustration|drawing)|it|this|that|them) (?:of them )?)?|[\s.?!]+$`)
	// byLabel finds what tells one picture from the others: the picture with the dog.
	byLabel = regexp.MustCompile(`(?i)\b(?:picture|image|photo|illustration|drawing|painting|one)s? (?:of|with|showing) (?:the |an? )?([\p{L}\d-]+)`)
)

// suggestion is a wish in the form of a question.
var suggestion = regexp.MustCompile(`(?i)^\s*(?:(?:how|what) about|why (?:not|don't))\b`)

// recall answers what needs no new picture: what is there is shown again or listed.
// It gives false when the task is not about pictures that are there.
func recall(c *conversation) (step, bool) {
	refs := c.pictures()
	switch {
	case len(refs) == 0 || len(c.results) > 0:
		return step{}, false
	case recalls.MatchString(c.task) && len(unknown(c.task, refs)) == 0:
		again := c.meant(c.task)
		s := step{Reasoning: "The picture is there.", Done: true, Message: "Here it is again."}
		if len(again) > 1 {
			s.Message = "Here they are again."
		}
		for _, r := range again[max(0, len(again)-mostListed):] {
			s.Promote = append(s.Promote, promotion{Ref: r})
			s.Message += " ${media:" + r + "}"
		}
		return s, true
	case asks(c.task) && (wantsPicture.MatchString(c.task) || namedRef.MatchString(c.task)):
		return step{
			Reasoning: "A question about pictures.", Done: true,
			Message: c.known() + " I know them by their names and sizes; what they show, a language model that sees pictures can tell.",
		}, true
	}
	return step{}, false
}

// asks tells a question from a wish.
func asks(task string) bool {
	return question.MatchString(task) && !makesNew.MatchString(task) && !suggestion.MatchString(task)
}

// known lists the pictures of a conversation, in the order in which they came.
func (c *conversation) known() string {
	refs := c.pictures()
	switch len(refs) {
	case 0:
		return "There is no picture yet."
	case 1:
		return "There is one picture: " + c.named(refs[0]) + "."
	}
	from := max(0, len(refs)-mostListed)
	var list []string
	for i, r := range refs[from:] {
		list = append(list, fmt.Sprintf("%d. %s", from+i+1, c.named(r)))
	}
	text := fmt.Sprintf("There are %d pictures", len(refs))
	if from > 0 {
		text += fmt.Sprintf(", of which the last %d are", mostListed)
	}
	return text + ": " + strings.Join(list, "; ") + "."
}

// named is a picture's ref, label and size.
func (c *conversation) named(ref string) string {
	for _, i := range c.media {
		if i.Ref != ref {
			continue
		}
		if i.Label != "" {
			ref += ", " + i.Label
		}
		if i.Width > 0 {
			ref += fmt.Sprintf(" (%d × %d)", i.Width, i.Height)
		}
		break
	}
	return ref
}

// changed is the label of a changed picture: what it was and what became different.
func (c *conversation) changed(w wish) string {
	sentences := strings.SplitAfter(strings.TrimSpace(w.change), ". ")
	what := clip(polite.ReplaceAllString(sentences[len(sentences)-1], ""), 60)
	if variation.MatchString(w.change) {
		what = "variation"
	}
	was := subject(w.draw)
	if refs := c.meant(w.change); was == "" && len(refs) == 1 {
		was, _, _ = strings.Cut(c.label(refs[0]), ": ")
	}
	if was == "" {
		return what
	}
	return clip(was, 60) + ": " + what
}

// label is the newest label of a picture.
func (c *conversation) label(ref string) string {
	for _, i := range slices.Backward(c.media) {
		if i.Ref == ref && i.Label != "" {
			return i.Label
		}
	}
	return ""
}

// meant chooses the pictures that a wish is about: by a word of their labels, else as
// the words say.
func (c *conversation) meant(text string) []string {
	refs := c.pictures()
	if m := byLabel.FindStringSubmatch(text); m != nil && !namedRef.MatchString(text) {
		for _, r := range slices.Backward(refs) {
			if strings.Contains(strings.ToLower(c.label(r)), strings.ToLower(m[1])) {
				return []string{r}
			}
		}
	}
	return meant(text, refs)
}

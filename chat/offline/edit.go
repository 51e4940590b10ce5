package offline

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// thenChange finds the second wish of "draw a boat, then make it bluer".
	thenChange = regexp.MustCompile(`(?i)[,;.]?\s+(?:and\s+)?(?:then|afterwards|after that)[,]?\s+((?:make|turn|change|edit|vary|add|remove|replace|put|recolou?r|give|show)\b.*)`)
	// changeOfOne finds a wish that is about a picture which is there.
	changeOfOne = regexp.MustCompile(`(?i)\b(?:edit|change|alter|modify|retouch|recolou?r|adjust|crop|blur|sharpen|add|remove|replace|make|turn|put|invert|flip|mirror)\b[^.?!]*\b(?:it|its|this|that|these|those|them|both|the (?:first|second|third|last|same|previous|picture|image|photo|illustration|drawing)|img-[0-9a-z]{8})\b`)
	comparison  = regexp.MustCompile(`(?i)^\s*(?:a (?:bit|little) |much |please |now )*(?:bluer|redder|greener|warmer|colder|cooler|darker|brighter|lighter|sharper|softer|more \w+|less \w+)\b`)
	variation   = regexp.MustCompile(`(?i)\b(?:vary|variations?|variants?|other versions?|another version)\b`)
	makesNew    = regexp.MustCompile(`(?i)\b(?:draw|paint|render|generate|create)\s+(?:me\s+)?(?:a|an|one|two|three|four|five|six|[0-9]|some|another)\b`)
	namedRef    = regexp.MustCompile(`\bimg-[0-9a-z]{8}\b`)
)

// wish is what a person wants of pictures: a new one, a change of one, or first the one
// and then the other.
type wish struct{ draw, change string }

// readWish parts a task.
func readWish(c *conversation) wish {
	w := wish{}
	first := c.task
	if at := thenChange.FindStringSubmatchIndex(c.task); at != nil {
		first, w.change = c.task[:at[0]], strings.TrimSpace(c.task[at[2]:at[3]])
	}
	has := len(c.pictures()) > 0
	change := changeOfOne.MatchString(first) || comparison.MatchString(first)
	vary := variation.MatchString(first)
	fresh := makesNew.MatchString(first) || ofWhat.MatchString(first) && !change
	if vary && has { // variations of what is there are nothing new
		fresh = false
	}
	switch {
	case w.change == "" && !fresh && (change || vary):
		w.change = first
	case c.can("Generate Image") && (fresh || wantsPicture.MatchString(first) || command.MatchString(first)):
		w.draw = first
	}
	return w
}

// action is what a change is made with.
func (wish) action(text string) string {
	if variation.MatchString(text) {
		return "Vary Image"
	}
	return "Edit Image"
}

// pictures are those that can be changed: granted ones, then those made in this task.
func (c *conversation) pictures() []string {
	var refs []string
	add := func(items []item) {
		for _, i := range items {
			if strings.HasPrefix(i.Ref, "img-") && !slices.Contains(refs, i.Ref) {
				refs = append(refs, i.Ref)
			}
		}
	}
	add(c.media)
	for _, r := range c.did("Generate Image") {
		add(images(r.Outputs))
	}
	return refs
}

// meant chooses the pictures that a wish is about: the named ones, all, one by its
// number, else the newest.
func meant(text string, refs []string) []string {
	var named []string
	for _, r := range namedRef.FindAllString(text, -1) {
		if slices.Contains(refs, r) {
			named = append(named, r)
		}
	}
	lower := strings.ToLower(text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
	}
	last := len(refs) - 1
	switch {
	case len(named) > 0:
		return named
	case has("both", "these", "all of", "combine", "side by side", "together"):
		return refs
	case has("first"):
		return refs[:1]
	case has("second"):
		return refs[min(1, last):min(2, last+1)]
	case has("third"):
		return refs[min(2, last):min(3, last+1)]
	}
	return refs[last:]
}

// alter asks for the change, and gives false when it has been made already.
func alter(c *conversation, w wish) (step, bool) {
	name := w.action(w.change)
	refs := c.pictures()
	switch {
	case !c.can(name):
		return step{Reasoning: "That cannot be done here.", Done: true, Message: "I cannot change pictures here: " + name + " is not among my actions."}, true
	case len(c.did(name)) > 0:
		return step{}, false
	case len(refs) == 0:
		return step{Reasoning: "There is nothing to change.", Done: true, Message: "There is no picture to change yet: give me one, or ask me to draw one first."}, true
	}
	p := map[string]any{"Prompt": w.change, "Images": meant(w.change, refs), "NumberOfImages": pictures(w.change, 1)}
	return step{Reasoning: "A picture that is there is to be changed.", Actions: []actionCall{{Name: name, Params: p}}}, true
}

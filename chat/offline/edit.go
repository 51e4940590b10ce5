package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// thenChange finds the second wish of "draw a boat, then make it bluer".
	thenChange = regexp.MustCompile(`(?i)[,;.]?\s+(?:and\s+)?(?:then|afterwards|after that)[,]?\s+((?:make|turn|change|edit|vary|add|remove|replace|put|recolou?r|give|show)\b.*)`)
	// changeOfOne finds a wish that is about a picture which is there.
	changeOfOne = regexp.MustCompile(`(?i)\b(?:edit|change|alter|modify|retouch|recolou?r|adjust|crop|blur|sharpen|add|remove|replace|make|turn|put|invert|flip|mirror)\b[^.?!]*\b(?:it|its|this|that|these|those|them|both|the (?:first|second|third|last|same|previous|picture|image|photo|illustration|drawing)|img-[0-9a-z]{8})\b`)
	comparison  = regexp.MustCompile(`(?i)^\s*(?:a (?:bit|little) |much |please |now )*(?:bluer|redder|greener|warmer|colder|cooler|darker|brighter|lighter|sharper|softer|more \w+|less \w+)\b`)
	variation   = regexp.MustCompile(`(?i)\b(?:vary|variations?|variants?|other versions?|another version)\b`)
	// changeVerb begins an order that, where pictures are, is about one of them: "add a
	// boat", "make the cat red", "can you brighten the sky".
	changeVerb = regexp.MustCompile(`(?i)(?:^|[.!?;,]\s+)(?:(?:now|then|ok(?:ay)?|please|and|also|next|so|just),?\s+)*(?:(?:can|could|would|will) you\s+)?(?:please\s+)?(?:add|remove|erase|replace|brighten|darken|lighten|soften|sharpen|blur|crop|rotate|flip|mirror|invert|recolou?r|retouch|resize|combine|merge|make (?:the|his|her|their|everything|picture \d+|image \d+)|(?:turn|change|put|move|colou?r|tint) (?:the|his|her|their|everything))\b`)
	// judgement finds what is wrong with a picture: "the sky is too dark".
	judgement = regexp.MustCompile(`(?i)\b(?:is|are|looks?|seems?|it's)\s+(?:still\s+)?(?:too|not \w+ enough)\b`)
	// recalls finds a wish to see again what is there.
	recalls = regexp.MustCompile(`(?i)\b(?:show|see|give|send)\b[^.?!\n]*\b(?:it|that|this|them|those|these|the|both|all)\b[^.?!\n]*\bagain\b|^\s*(?:please\s+)?(?:can you\s+|could you\s+)?show\s+(?:me\s+)?(?:it|them|both|all|img-[0-9a-z]{8}|the (?:first|second|third|last|latest|previous|original)(?: (?:one|picture|image|photo|illustration|drawing|version))?)\s*(?:please)?[.!?]*\s*$`)
	// question finds what asks to be told and not to be shown.
	question = regexp.MustCompile(`(?i)^\s*(?:(?:and|so|ok(?:ay)?|well|hi|hello),?\s+)*(?:what|which|who|where|when|why|how|do|does|did|is|are|was|were|have|has|tell me|describe|explain)\b`)
	makesNew = regexp.MustCompile(`(?i)\b(?:draw|paint|render|generate|create)\s+(?:me\s+)?(?:a|an|one|two|three|four|five|six|[0-9]|some|another)\b`)
	// byNumber finds "the second one", "picture 2", not "a second boat".
	byNumber = regexp.MustCompile(`(?i)\b(?:(first|second|third|fourth|fifth)(?:\s+(?:one|picture|image|photo|illustration|drawing|version|of)\b|\s*(?:$|[,.;:!?]|and\b))|(?:picture|image|photo|number|no\.?)\s+#?(\d{1,3})\b)`)
	places   = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
	namedRef = regexp.MustCompile(`\bimg-[0-9a-z]{8}\b`)
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
	change := changeOfOne.MatchString(first) || comparison.MatchString(first) ||
		has && (changeVerb.MatchString(first) || judgement.MatchString(first))
	vary := variation.MatchString(first)
	fresh := makesNew.MatchString(first) || ofWhat.MatchString(first) && !change && !asks(first)
	if vary && has { // variations of what is there are nothing new
		fresh = false
	}
	switch {
	case w.change == "" && !fresh && (change || vary):
		w.change = first
	case c.can("Generate Image") && (fresh || !asks(first) && (wantsPicture.MatchString(first) || command.MatchString(first))):
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
	case last < 0 || len(named) > 0:
		return named
	case last > 0 && has("first and the last", "first and last", "first with the last"):
		return []string{refs[0], refs[last]}
	case has("both", "these", "all of", "combine", "side by side", "together"):
		return refs
	}
	if m := byNumber.FindStringSubmatch(lower); m != nil {
		n, ok := places[m[1]]
		if !ok {
			n, _ = strconv.Atoi(m[2])
		}
		at := min(max(n-1, 0), last)
		return refs[at : at+1]
	}
	return refs[last:]
}

// unknown gives the refs that a text names and that are not there.
func unknown(text string, refs []string) []string {
	var out []string
	for _, r := range namedRef.FindAllString(text, -1) {
		if !slices.Contains(refs, r) && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
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
	case len(unknown(w.change, refs)) > 0:
		return step{Reasoning: "The picture is not known.", Done: true, Message: "There is no " + strings.Join(unknown(w.change, refs), ", ") + " in this conversation. " + c.known()}, true
	case len(refs) == 0:
		return step{Reasoning: "There is nothing to change.", Done: true, Message: "There is no picture to change yet: give me one, or ask me to draw one first."}, true
	}
	p := map[string]any{"Prompt": w.change, "Images": c.meant(w.change), "NumberOfImages": min(pictures(w.change, 1), mostAtOnce)}
	return step{Reasoning: "A picture that is there is to be changed.", Actions: []actionCall{{Name: name, Params: p}}}, true
}

package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"atelier/internal/pattern"
)

var (
	// thenChange matches the second request of "draw a boat, then make it bluer".
	thenChange = pattern.Lazy(`(?i)[,;.]?\s+(?:(?:and|und)\s+)?(?:(?:then|afterwards|after that|dann|danach)[,]?\s+((?:make|turn|change|edit|vary|add|remove|replace|put|recolou?r|give|show|mach|füg|änder|entfern|variier)\w*\b.*)|und\s+((?:mach|füg|änder)\w*\s+(?:es|ihn|sie|das bild)\b.*))`)
	// changeOfOne matches a request to change an existing picture.
	changeOfOne = pattern.Lazy(`(?i)\b(?:edit|change|alter|modify|retouch|recolou?r|adjust|crop|blur|sharpen|add|remove|erase|replace|make|turn|put|invert|flip|mirror)\b[^.?!]*\b(?:it|its|this|that|these|those|them|both|the (?:first|second|third|last|same|previous|picture|image|photo|illustration|drawing)|img-[0-9a-z]{8})\b` +
		`|(?:^|\s)(?:mach|mache|änder\w*|färbe?|drehe?|spiegel\w*|entfern\w*|lösch\w*|ersetz\w*|bearbeite)\s+(?:mir\s+)?(?:es|das|ihn|sie|den|die|dies\w*|beide|bild\s+\d+|img-[0-9a-z]{8})(?:\s|$)|(?:^|\s)füg\w*\b[^.?!]*\b(?:hinzu|ein)\b`)
	comparison = pattern.Lazy(`(?i)^\s*(?:(?:a (?:bit|little)|much|please|now|etwas|ein bisschen|viel|bitte|jetzt|nun)\s+)*(?:bluer|redder|greener|warmer|colder|cooler|darker|brighter|lighter|sharper|softer|more \w+|less \w+|blauer|röter|grüner|gelber|wärmer|kälter|kühler|dunkler|heller|bunter|weicher|mehr \p{L}+|weniger \p{L}+)(?:[\s.,!?]|$)`)
	variation  = pattern.Lazy(`(?i)\b(?:vary|variations?|variants?|other versions?|another version|variier\w*|varianten?)\b`)
	// changeVerb matches an order that, if there are pictures, is about one of them: "add a
	// boat", "make the cat red", "can you brighten the sky".
	changeVerb = pattern.Lazy(`(?i)(?:^|[.!?;,]\s+)(?:(?:now|then|ok(?:ay)?|please|and|also|next|so|just|jetzt|nun|bitte|und|auch),?\s+)*(?:(?:can|could|would|will) you\s+)?(?:please\s+)?(?:add|remove|erase|delete|replace|brighten|darken|lighten|soften|sharpen|blur|crop|rotate|flip|mirror|invert|recolou?r|retouch|resize|combine|merge|make (?:the|his|her|their|everything|picture \d+|image \d+)|(?:turn|change|put|move|colou?r|tint) (?:the|his|her|their|everything)|entfern\w*|lösch\w*|ersetz\w*)\b`)
	// judgement matches a complaint about a picture: "the sky is too dark".
	judgement = pattern.Lazy(`(?i)\b(?:is|are|looks?|seems?|it's|ist|sind|wirkt)\s+(?:(?:still|noch)\s+)?(?:too|zu|not \w+ enough)\b`)
	// questionForm matches a request for information, not for a picture.
	questionForm = pattern.Lazy(`(?i)^\s*(?:(?:and|so|ok(?:ay)?|well|hi|hello|und|hallo),?\s+)*(?:what|which|who|where|when|why|how|do|does|did|is|are|was|were|have|has|tell me|describe|explain|welche[rsnm]?|wer|wo|wann|warum|wieso|wie|hast|gibt es|beschreibe?|erkläre?)(?:\s|$)`)
	// suggestion matches a request in the form of a question.
	suggestion = pattern.Lazy(`(?i)^\s*(?:(?:how|what) about|why (?:not|don't)|wie wäre)\b`)
	makesNew   = pattern.Lazy(`(?i)\b(?:(?:draw|paint|render|generate|create)\s+(?:me\s+)?(?:a|an|one|two|three|four|five|six|[0-9]|some|another)|(?:zeichne|male|mal|erstelle|erzeuge)\s+(?:(?:mir|bitte)\s+)*(?:ein\w{0,2}|zwei|drei|vier|fünf|sechs|[0-9]))\b`)
	// byNumber matches "the second one" and "picture 2", but not "a second boat".
	byNumber     = pattern.Lazy(`(?i)\b(?:(first|second|third|fourth|fifth)(?:\s+(?:one|picture|image|photo|illustration|drawing|version|of)\b|\s*(?:$|[,.;:!?]|and\b))|(erste|zweite|dritte|vierte|fünfte)[nsrm]?\s+(?:bild|foto|zeichnung|version|fassung)|(?:picture|image|photo|number|no\.?|bild|nummer)\s+#?(\d{1,3})\b)`)
	ordinalWords = strings.Fields("first second third fourth fifth erste zweite dritte vierte fünfte")
	namedRef     = pattern.Lazy(`\bimg-[0-9a-z]{8}\b`)
	// byLabel matches what distinguishes one picture from the others: the picture with the dog.
	byLabel = pattern.Lazy(`(?i)\b(?:picture|image|photo|illustration|drawing|painting|one|bild|foto|zeichnung)s? (?:of|with|showing|mit|von) (?:the |an? |dem |der |einem |einer )?([\p{L}\d-]+)`)
)

// pictureRequest is what a person wants done with pictures: draw one, change one, or first draw and then change one.
type pictureRequest struct{ draw, change string }

func readPictureRequest(c *conversation) pictureRequest {
	w := pictureRequest{}
	first := c.task
	if at := thenChange().FindStringSubmatch(c.task); at != nil {
		first, _, _ = strings.Cut(c.task, at[0])
		w.change = strings.TrimSpace(at[1] + at[2])
	}
	has := len(c.editableRefs()) > 0
	change := changeOfOne().MatchString(first) || comparison().MatchString(first) ||
		has && (changeVerb().MatchString(first) || judgement().MatchString(first))
	vary := variation().MatchString(first)
	fresh := makesNew().MatchString(first) || ofWhat().MatchString(first) && !change && !asksForInformation(first)
	if vary && has { // variations of an existing picture are not new
		fresh = false
	}
	switch {
	case w.change == "" && !fresh && (change || vary):
		w.change = first
	case c.canCall(paintAction) && (fresh || !asksForInformation(first) && (wantsPicture().MatchString(first) || command().MatchString(first))):
		w.draw = first
	}
	return w
}

func asksForInformation(task string) bool {
	was := strings.HasPrefix(strings.ToLower(strings.TrimSpace(task)), "was ")
	return (questionForm().MatchString(task) || was) && !makesNew().MatchString(task) && !suggestion().MatchString(task)
}

func (w pictureRequest) action() string {
	if variation().MatchString(w.change) {
		return "Vary Image"
	}
	return "Edit Image"
}

// editableRefs returns the refs of those that can be changed: granted ones, then those made in this task.
func (c *conversation) editableRefs() []string {
	var refs []string
	add := func(items []item) {
		for _, i := range items {
			if strings.HasPrefix(i.Ref, "img-") && !slices.Contains(refs, i.Ref) {
				refs = append(refs, i.Ref)
			}
		}
	}
	add(c.media)
	for _, r := range c.actionResults(paintAction) {
		add(images(r.Outputs))
	}
	return refs
}

// targetRefs returns the pictures that a text is about: by a word of their labels, the named
// ones, all, one by its number, otherwise the newest.
func (c *conversation) targetRefs(text string) []string {
	refs := c.editableRefs()
	if m := byLabel().FindStringSubmatch(text); m != nil && !namedRef().MatchString(text) {
		for _, r := range slices.Backward(refs) {
			if strings.Contains(strings.ToLower(c.label(r)), strings.ToLower(m[1])) {
				return []string{r}
			}
		}
	}
	var named []string
	for _, r := range namedRef().FindAllString(text, -1) {
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
	case has("both", "these", "all of", "combine", "side by side", "together", "beide", "nebeneinander"):
		return refs
	}
	if _, n := numbered(lower); n > 0 {
		at := min(n-1, last)
		return refs[at : at+1]
	}
	return refs[last:]
}

// numbered returns the words that choose a picture by its number, and the number; 0 means that there are none.
func numbered(text string) (string, int) {
	m := byNumber().FindStringSubmatch(strings.ToLower(text))
	switch {
	case m == nil:
		return "", 0
	case m[3] == "":
		return m[0], slices.Index(ordinalWords, m[1]+m[2])%5 + 1
	}
	n, _ := strconv.Atoi(m[3]) // at most three digits
	return m[0], max(n, 1)
}

// unknown returns the refs and numbers that a text names and that do not exist.
func unknown(text string, refs []string) []string {
	var out []string
	if words, n := numbered(text); n > len(refs) && len(refs) > 0 && !strings.HasPrefix(words, "n") { // number 7 may be part of a picture
		out = append(out, strings.Trim(words, " ,.;:!?"))
	}
	for _, r := range namedRef().FindAllString(text, -1) {
		if !slices.Contains(refs, r) && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

func (c *conversation) notKnown(names []string, lang wording) step {
	return finish("The picture is not known.", fmt.Sprintf(lang.Say("There is no %s in this conversation.", "In diesem Gespräch gibt es kein %s."), strings.Join(names, ", "))+" "+c.pictureListing(lang))
}

// requestChange requests the change, or says why it cannot be made. Once it is made, it shows the result.
func requestChange(c *conversation, w pictureRequest, lang wording) step {
	name := w.action()
	refs := c.editableRefs()
	switch {
	case !c.canCall(name):
		return finish("That cannot be done here.", fmt.Sprintf(lang.Say("I cannot change pictures here: %s is not among my actions.", "Ich kann hier keine Bilder ändern: %s gehört nicht zu meinen Aktionen."), name))
	case len(c.actionResults(name)) > 0:
		return c.present(name, c.changed(w), lang)
	case len(unknown(w.change, refs)) > 0:
		return c.notKnown(unknown(w.change, refs), lang)
	case len(refs) == 0:
		return finish("There is nothing to change.", lang.Say("There is no picture to change yet: give me one, or ask me to draw one first.", "Noch gibt es kein Bild, das ich ändern könnte: Gib mir eins, oder lass mich zuerst eins zeichnen."))
	}
	if c.painter != nil {
		text := w.change // without the words that say which picture is meant
		for _, which := range []*regexp.Regexp{byLabel(), byNumber(), namedRef()} {
			text = which.ReplaceAllString(text, " picture ")
		}
		if cannot := c.painter.UnknownChanges(text); len(cannot) > 0 {
			return finish("The offline painter cannot do that.", fmt.Sprintf(lang.Say("Offline I cannot make this change (%s), so the picture stays as it is.", "Offline kann ich diese Änderung nicht machen (%s); das Bild bleibt, wie es ist."), lang.Enumerate(cannot))+" "+lang.Say("I cannot remove, replace or change a part of a picture.", "Einen Teil eines Bildes entfernen, ersetzen oder ändern kann ich nicht.")+" "+lang.canChange())
		}
	}
	p := map[string]any{"Prompt": w.change, "Images": c.targetRefs(w.change), "NumberOfImages": min(howMany(w.change), maxAtOnce)}
	return step{Reasoning: "A picture that is there is to be changed.", Actions: []actionCall{{Name: name, Params: p}}}
}

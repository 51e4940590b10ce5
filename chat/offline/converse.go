package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"atelier/chat/offline/question/speech"
	"atelier/internal/pattern"
)

// Painter reports what can be drawn and changed when pictures are made offline.
type Painter interface {
	// UnknownWords returns the words of a prompt, as written, that name something it cannot draw.
	UnknownWords(prompt string) []string
	// UnknownChanges returns the words of a change that it cannot apply to a whole picture,
	// or the change itself if it names none that it knows.
	UnknownChanges(change string) []string
}

// number matches a number of pictures.
const number = `([1-9][0-9]{0,2}|one|two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|sechs)`

var (
	wantsPicture = pattern.Lazy(`(?i)\b(?:image|picture|photo|illustration|drawing|painting|logo|poster|bild(?:er)?|foto|zeichnung|gemälde)s?\b|\b(?:draw|paint|render|zeichne|male|mal)\b`)
	ofWhat       = pattern.Lazy(`(?i)\b(?:(?:image|picture|photo|illustration|drawing|painting|poster|logo)s?\s+(?:of|showing|with|depicting|that shows?|for)|(?:bild(?:er)?|fotos?|zeichnung(?:en)?|gemälde)\s+(?:von|mit|vom))\s+([^.?!\n]+)`)
	upright      = pattern.Lazy(`(?i)\b(?:upright|vertical|tall (?:format|picture|image)|portrait (?:format|mode|orientation)|(?:in|as) portrait|hochformat)\b`)
	wide         = pattern.Lazy(`(?i)\b(?:wide|horizontal|panoram\w+|landscape (?:format|mode|orientation)|(?:in|as) landscape|querformat)\b`)
	pictureShape = pattern.Lazy(`(?i),?\s*\b(?:(?:in|as|im)\s+)?(?:(?:upright|portrait|landscape|tall|wide|vertical|horizontal)(?:\s+(?:format|mode|orientation))|portrait|landscape|hochformat|querformat)\s*$`)
	pixelSize    = pattern.Lazy(`(?i),?\s*\b(?:(?:in|at|mit)\s+)?(\d{3,4})\s?[x×]\s?(\d{3,4})(?:\s*(?:px|pixel[ns]?)\b)?`)
	command      = pattern.Lazy(`(?i)^\s*(?:please\s+|bitte\s+)?(?:(?:can|could|would) you\s+|(?:kannst|könntest) du\s+)?(?:please\s+)?(?:draw|paint|render|generate|create|make|show|zeichne|male|mal|erstelle|erzeuge|zeig)(?:\s+(?:me|mir|bitte))*\s+`)
	// exact matches drawings of data and structure, whose content a painter would make up.
	exact  = pattern.Lazy(`(?i)\b(?:charts?|graphs?|diagrams?|flow ?charts?|infographics?|word clouds?|mind ?maps?|diagramme?|schaubild(?:er)?)\b`)
	copies = pattern.Lazy(`(?i)\b` + number + `(?:\s*(?:-|–|to|or|bis|oder)\s*` + number + `)?\s+(?:[\p{L}-]+\s+){0,2}(?:image|picture|photo|illustration|drawing|painting|variant|variation|version|bild|illustrationen|foto|zeichnung)(?:s|en|er|ern)?\b`)
)

// ofSubject are words between a number and the word for pictures if the number counts something else.
var ofSubject = speech.Folded("a an the with in on of as for and per ein eine einem mit in im auf als von und pro")

// maxAtOnce is the maximum number of pictures per request.
const maxAtOnce = 10

// converse answers a person: from the record if it is asked for, with a picture if one is asked for that
// can be drawn, with a changed one if the change can be made, otherwise with what this model can do.
func converse(c *conversation) step {
	if s, ok := recall(c); ok {
		return s
	}
	w := readPictureRequest(c)
	lang := wordsFor(c.task)
	switch {
	case w.draw != "" && exact().MatchString(w.draw) && !ofWhat().MatchString(w.draw) && len(c.results) == 0:
		return finish("A painter would make up what a chart or diagram shows.", lang.Say("I can only paint here, and a painted chart or diagram shows made-up content. Ask the research-agent for a report with it, "+"with your data by --files, --db or in the task, or the infographic-agent for the drawing alone.", "Ich kann hier nur malen, und ein gemaltes Diagramm zeigt erfundene Inhalte. Bitte den research-agent um einen Bericht damit, "+"mit Daten über --files, --db oder im Auftrag, oder den infographic-agent um die Zeichnung allein."))
	case w == pictureRequest{}:
		return finish("No picture is asked for.", c.selfDescription(lang))
	case w.draw != "" && len(c.actionResults(paintAction)) == 0:
		if c.painter != nil {
			if missing := c.painter.UnknownWords(subject(w.draw)); len(missing) > 0 {
				return finish("The offline painter does not know all of it.", fmt.Sprintf(lang.Say("Offline I cannot draw %s, so I made no picture.", "Offline kann ich das nicht zeichnen: %s. Ich habe kein Bild gemacht."), lang.Enumerate(missing))+" "+lang.canDraw())
			}
		}
		return step{Reasoning: "A picture is asked for.", Actions: []actionCall{{Name: paintAction, Params: paintParams(w.draw)}}}
	case w.change == "":
		return c.present(paintAction, clip(subject(w.draw), 80), lang)
	case w.draw != "" && len(c.editableRefs()) == 0:
		return c.present(paintAction, "", lang)
	}
	return requestChange(c, w, lang)
}

func finish(reason, message string) step {
	return step{Reasoning: reason, Done: true, Message: message}
}

// present promotes what an action made, and reports what its result says about it.
func (c *conversation) present(action, label string, lang wording) step {
	done := c.actionResults(action)
	last := done[len(done)-1]
	refs := images(last.Outputs)
	if len(refs) == 0 {
		return finish("There is no picture.", fmt.Sprintf(lang.Say("The picture could not be made: %s", "Das Bild ließ sich nicht machen: %s"), last.Message))
	}
	var made struct{ Model, RevisedPrompt string }
	if json.Unmarshal(last.Outputs, &made) != nil || made.Model == "" {
		made.Model = lang.Say("the model", "dem Modell")
	}
	s := step{Reasoning: "The picture is made.", Done: true}
	var shown []string
	for _, r := range refs {
		s.Promote = append(s.Promote, promotion{Ref: r.Ref, Label: label})
		shown = append(shown, "${media:"+r.Ref+"}")
	}
	s.Message = fmt.Sprintf(oneOrMany(lang.Say("Here is the picture, made by %s.|Here are # pictures, made by %s.", "Hier ist das Bild, gemacht von %s.|Hier sind # Bilder, gemacht von %s."), len(refs)), made.Model)
	if action != paintAction {
		s.Message = fmt.Sprintf(oneOrMany(lang.Say("Here is a changed version, made by %s; the original stays as it was.|Here are # changed versions, made by %s; the original stays as it was.", "Hier ist eine geänderte Fassung, gemacht von %s; das Original bleibt, wie es war.|Hier sind # geänderte Fassungen, gemacht von %s; das Original bleibt, wie es war."), len(refs)), made.Model)
	}
	if made.RevisedPrompt != "" {
		s.Message += " " + fmt.Sprintf(oneOrMany(lang.Say("It follows these words: %s.|They follow these words: %s.", "Es folgt diesen Wörtern: %s.|Sie folgen diesen Wörtern: %s."), len(refs)), strings.TrimRight(made.RevisedPrompt, "."))
	} else if action == paintAction {
		s.Message += " " + lang.Say("Whether it shows what you asked for I cannot judge: I see only pixels.", "Ob es das Gewünschte zeigt, kann ich nicht beurteilen: Ich sehe nur Pixel.")
	}
	s.Message += " " + strings.Join(shown, " ")
	if _, failed, some := strings.Cut(last.Message, "image(s); "); some {
		s.Message += " " + fmt.Sprintf(lang.Say("Not everything came: %s.", "Nicht alles kam: %s."), strings.TrimRight(failed, "."))
	}
	if n := howMany(c.task); n > maxAtOnce {
		s.Message += " " + fmt.Sprintf(lang.Say("You asked for %d: %d are the most of one request.", "Gewünscht waren %d: Mehr als %d gehen nicht auf einmal."), n, maxAtOnce)
	}
	return s
}

// oneOrMany returns the singular or the plural of forms, which | separates; # in the plural stands for n.
func oneOrMany(forms string, n int) string {
	one, many, _ := strings.Cut(forms, "|")
	if n == 1 {
		return one
	}
	return strings.ReplaceAll(many, "#", fmt.Sprint(n))
}

// howMany returns how many pictures a task asks for: 1 if it does not say, and the upper end of a range.
func howMany(task string) int {
	for _, m := range copies().FindAllStringSubmatch(task, -1) {
		if slices.ContainsFunc(strings.Fields(strings.ToLower(m[0])), func(w string) bool { return ofSubject[w] }) {
			continue // 3 boats in a picture
		}
		w := cmp.Or(m[2], m[1])
		if n, ok := speech.NumberWords[speech.Fold(w)]; ok {
			return int(n)
		}
		n, _ := strconv.Atoi(w) // at most three digits
		return n
	}
	return 1
}

func paintParams(task string) map[string]any {
	p := map[string]any{"Prompt": subject(task), "NumberOfImages": min(howMany(task), maxAtOnce)}
	size := pixelSize().FindStringSubmatch(task)
	switch {
	case size != nil:
		p["Size"] = size[1] + "x" + size[2]
	case upright().MatchString(task):
		p["Size"] = "1024x1536"
	case wide().MatchString(task):
		p["Size"] = "1536x1024"
	}
	return p
}

// selfDescription says what this model is and can do; for a question, it first says that it has no answer.
func (c *conversation) selfDescription(lang wording) string {
	parts := []string{lang.who()}
	if asksForInformation(c.task) {
		parts = []string{lang.Say("Offline, this question cannot be answered.", "Offline, this question cannot be answered. Offline lässt sich diese Frage nicht beantworten."), lang.who()}
	}
	if c.canCall(paintAction) {
		parts = append(parts, lang.canDraw())
	}
	if c.canCall("Edit Image") {
		parts = append(parts, lang.canChange())
	}
	return strings.Join(append(parts, lang.Say("Set OPENAI_API_KEY, GEMINI_API_KEY or ANTHROPIC_API_KEY to talk to a language model and to have anything painted.", "Mit OPENAI_API_KEY, GEMINI_API_KEY oder ANTHROPIC_API_KEY spricht hier ein Sprachmodell, und es lässt sich alles malen.")), " ")
}

func subject(task string) string {
	task = pixelSize().ReplaceAllString(task, "")
	text := command().ReplaceAllString(task, "")
	if m := ofWhat().FindStringSubmatch(task); m != nil {
		text = m[1]
	}
	return strings.TrimSpace(pictureShape().ReplaceAllString(strings.TrimRight(strings.TrimSpace(text), ".!?"), ""))
}

// images returns the items in the outputs of a picture action.
func images(outputs json.RawMessage) []item {
	var found []item
	var tree any
	if json.Unmarshal(outputs, &tree) != nil {
		return nil
	}
	visit(tree, func(v any) bool {
		t, _ := v.(map[string]any)
		ref, _ := t["refId"].(string)
		if ref == "" {
			return true
		}
		label, _ := t["label"].(string)
		w, _ := t["width"].(float64)
		h, _ := t["height"].(float64)
		found = append(found, item{Ref: ref, Label: label, Width: int(w), Height: int(h)})
		return false
	})
	return found
}

// visit calls enter with a JSON value and, if that returns true, with all that it contains, in the order of the keys.
func visit(v any, enter func(any) bool) {
	if !enter(v) {
		return
	}
	switch t := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(t)) {
			visit(t[k], enter)
		}
	case []any:
		for _, e := range t {
			visit(e, enter)
		}
	}
}

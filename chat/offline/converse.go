package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

var (
	wantsPicture = regexp.MustCompile(`(?i)\b(image|images|picture|pictures|photo|photos|illustration|illustrations|draw|paint|drawing|painting|render|logo|poster)\b`)
	ofWhat       = regexp.MustCompile(`(?i)\b(?:image|picture|photo|illustration|drawing|painting|poster|logo)s?\s+(?:of|showing|with|depicting|that shows?|for)\s+([^.?!\n]+)`)
	upright      = regexp.MustCompile(`(?i)\b(?:upright|vertical|tall|portrait (?:format|mode|orientation)|(?:in|as) portrait)\b`)
	landscape    = regexp.MustCompile(`(?i)\b(?:wide|horizontal|panoram\w+|landscape (?:format|mode|orientation)|(?:in|as) landscape)\b`)
	command      = regexp.MustCompile(`(?i)^\s*(?:please\s+)?(?:can you\s+)?(?:draw|paint|render|generate|create|make|show)(?:\s+me)?\s+`)
)

// converse answers a person: with a picture where one is asked for, with a changed one
// where a change is asked for, else with what this model can do.
func converse(c *conversation) step {
	if s, ok := recall(c); ok {
		return s
	}
	w := readWish(c)
	switch {
	case w.draw != "" && exact(w.draw) && len(c.results) == 0:
		return step{
			Reasoning: "A painter would make up what a chart or diagram shows.", Done: true,
			Message: "I can only paint here, and a painted chart or diagram shows made-up content. Ask the research-agent for a report with it, with your data by --files, --db or in the task, or the infographic-agent for the drawing alone.",
		}
	case w == wish{}:
		return step{Reasoning: "No picture is asked for.", Done: true, Message: talk(c)}
	case w.draw != "" && len(c.did("Generate Image")) == 0:
		return step{Reasoning: "A picture is asked for.", Actions: []actionCall{{
			Name:   "Generate Image",
			Params: paintParams(w.draw),
		}}}
	case w.change == "":
		return present(c, "Generate Image", clip(subject(w.draw), 80))
	case w.draw != "" && len(c.pictures()) == 0:
		return present(c, "Generate Image", "")
	}
	if s, asks := alter(c, w); asks {
		return s
	}
	return present(c, w.action(w.change), c.changed(w))
}

// exact tells a wish for a drawing of data or structure, which is no picture.
func exact(task string) bool {
	if picturesOf.MatchString(task) {
		return false
	}
	o := readOrder(task)
	return len(o.charts)+len(o.drawings) > 0 || o.infographic != nil
}

// present shows what an action made.
func present(c *conversation, action, label string) step {
	done := c.did(action)
	last := done[len(done)-1]
	refs := images(last.Outputs)
	s := step{Reasoning: "The picture is made.", Done: true, Message: last.Message}
	if len(refs) == 0 {
		s.Message = "The picture could not be made: " + last.Message
		return s
	}
	var shown []string
	for _, r := range refs {
		s.Promote = append(s.Promote, promotion{Ref: r.Ref, Label: label})
		shown = append(shown, "${media:"+r.Ref+"}")
	}
	s.Message = "Here is what you asked for, drawn from the words of your request. "
	switch {
	case action != "Generate Image" && len(refs) > 1:
		s.Message = fmt.Sprintf("Here are %d new versions; the original stays as it was. ", len(refs))
	case action != "Generate Image":
		s.Message = "Here is the changed picture; the original stays as it was. "
	}
	s.Message += strings.Join(shown, " ")
	if _, failed, some := strings.Cut(last.Message, "; "); some {
		s.Message += " Not everything came: " + strings.TrimRight(failed, ".") + "."
	}
	if n := pictures(c.task); n > mostAtOnce {
		s.Message += fmt.Sprintf(" You asked for %d: %d are the most of one request.", n, mostAtOnce)
	}
	return s
}

// mostAtOnce is how many pictures one request takes.
const mostAtOnce = 10

// paintParams are the parameters of a picture that a person asks for.
func paintParams(task string) map[string]any {
	p := map[string]any{"Prompt": subject(task), "NumberOfImages": min(pictures(task), mostAtOnce)}
	switch {
	case upright.MatchString(task):
		p["Size"] = "1024x1536"
	case landscape.MatchString(task):
		p["Size"] = "1536x1024"
	}
	return p
}

func talk(c *conversation) string {
	m := "I am Atelier's offline model: I follow rules and am no language model, so I cannot hold a real conversation. "
	if c.can("Generate Image") {
		m += "I can draw pictures from words: ask for a picture of something. "
	}
	if c.can("Edit Image") {
		m += "I can change pictures by simple words: make it bluer, darker, black and white, add a boat. "
	}
	m += "Begin with “ask me what to draw” and I ask you first. "
	return m + "Set OPENAI_API_KEY, GEMINI_API_KEY or ANTHROPIC_API_KEY to talk to a language model."
}

// subject finds what a picture shall show.
func subject(task string) string {
	if m := ofWhat.FindStringSubmatch(task); m != nil {
		return strings.TrimSpace(m[1])
	}
	return strings.TrimRight(strings.TrimSpace(command.ReplaceAllString(task, "")), ".!?")
}

// images finds the refs in the outputs of a picture action.
func images(outputs json.RawMessage) []item {
	var found []item
	var tree any
	if json.Unmarshal(outputs, &tree) != nil {
		return nil
	}
	collect(tree, &found)
	return found
}

func collect(v any, found *[]item) {
	switch t := v.(type) {
	case map[string]any:
		if ref, ok := t["refId"].(string); ok && ref != "" {
			label, _ := t["label"].(string)
			*found = append(*found, item{Ref: ref, Label: label})
			return
		}
		for _, k := range sortedKeys(t) {
			collect(t[k], found)
		}
	case []any:
		for _, e := range t {
			collect(e, found)
		}
	}
}

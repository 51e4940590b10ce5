package offline

import (
	"fmt"
	"regexp"
	"strings"
)

// mostPictures bounds the illustrations of one report: they cost money elsewhere.
const mostPictures = 6

// view is how one picture of a subject differs from the next.
type view struct{ light, composition, colours, caption string }

// views follow each other in a report with several illustrations.
func views() []view {
	return []view{
		{"Low morning sun", "Wide shot with calm open sky above", "fresh green, warm white and a touch of amber", "in the morning"},
		{"Warm evening light", "Seen from above, with strong diagonals", "amber, terracotta and deep green", "in the evening"},
		{"Bright daylight with crisp shadows", "Close view, one detail large in front", "leaf green, warm white and clear blue", "by day"},
		{"Blue hour", "Eye level, calm and symmetrical", "deep blue, violet and warm amber", "at dusk"},
		{"Soft overcast light with mist", "Framed from one side, the far end fading", "sage, stone grey and cream", "in mist"},
		{"Clear early light with long shadows", "From a low angle, the subject tall", "ochre, pink and dark teal", "in early light"},
	}
}

var styleWord = regexp.MustCompile(`(?i)\b(watercolou?r|oil painting|line art|isometric|pencil|charcoal|flat vector|architectural rendering|photorealistic|photographs?|photos?|paper ?cut|3d render(?:ing)?)s?\b`)

// asking is what makes a question of a subject.
var asking = regexp.MustCompile(`(?i)^(?:what (?:about|is|are|was|were)|how (?:about|does|do|did|is|are)|why (?:is|are|do|does|did)|tell me about|who (?:is|are)|where (?:is|are))\s+(?:the\s+)?`)

// topic is what a title is about, without its question.
func topic(title string) string {
	return strings.TrimRight(asking.ReplaceAllString(title, ""), " ?!.")
}

// illustrations asks for as many pictures as the task does, one if it does not say; a
// task that names other visuals only gets no picture beside them.
// Each prompt names subject, style, light, composition and colours, and differs from
// the others in all but subject and style.
func (o order) illustrations() []figure {
	if !o.asked && len(o.charts)+len(o.drawings) > 0 || !o.asked && o.infographic != nil {
		return nil
	}
	what := o.scene
	if what == "" {
		what = topic(o.title)
	}
	if what == "" {
		return nil
	}
	style := "Editorial illustration, clean and detailed"
	if named := styleWord.FindString(o.scene + " " + o.wording); named != "" {
		style = capital(strings.ToLower(named))
	}
	var out []figure
	n := min(o.pictures, mostPictures)
	for _, v := range views()[:max(n, 0)] {
		caption := "Illustration: " + clip(what, 140)
		if n > 1 {
			caption += " " + v.caption
		}
		out = append(out, figure{
			call: actionCall{Name: paintAction, Params: map[string]any{
				"Prompt": fmt.Sprintf("%s. %s. %s. %s. Colours: %s. No lettering, no logos, no charts.",
					capital(strings.TrimRight(what, ".?!")), style, v.light, v.composition, v.colours),
				"Size": "1536x1024",
			}},
			caption: caption, note: "AI-generated for this report; it shows no measured data.",
		})
	}
	return out
}

package wordcloud

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// words reads the entries in any form that models write, or counts the words of a text. The weights
// of equal words are added; words without a positive weight are omitted.
func words(list, text any) ([]word, error) {
	if s, ok := list.(string); ok && strings.TrimSpace(s) != "" && !strings.ContainsAny(strings.TrimSpace(s)[:1], "[{") {
		list, text = nil, s
	}
	v, err := value.Decode(list)
	if err != nil {
		return nil, svg.Invalid("Words is not valid JSON: %v", err)
	}
	sum := tally{index: map[string]int{}}
	switch t := v.(type) {
	case nil:
		s, _ := text.(string)
		if len(s) > maxText {
			return nil, svg.Invalid("Text has %d bytes: at most %d are counted; give Words with weights", len(s), maxText)
		}
		sum.count(s)
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(t)) {
			if err := sum.entry(k, t[k]); err != nil {
				return nil, err
			}
		}
	case []any:
		if len(t) > maxEntries {
			return nil, svg.Invalid("Words has %d entries: at most %d are read", len(t), maxEntries)
		}
		for i, item := range t {
			if err := sum.item(item, i); err != nil {
				return nil, err
			}
		}
	default:
		return nil, svg.Invalid(`Words must be an array of {"text", "weight"}`)
	}
	out := slices.DeleteFunc(sum.list, func(w word) bool { return !(w.weight > 0) })
	if len(out) == 0 {
		return nil, svg.Invalid(`there is no word to draw: give Words as [{"text": "solar", "weight": 42}] with weights above 0, or Text`)
	}
	return out, nil
}

// tally adds up weights by word, in the order of first appearance.
type tally struct {
	index map[string]int
	list  []word
}

func (t *tally) add(text string, weight float64) {
	key := strings.ToLower(text)
	i, ok := t.index[key]
	if !ok {
		i = len(t.list)
		t.index[key] = i
		t.list = append(t.list, word{text: text})
	}
	t.list[i].weight += weight
}

func (t *tally) item(item any, i int) error {
	text, weight := item, any(1.0)
	switch v := item.(type) {
	case map[string]any:
		text = value.Field(v, "text", "word", "name", "label", "term")
		if w := value.Field(v, "weight", "value", "count", "size", "frequency"); w != nil {
			weight = w
		}
	case []any:
		text = nil
		if len(v) > 0 {
			text = v[0]
		}
		if len(v) > 1 {
			weight = v[1]
		}
	}
	if value.Text(text) == "" {
		return svg.Invalid("Words[%d] has no text: give {\"text\": \"…\", \"weight\": 1}", i)
	}
	return t.entry(value.Text(text), weight)
}

func (t *tally) entry(text string, weight any) error {
	f, ok := value.Number(weight)
	if !ok {
		return svg.Invalid("the weight of %q is %q: give a number", svg.Clip(text), svg.Clip(value.Text(weight)))
	}
	if text = value.Text(text); text != "" && !math.IsNaN(f) {
		t.add(text, f)
	}
	return nil
}

// count counts the words of a text that have at least three characters (one in scripts that are
// written without spaces), contain a letter and are not common.
func (t *tally) count(text string) {
	fields := strings.FieldsFunc(strings.ToValidUTF8(text, " "), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’' && r != '-'
	})
	common := map[string]bool{}
	for w := range strings.FieldsSeq(commonWords) {
		common[w] = true
	}
	for _, f := range fields {
		f = strings.Trim(f, "'’-")
		n := utf8.RuneCountInString(f)
		if n < 3 && (n < 1 || []rune(f)[0] < 0x2e80) || !strings.ContainsFunc(f, unicode.IsLetter) {
			continue
		}
		if !common[strings.ToLower(f)] {
			t.add(f, 1)
		}
	}
}

// commonWords say nothing about a text, in six languages.
const commonWords = `a about above after again all almost also although always am among an and another any are as at
		be became because become been before being below between both but by can cannot could did do does doing done down during each either else even ever every
		few for from further get had has have having he her here hers him his how however i if in into is it its it's itself just last least less like
		made make many may me might more most much must my near need never next no nor not now of off often on once one only onto or other our out over own
		per put rather said same say see seen shall she should since so some still such take than that the their them then there these they this those through thus to too two
		under until up upon us use used using very was we well were what when where whether which while who whom whose why will with within without would yet you your
		aber als also am an auch auf aus bei bin bis das dass dem den der des die doch durch ein eine einem einen einer eines er es für hat hatte ich ihr im in ist kann mehr mit nach nicht noch nur oder sein sich sie sind so über um und uns unter vom von vor war was wenn wer wie wir wird wurde zu zum zur zwischen
		au aux avec ce ces cette comme dans de des du elle en est et été être il ils je la le les leur lui mais même ne nous on ont ou où par pas plus pour qu que qui sa sans se ses son sont sur un une vous
		al como con cuando del desde donde el ella en entre era es esta este está fue han hasta hay la las lo los más muy no para pero por que se ser sin sobre son su sus también tiene un una y ya
		che col come con da dal dalla dei del della delle di e gli ha i il in la le lo ma nel nella non per più quale si sono su sul sulla tra un una uno
		ao aos até com como da das de do dos e em entre era foi isso mais mas na nas no nos não o os ou para pela pelo por quando que se sem seu sua são também um uma`

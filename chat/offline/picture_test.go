package offline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelier/chat"
)

// fewWords is a painter that does not know a few words, such as cats, sofa, dragon and person.
type fewWords struct{}

func (fewWords) UnknownWords(prompt string) []string {
	var out []string
	for _, w := range []string{"cats", "sofa", "Katzen", "Sofa"} {
		if strings.Contains(prompt, w) {
			out = append(out, w)
		}
	}
	return out
}

func (fewWords) UnknownChanges(change string) []string {
	var out []string
	for _, w := range []string{"remove", "person", "dragon", "Van Gogh", "harbour", "img", "zweite", "fifth"} {
		if strings.Contains(change, w) {
			out = append(out, w)
		}
	}
	return out
}

const recordCallable = `{"agent":"sage","actions":[{"name":"Generate Image"},{"name":"Edit Image"},{"name":"Vary Image"},{"name":"List Agent Media"}]}`

// askPainting calls a model whose pictures an offline painter makes.
func askPainting(t *testing.T, messages ...string) step {
	t.Helper()
	r := chat.Request{System: system(recordCallable)}
	for i, m := range messages {
		role := chat.RoleUser
		if i%2 == 1 {
			role = chat.RoleAssistant
		}
		r.Messages = append(r.Messages, chat.Text(role, m))
	}
	res, err := Model{Painter: fewWords{}}.Generate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var s step
	if err := json.Unmarshal([]byte(res.Text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWhatCannotBeDrawnIsRefused: no picture is made; the answer names the unknown words and offers what can be drawn.
func TestWhatCannotBeDrawnIsRefused(t *testing.T) {
	t.Parallel()
	for task, want := range map[string][]string{
		"Draw three cats on a sofa":                {"I cannot draw cats and sofa", "made no picture", "lighthouses"},
		"A picture of cats, please":                {"I cannot draw cats", "lighthouses"},
		"Zeichne drei Katzen auf einem Sofa":       {"nicht zeichnen: Katzen und Sofa", "kein Bild", "Leuchttürme"},
		"Erstelle bitte ein Bild von einem Sofa":   {"nicht zeichnen: Sofa", "Leuchttürme"},
		"What is the capital of France?":           {"Offline, this question cannot be answered.", "no language model", "lighthouses"},
		"Wie heißt die Hauptstadt von Frankreich?": {"Offline, this question cannot be answered.", "Offline lässt sich diese Frage nicht beantworten.", "kein Sprachmodell"},
		"Guten Morgen":                             {"kein Sprachmodell", "Leuchttürme"},
		"Make it bluer":                            {"no picture to change"},
		"Mach es blauer":                           {"kein Bild, das ich ändern könnte"},
	} {
		s := askPainting(t, task)
		for _, w := range want {
			if !s.Done || len(s.Actions) > 0 || !strings.Contains(s.Message, w) {
				t.Errorf("%s: %+v lacks %q", task, s, w)
			}
		}
	}
	for _, task := range []string{"Draw a lighthouse in a storm", "Zeichne einen Leuchtturm im Sturm", "Male mir bitte zwei Boote", "Ein Bild vom Meer", "Can you draw a boat?"} {
		if s := askPainting(t, task); len(s.Actions) != 1 || s.Actions[0].Name != "Generate Image" {
			t.Errorf("%s: %+v", task, s)
		}
	}
}

func TestChangesThatThePainterCannotMake(t *testing.T) {
	t.Parallel()
	const one, two = "img-00000001", "img-00000002"
	for task, want := range map[string]string{
		"remove the person": "(remove and person)", "add a dragon": "(dragon)", "make it look like Van Gogh": "(Van Gogh)",
	} {
		if s := askPainting(t, granting(t, task, one)); !s.Done || len(s.Actions) > 0 || !strings.Contains(s.Message, want) || !strings.Contains(s.Message, "stays as it is") {
			t.Errorf("%s: %+v", task, s)
		}
	}
	for _, task := range []string{
		"make it bluer", "Mach es blauer", "mach das Bild dunkler", "Füge Vögel hinzu", "etwas heller bitte", "add a boat",
		"make the picture of the harbour darker", "make " + one + " darker", "mach das zweite Bild dunkler",
	} {
		s := askPainting(t, granting(t, task, one, two))
		if len(s.Actions) != 1 || s.Actions[0].Name != "Edit Image" {
			t.Errorf("%s: %+v", task, s)
		}
	}
}

// TestTheRecordIsReported: questions about the pictures are answered from the run's list, not from the conversation.
func TestTheRecordIsReported(t *testing.T) {
	t.Parallel()
	full := map[string]any{"totalCount": 2, "mediaReferences": []any{
		map[string]any{"refId": "img-00000001", "label": "a lighthouse", "width": 1024, "height": 768},
		map[string]any{"refId": "img-00000002", "label": "a boat", "width": 64, "height": 64},
	}}
	empty := map[string]any{"totalCount": 0, "mediaReferences": []any{}}
	for task, want := range map[string][2]string{
		"List my pictures":                 {"There are 2 pictures: 1. img-00000001, a lighthouse (1024 × 768); 2. img-00000002, a boat (64 × 64).", "Nothing yet"},
		"what have you made":               {"There are 2 pictures", "Nothing yet"},
		"What did you draw?":               {"There are 2 pictures", "Nothing yet"},
		"Show me all the pictures":         {"There are 2 pictures", "Nothing yet"},
		"Was hast du gemacht?":             {"Es gibt 2 Bilder", "Noch nichts"},
		"Liste meine Bilder auf":           {"Es gibt 2 Bilder", "Noch nichts"},
		"Welche Bilder haben wir?":         {"Es gibt 2 Bilder", "Noch nichts"},
		"How many pictures have you made?": {"There are 2 pictures", "Nothing yet"},
	} {
		s := askPainting(t, task)
		if len(s.Actions) != 1 || s.Actions[0].Name != "List Agent Media" {
			t.Errorf("%s: %+v", task, s)
			continue
		}
		for i, outputs := range []any{full, empty} {
			said := results(t, map[string]any{"actions": []any{map[string]any{"name": "List Agent Media", "success": true, "outputs": outputs}}})
			if s := askPainting(t, task, "{}", said); !s.Done || !strings.Contains(s.Message, want[i]) {
				t.Errorf("%s: %q lacks %q", task, s.Message, want[i])
			}
		}
	}
}

// TestSuccessFollowsFromTheResult: what a picture shows is described in the words of its result, or not at all.
func TestSuccessFollowsFromTheResult(t *testing.T) {
	t.Parallel()
	first, second := map[string]any{"refId": "img-00000001"}, map[string]any{"refId": "img-00000002"}
	drawn := func(outputs map[string]any, images ...any) string {
		outputs["Images"] = images
		return results(t, map[string]any{"actions": []any{map[string]any{"name": "Generate Image", "success": true, "message": "Generated 1 image(s)", "outputs": outputs}}})
	}
	s := askPainting(t, "Draw a lighthouse", "{}", drawn(map[string]any{"Model": "Atelier Offline", "RevisedPrompt": "lighthouse, storm"}, first))
	if !strings.Contains(s.Message, "made by Atelier Offline. It follows these words: lighthouse, storm. ${media:img-00000001}") {
		t.Errorf("%+v", s)
	}
	s = askPainting(t, "Draw a lighthouse", "{}", drawn(map[string]any{"Model": "FLUX"}, first))
	two := drawn(map[string]any{"Model": "Atelier Offline", "RevisedPrompt": "lighthouse"}, first, second)
	if s := askPainting(t, "Draw two lighthouses", "{}", two); !strings.Contains(s.Message, "Here are 2 pictures, made by Atelier Offline. They follow these words: lighthouse.") {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(s.Message, "made by FLUX. Whether it shows what you asked for I cannot judge") {
		t.Errorf("%+v", s)
	}
}

// TestHowManyPictures: a number of other things is not one of pictures.
func TestHowManyPictures(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]int{
		"Draw a boat": 1, "Draw two pictures of 3 boats": 2, "Paint 3 boats as a picture": 1, "A report on 3 islands with pictures": 1, "2-3 images": 3,
		"two or three large colour photos": 3, "Zeichne vier verschiedene Bilder vom Meer": 4, "12 new variations": 12, "Ein Bericht mit zwei Illustrationen": 2,
	} {
		if got := howMany(task); got != want {
			t.Errorf("%s: %d, want %d", task, got, want)
		}
	}
}

// TestWhichPictureIsNoChange: the words that say which picture is meant are not a change that the painter must know.
func TestWhichPictureIsNoChange(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{"mach das zweite Bild dunkler": "img-00000002", "make img-00000001 darker": "img-00000001"} {
		s := askPainting(t, task+"\n```json\n"+`{"context":{"media":[{"refId":"img-00000001","width":64,"height":64},{"refId":"img-00000002","width":64,"height":64}]}}`+"\n```")
		if len(s.Actions) != 1 || fmt.Sprint(s.Actions[0].Params["Images"]) != "["+want+"]" {
			t.Errorf("%s: %+v", task, s)
		}
	}
}

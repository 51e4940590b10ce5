package offline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const editorCallable = `{"agent":"sage","actions":[{"name":"Generate Image"},{"name":"Edit Image"},{"name":"Vary Image"}]}`

// granting returns a task with pictures in its context.
func granting(t *testing.T, task string, refs ...string) string {
	t.Helper()
	var items []any
	for _, r := range refs {
		items = append(items, map[string]any{"refId": r, "width": 64, "height": 64})
	}
	b, err := json.Marshal(map[string]any{"context": map[string]any{"media": items}})
	if err != nil {
		t.Fatal(err)
	}
	return task + "\n\n```json\n" + string(b) + "\n```"
}

func made(t *testing.T, action, message string, refs ...string) string {
	t.Helper()
	var items []any
	for _, r := range refs {
		items = append(items, map[string]any{"refId": r, "mimeType": "image/png"})
	}
	return results(t, map[string]any{"actions": []any{map[string]any{"name": action, "success": len(refs) > 0, "message": message, "outputs": map[string]any{"Images": items}}}})
}

func TestChangesOfPicturesThatAreThere(t *testing.T) {
	t.Parallel()
	const one, two, three = "img-00000001", "img-00000002", "img-00000003"
	for task, want := range map[string]struct {
		action string
		refs   []any
		n      float64
	}{
		"Make it bluer.": {"Edit Image", []any{three}, 1},
		"bluer please":   {"Edit Image", []any{three}, 1},
		"Now darker":     {"Edit Image", []any{three}, 1},
		"Please remove the boat from the first picture":   {"Edit Image", []any{one}, 1},
		"Turn the second one into a night scene":          {"Edit Image", []any{two}, 1},
		"Make that picture bluer":                         {"Edit Image", []any{three}, 1},
		"Add a lighthouse to " + two:                      {"Edit Image", []any{two}, 1},
		"Put these side by side":                          {"Edit Image", []any{one, two, three}, 1},
		"Make three variations of it":                     {"Vary Image", []any{three}, 3},
		"Vary the first one":                              {"Vary Image", []any{one}, 1},
		"Give me 2 variants of the last picture":          {"Vary Image", []any{three}, 2},
		"Make the picture of the harbour black and white": {"Edit Image", []any{three}, 1},
		"now add a second boat on the left":               {"Edit Image", []any{three}, 1},
		"The sky is too dark. Can you brighten it?":       {"Edit Image", []any{three}, 1},
		"it's too bright":                                 {"Edit Image", []any{three}, 1},
		"Make picture 2 darker":                           {"Edit Image", []any{two}, 1},
		"make the cat red":                                {"Edit Image", []any{three}, 1},
		"combine the first and the last picture":          {"Edit Image", []any{one, three}, 1},
		"How about a picture of a fox?":                   {"Generate Image", nil, 1},
		"Draw a picture of a fox":                         {"Generate Image", nil, 1},
		"Create an image of a boat and make it dramatic":  {"Generate Image", nil, 1},
		"Show me two pictures of the sea":                 {"Generate Image", nil, 2},
	} {
		s := ask(t, system(editorCallable), granting(t, task, one, two, three))
		if len(s.Actions) != 1 || s.Done {
			t.Errorf("%s: %+v", task, s)
			continue
		}
		p := s.Actions[0].Params
		refs, _ := p["Images"].([]any)
		if diff := cmp.Diff(want.refs, refs); diff != "" || s.Actions[0].Name != want.action || p["NumberOfImages"] != want.n || p["Prompt"] == "" {
			t.Errorf("%s: %+v, want %+v", task, s.Actions[0], want)
		}
	}
}

// TestPicturesAreListedWithoutNewOnes: questions about pictures and requests to see them again cost nothing.
func TestPicturesAreListedWithoutNewOnes(t *testing.T) {
	t.Parallel()
	const one, two, none = "img-00000001", "img-00000002", "img-zzzzzzzz"
	for task, want := range map[string][]string{
		"Show me the picture again":        {"again", "${media:" + two + "}"},
		"show me the first picture":        {"again", "${media:" + one + "}"},
		"Show them both again, please":     {"again", "${media:" + one + "}", "${media:" + two + "}"},
		"What is in the second picture?":   {"2 pictures", one, two, "64 × 64", "language model"},
		"How many pictures have we made?":  {"2 pictures", one, two},
		"which images do we have":          {"2 pictures"},
		"Edit " + none + " so it is green": {"no " + none, one, two},
	} {
		s := ask(t, system(editorCallable), granting(t, task, one, two))
		for _, w := range want {
			if !s.Done || len(s.Actions) > 0 || !strings.Contains(s.Message, w) {
				t.Errorf("%s: %+v lacks %q", task, s, w)
			}
		}
	}
	if s := ask(t, system(editorCallable), "What is a picture?"); !s.Done || len(s.Actions) > 0 {
		t.Errorf("a question without pictures: %+v", s)
	}
}

func TestLabelsOfChangedPictures(t *testing.T) {
	t.Parallel()
	block, err := json.Marshal(map[string]any{"context": map[string]any{"media": []any{
		map[string]any{"refId": "img-00000001", "label": "a dog"}, map[string]any{"refId": "img-00000002", "label": "a cat: warmer"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string][2]string{
		"Please make it bluer.":                      {"img-00000002", "a cat: bluer"},
		"Remove the sky from the image with the dog": {"img-00000001", "a dog: Remove the sky from the image with the dog"},
		"Make two variations of it":                  {"img-00000002", "a cat: variation"},
	} {
		task := change + "\n\n```json\n" + string(block) + "\n```"
		s := ask(t, system(editorCallable), task)
		if len(s.Actions) != 1 || fmt.Sprint(s.Actions[0].Params["Images"]) != "["+want[0]+"]" {
			t.Errorf("%s: %+v", change, s)
			continue
		}
		s = ask(t, system(editorCallable), task, "{}", made(t, s.Actions[0].Name, "Edited 1 image(s); 1 failed: no credit.", "img-00000003"))
		if len(s.Promote) != 1 || s.Promote[0].Label != want[1] || !strings.HasSuffix(s.Message, "Not everything came: 1 failed: no credit.") {
			t.Errorf("%s: %+v, want label %q", change, s, want[1])
		}
	}
}

func TestShapesOfPictures(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]any{
		"Draw a mountain lake, upright format": "1024x1536", "Draw a wide panorama of the Alps": "1536x1024",
		"Draw a boat at 640 × 480 pixels.": "640x480", "Zeichne ein Boot in 640x480 Pixeln": "640x480", "Draw a landscape": nil, "Paint a portrait of a king": nil,
	} {
		s := ask(t, system(editorCallable), task)
		if len(s.Actions) != 1 || s.Actions[0].Params["Size"] != want {
			t.Errorf("%s: %+v, want size %v", task, s, want)
		}
		if prompt := fmt.Sprint(s.Actions[0].Params["Prompt"]); strings.ContainsAny(prompt, "0123456789×") {
			t.Errorf("%s: the prompt keeps the size: %q", task, prompt)
		}
	}
}

func TestDrawThenChange(t *testing.T) {
	t.Parallel()
	sys, task := system(editorCallable), "Draw a lighthouse, then make it bluer."
	s := ask(t, sys, task)
	if len(s.Actions) != 1 || s.Actions[0].Name != "Generate Image" || s.Actions[0].Params["Prompt"] != "a lighthouse" {
		t.Fatalf("first step %+v", s)
	}
	drawn := made(t, "Generate Image", "Generated 1 image(s)", "img-0000000a")
	s = ask(t, sys, task, "{}", drawn)
	if len(s.Actions) != 1 || s.Actions[0].Name != "Edit Image" || s.Actions[0].Params["Prompt"] != "make it bluer." || fmt.Sprint(s.Actions[0].Params["Images"]) != "[img-0000000a]" {
		t.Fatalf("second step %+v", s)
	}
	s = ask(t, sys, task, "{}", drawn, "{}", made(t, "Edit Image", "Edited 1 image(s)", "img-0000000b"))
	if !s.Done || len(s.Promote) != 1 || s.Promote[0].Ref != "img-0000000b" || !strings.Contains(s.Message, "${media:img-0000000b}") || strings.Contains(s.Message, "img-0000000a") {
		t.Fatalf("last step %+v", s)
	}
	s = ask(t, sys, task, "{}", made(t, "Generate Image", "refused by a safety system"))
	if !s.Done || !strings.Contains(s.Message, "refused by a safety system") {
		t.Errorf("nothing was drawn: %+v", s)
	}
	s = ask(t, sys, task, "{}", drawn, "{}", made(t, "Edit Image", "no credit"))
	if !s.Done || !strings.Contains(s.Message, "no credit") || len(s.Promote) != 0 {
		t.Errorf("the edit failed: %+v", s)
	}
}

func TestChangesThatCannotBe(t *testing.T) {
	t.Parallel()
	if s := ask(t, system(editorCallable), "Make it bluer"); !s.Done || !strings.Contains(s.Message, "no picture to change") {
		t.Errorf("without a picture: %+v", s)
	}
	if s := ask(t, system(sageCallable), granting(t, "Make it bluer", "img-00000001")); !s.Done || !strings.Contains(s.Message, "Edit Image is not among") {
		t.Errorf("without the action: %+v", s)
	}
	if s := ask(t, system(editorCallable), "Good morning"); !s.Done || !strings.Contains(s.Message, "black and white") {
		t.Errorf("talk: %+v", s)
	}
}

// TestEditingLaterInAConversation: a later message is a new task that can use the pictures made before.
func TestEditingLaterInAConversation(t *testing.T) {
	t.Parallel()
	s := ask(t, system(editorCallable), "Draw a fox", "{}", made(t, "Generate Image", "ok", "img-0000000a"), "{}", granting(t, "Make that picture bluer", "img-0000000a"))
	if len(s.Actions) != 1 || s.Actions[0].Name != "Edit Image" || fmt.Sprint(s.Actions[0].Params["Images"]) != "[img-0000000a]" {
		t.Errorf("%+v", s)
	}
}

// TestTheLatestMessageIsTheTask: earlier exchanges of a conversation are not the task, not even for agents that do only
// one.
func TestTheLatestMessageIsTheTask(t *testing.T) {
	t.Parallel()
	s := ask(t, system(rootCallable), "What about the north?", `{"done":true,"message":"It grew."}`, "What about the south?")
	if len(s.Agents) != 1 || !strings.Contains(s.Agents[0].Task, "south") || strings.Contains(s.Agents[0].Task, "north") {
		t.Errorf("%+v", s)
	}
}

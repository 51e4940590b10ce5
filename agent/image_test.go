package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/action/mediaset"
	"atelier/agent"
	"atelier/chat"
	"atelier/generate"
	"atelier/media"
)

// visionProfile returns the profile of a model that sees.
func visionProfile(l chat.ImageLimits) chat.Profile {
	return chat.Profile{ID: "seer", Name: "Seer", Provider: "test", SupportsVision: true, ImageLimits: l}
}

const (
	doneStep = `{"done":true,"message":"done"}`
	listStep = `{"actions":[{"name":"List Agent Media"}]}`
)

// visionEnv returns an environment of one agent that is asked about pictures.
func visionEnv(t *testing.T, p chat.Profile, steps ...any) *testEnv {
	t.Helper()
	w := build(t, setup{agents: map[string]string{"painter": painter}, actions: mediaset.Actions(), answers: map[string][]any{"painter": steps}})
	w.script.profile = p
	return w
}

func TestImagesComeWithTheMessage(t *testing.T) {
	t.Parallel()
	w := visionEnv(t, visionProfile(chat.ImageLimits{Detail: true}), listStep, doneStep)
	path := filepath.Join(t.TempDir(), "three.png")
	if err := os.WriteFile(path, picture(3), 0o600); err != nil {
		t.Fatal(err)
	}
	granted := stored(t, w, 4)
	res, err := w.runner.Run(t.Context(), agent.Request{
		Agent: "painter", Message: "what is this?", Granted: []media.Output{granted}, Images: []agent.Image{
			{Data: picture(1), MIMEType: "image/jpeg", FileName: "../one.png", Detail: "low"}, {Data: picture(1)}, {Path: path}, {Ref: granted.Ref},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{refOf(1), refOf(3), refOf(4)}
	for turn, r := range w.script.allRequests() { // every turn shows them with their message
		if got := shownTo(r); !slices.Equal(got, want) {
			t.Errorf("turn %d shows %v, want %v", turn+1, got, want)
		}
		if first := r.Messages[0]; first.Role != chat.RoleUser || first.Parts[2].Detail != "low" || len(first.Parts) != 7 {
			t.Errorf("the first message has parts %+v", first.Parts)
		}
	}
	if message := lastMessage(w.script.allRequests()[1]); !strings.Contains(message, refOf(3)) {
		t.Errorf("the media set does not list them: %s", message)
	}
	first := w.recorder.items[0]
	if first.Origin.Direction != "input" || first.Metadata["namespace"] != "input_image" || first.MIMEType != "image/png" || first.FileName != "one.png" {
		t.Errorf("recorded as %+v", first)
	}
	state, err := json.Marshal(res.InputImages)
	if want := fmt.Sprintf(`[{"ref":%q,"mime_type":"image/png","filename":"one.png","detail":"low"},{"ref":%q,"mime_type":"image/png","filename":"three.png"},{"ref":%q,"mime_type":"image/png"}]`, refOf(1), refOf(3), refOf(4)); err != nil || string(state) != want {
		t.Errorf("saved state %s, want %s", state, want)
	}
	if n := len(res.AlsoMade) + len(res.Outputs); n != 0 {
		t.Errorf("%d input pictures are reported as made", n)
	}
	if !slices.Contains(w.watcher.types(), agent.EventMediaStored) {
		t.Errorf("no event reports it: %v", w.watcher.types())
	}
}

// TestDetailThatAModelDoesNotKnow: an unknown detail is dropped, and reported once.
func TestDetailThatAModelDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := visionEnv(t, visionProfile(chat.ImageLimits{}), doneStep)
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Images: []agent.Image{
		{Data: picture(1), Detail: "low"}, {Data: picture(2), Detail: "low"}, {Data: picture(3), Detail: "auto"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []generate.Disposition{{Setting: "image_detail", Asked: "low", Outcome: generate.OutcomeDropped, Reason: "Seer cannot be told how closely to look"}}
	if d := cmp.Diff(want, res.Dispositions); d != "" {
		t.Error(d)
	}
	for _, p := range w.script.allRequests()[0].Messages[0].Parts {
		if p.Detail == "low" {
			t.Errorf("the model is asked for %+v", p)
		}
	}
}

// stored returns a recorded item of another run.
func stored(t *testing.T, w *testEnv, n int) media.Output {
	t.Helper()
	b, err := w.store.Store(t.Context(), bytes.NewReader(picture(n)), "")
	if err != nil {
		t.Fatal(err)
	}
	return media.NewOutput(b, media.Meta{})
}

func TestBadImages(t *testing.T) {
	t.Parallel()
	cut := picture(1)
	for name, c := range map[string]struct {
		image agent.Image
		code  media.Code
		say   string
	}{
		"nothing":          {agent.Image{}, media.CodeInvalid, "exactly one"},
		"two things":       {agent.Image{Data: picture(1), ID: "x"}, media.CodeInvalid, "exactly one"},
		"detail":           {agent.Image{Data: picture(1), Detail: "huge"}, media.CodeInvalid, "auto, low or high"},
		"text called .png": {agent.Image{Data: []byte("just words, many of them"), FileName: "x.png", MIMEType: "image/png"}, media.CodeInvalid, "not a picture"},
		"cut off":          {agent.Image{Data: cut[:len(cut)-20]}, media.CodeInvalid, "damaged or cut off"},
		"SVG":              {agent.Image{Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>`)}, media.CodeUnsupported, "PNG"},
		"no such file":     {agent.Image{Path: "/nonexistent/a.png"}, media.CodeNotFound, "a.png"},
		"a folder":         {agent.Image{Path: os.TempDir()}, media.CodeInvalid, "not a file"},
		"ref of elsewhere": {agent.Image{Ref: media.Ref(refOf(9))}, media.CodeUnknownRef, "media id"},
		"unknown id":       {agent.Image{ID: "nobody"}, media.CodeNotFound, "no media records"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := visionEnv(t, visionProfile(chat.ImageLimits{}), doneStep)
			res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Images: []agent.Image{{Data: picture(2)}, c.image}})
			if res != nil || media.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), "image 2") {
				t.Errorf("got %s: %v", media.CodeOf(err), err)
			}
			if n := len(w.script.allRequests()); n > 0 {
				t.Errorf("%d paid calls", n)
			}
		})
	}
}

func TestTheGate(t *testing.T) {
	t.Parallel()
	three := []agent.Image{{Data: picture(1)}, {Data: picture(2)}, {Data: picture(3)}}
	for name, c := range map[string]struct {
		profile chat.Profile
		say     string
		shown   []string
	}{
		"blind":    {chat.Profile{ID: "m", Name: "Mole", Provider: "test"}, "Mole (test) does not accept pictures", nil},
		"too many": {visionProfile(chat.ImageLimits{MaxImages: 2}), "accepts 2", []string{refOf(1), refOf(2)}},
		"too big":  {visionProfile(chat.ImageLimits{MaxImageBytes: 5}), "too large", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			strict := visionEnv(t, c.profile, doneStep)
			res, err := strict.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Images: three})
			if err == nil || !strings.Contains(err.Error(), c.say) || res != nil || len(strict.script.allRequests()) != 0 {
				t.Errorf("strict: got %+v, %v", res, err)
			}
			if len(strict.watcher.runs) > 0 || strict.recorder.count() > 0 {
				t.Errorf("strict: on record are %d runs and %d items", len(strict.watcher.runs), strict.recorder.count())
			}
			lenient := visionEnv(t, c.profile, doneStep)
			res, err = lenient.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Images: three, LenientImages: true})
			if err != nil {
				t.Fatal(err)
			}
			asked := lenient.script.allRequests()[0]
			if got := shownTo(asked); !slices.Equal(got, c.shown) {
				t.Errorf("shown %v, want %v", got, c.shown)
			}
			if !strings.Contains(asked.Messages[0].Text(), "You cannot see "+refOf(3)) {
				t.Errorf("the message to the model is %s", asked.Messages[0].Text())
			}
			saved := lenient.watcher.runs[len(lenient.watcher.runs)-1]
			if !strings.Contains(strings.Join(saved.Warnings, " "), refOf(3)+" is not shown") || !dropped(res.Dispositions, refOf(3)) {
				t.Errorf("warnings %q, dispositions %v", saved.Warnings, res.Dispositions)
			}
		})
	}
}

func dropped(list []generate.Disposition, ref string) bool {
	return slices.ContainsFunc(list, func(d generate.Disposition) bool {
		return d.Setting == "image" && d.Asked == ref && d.Outcome == generate.OutcomeDropped
	})
}

// TestImagesAreMadeToFit: a smaller form is shown, recorded with its parent, and reported.
func TestImagesAreMadeToFit(t *testing.T) {
	t.Parallel()
	w := visionEnv(t, visionProfile(chat.ImageLimits{MaxImageSide: 2}), doneStep)
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Images: []agent.Image{{Data: picture(1)}}})
	if err != nil {
		t.Fatal(err)
	}
	m := w.script.allRequests()[0].Messages[0]
	shown := m.Parts[2].Media
	if shown.Width != 2 || string(shown.Ref) == refOf(1) || !strings.Contains(m.Parts[1].Text, refOf(1)) {
		t.Errorf("shown %v behind %q", shown, m.Parts[1].Text)
	}
	if d := res.Dispositions; len(d) != 1 || d[0].Outcome != generate.OutcomeAdapted || !strings.Contains(d[0].Reason, "sides of 2 pixels, not 4") {
		t.Errorf("dispositions %+v", d)
	}
	if last := w.recorder.items[1]; last.Lineage[0].Ref != media.Ref(refOf(1)) || last.ID == "" {
		t.Errorf("recorded %+v", last)
	}
}

// TestBudgetDropsTheOldest: pictures of later turns displace those of the task while there is no room.
func TestBudgetDropsTheOldest(t *testing.T) {
	t.Parallel()
	tokens := chat.ImageLimits{ImageTokens: chat.TokenRule{Rule: "flat", Each: 3000}}
	for name, p := range map[string]chat.Profile{
		"number": visionProfile(chat.ImageLimits{MaxImages: 2}),
		"tokens": {ID: "seer", Name: "Seer", SupportsVision: true, ContextTokens: 13_500, ImageLimits: tokens},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := visionEnv(t, p, paintStep(5), viewStep(5), listStep, doneStep)
			res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "look", Images: []agent.Image{{Data: picture(1)}, {Data: picture(2)}}})
			if err != nil {
				t.Fatal(err)
			}
			both := []string{refOf(1), refOf(2)}
			for turn, want := range [][]string{both, both, {refOf(2), refOf(5)}, both} {
				if got := shownTo(w.script.allRequests()[turn]); !slices.Equal(got, want) {
					t.Errorf("turn %d shows %v, want %v", turn+1, got, want)
				}
			}
			if message := w.script.allRequests()[2].Messages[0].Text(); !strings.Contains(message, "not shown any more") {
				t.Errorf("the message to the model is %s", message)
			}
			if !strings.Contains(strings.Join(res.Warnings, " "), refOf(1)+" is no longer shown") {
				t.Errorf("warnings %q", res.Warnings)
			}
		})
	}
}

// TestMissingBytes: strict mode stops before anything is paid, lenient mode continues.
func TestMissingBytes(t *testing.T) {
	t.Parallel()
	for _, lenient := range []bool{false, true} {
		w := visionEnv(t, visionProfile(chat.ImageLimits{}), doneStep)
		gone := stored(t, w, 1)
		gone.Digest = media.DigestOf([]byte("gone"))
		gone.Ref = media.RefOf(media.ModalityImage, gone.Digest)
		_, err := w.runner.Run(t.Context(), agent.Request{
			Agent: "painter", Message: "look", Granted: []media.Output{gone}, Images: []agent.Image{{Ref: gone.Ref}}, LenientImages: lenient,
		})
		if (err == nil) != lenient || !lenient && media.CodeOf(err) != media.CodeNotFound {
			t.Errorf("lenient %v: got %v", lenient, err)
		}
		if lenient && !strings.Contains(w.script.allRequests()[0].Messages[0].Text(), "You cannot see "+string(gone.Ref)) {
			t.Error("the message to the model lacks it")
		}
	}
}

func TestImageAsJSON(t *testing.T) {
	t.Parallel()
	var got agent.Image
	in := fmt.Sprintf(`{"data":%q,"mime_type":"image/png","filename":"a.png","detail":"high"}`, base64Of(picture(1)))
	if err := json.Unmarshal([]byte(in), &got); err != nil || !bytes.Equal(got.Data, picture(1)) || got.Detail != "high" {
		t.Errorf("got %v, %v", got, err)
	}
	for bad, say := range map[string]string{
		`{"path":"/etc/passwd"}`: "command line", `{"data":"` + strings.Repeat("?", 90) + `"}`: "BASE64", `{}`: "exactly one", `{"uri":"x"}`: "unknown field",
	} {
		err := json.Unmarshal([]byte(bad), &got)
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: got %v", bad, err)
		}
	}
	fresh := agent.Image{Data: picture(1), MIMEType: "image/png"}
	if b, err := json.Marshal(agent.Request{Images: []agent.Image{fresh}}); err == nil {
		t.Errorf("bytes are written: %s", b)
	}
	for _, s := range []string{fmt.Sprint(fresh), fmt.Sprintf("%+v", agent.Request{Images: []agent.Image{fresh}}), fmt.Sprintf("%#v", fresh)} {
		if strings.Contains(s, "137 80 78") || strings.Contains(s, "0x89") || !strings.Contains(s, "<image image/png") {
			t.Errorf("shown as %s", s)
		}
	}
	if got := fmt.Sprint(agent.Image{Data: []byte("12345")}); got != "<image 5 bytes>" {
		t.Errorf("of no type: %s", got)
	}
	if b, err := json.Marshal(agent.Image{Ref: "img-7k3m9q2x", Detail: "low"}); err != nil || string(b) != `{"ref":"img-7k3m9q2x","detail":"low"}` {
		t.Errorf("got %s, %v", b, err)
	}
}

// TestStoreImagesComesFirst: the request that a durable engine saves holds no bytes.
func TestStoreImagesComesFirst(t *testing.T) {
	t.Parallel()
	w := visionEnv(t, visionProfile(chat.ImageLimits{}), doneStep)
	req, err := w.runner.StoreImages(t.Context(), agent.Request{Agent: "painter", Message: "look", Images: []agent.Image{{Data: picture(1)}}})
	if err != nil || req.RunID == "" || len(req.Granted) != 1 || w.recorder.count() != 1 {
		t.Fatalf("got %+v, %v", req, err)
	}
	saved, err := json.Marshal(req)
	if err != nil || bytes.Contains(saved, []byte(base64Of(picture(1))[:40])) {
		t.Fatalf("saved %s, %v", saved, err)
	}
	var again agent.Request
	if err := json.Unmarshal(saved, &again); err != nil {
		t.Fatal(err)
	}
	if _, err := w.runner.Run(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if got := shownTo(w.script.allRequests()[0]); !slices.Equal(got, []string{refOf(1)}) || w.recorder.count() != 1 {
		t.Errorf("shown %v after %d records", got, w.recorder.count())
	}
}

// TestFoundByID: a media id is resolved for its owner.
func TestFoundByID(t *testing.T) {
	t.Parallel()
	w := visionEnv(t, visionProfile(chat.ImageLimits{}), doneStep)
	item := stored(t, w, 7)
	runner, err := agent.NewRunner(agent.Config{
		Definitions: mustLoad(t, map[string]string{"painter": painter}), Actions: w.actions, Models: w.script, Codec: w.store, Recorder: w.recorder,
		Find: func(_ context.Context, owner, id string) (media.Output, error) {
			if owner != "ann" || id != "m-1" {
				return media.Output{}, media.Errorf(media.CodeNotFound, "there is no %s of %s", id, owner)
			}
			return item, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for owner, code := range map[string]media.Code{"ann": "", "bob": media.CodeNotFound} {
		_, err := runner.Run(t.Context(), agent.Request{Agent: "painter", Owner: owner, Message: "look", Images: []agent.Image{{ID: "m-1"}}})
		if media.CodeOf(err) != code {
			t.Errorf("%s: got %v", owner, err)
		}
	}
	if got := shownTo(w.script.allRequests()[0]); !slices.Equal(got, []string{refOf(7)}) {
		t.Errorf("shown %v", got)
	}
}

package vision_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"atelier/action"
	"atelier/agent/definition"
	"atelier/agent/transcript"
	"atelier/agent/vision"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// model is a chat model that is never called.
type model struct {
	chat.Model
	profile chat.Profile
}

func (m model) Profile() chat.Profile { return m.profile }

// blobs are stored bytes; an error is the result of reading them.
type blobs map[media.Digest]error

func (b blobs) Open(_ context.Context, d media.Digest) (io.ReadCloser, error) {
	err, ok := b[d]
	if !ok {
		err = media.Errorf(media.CodeNotFound, "no such blob")
	}
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader([]byte("bytes"))), nil
}

func (b blobs) Store(context.Context, io.Reader, string) (media.Blob, error) {
	return media.Blob{}, errors.New("nothing is stored here")
}

// sightRun is a run's sights, with what they report.
type sightRun struct {
	*vision.Sights
	blobs    blobs
	warnings []string
	disposed []generate.Disposition
	shown    []media.Ref
}

// sightsOf returns the sights of a model; a nil profile means none.
func sightsOf(t *testing.T, profile *chat.Profile) *sightRun {
	t.Helper()
	w := &sightRun{blobs: blobs{}}
	w.Sights = &vision.Sights{Config: vision.Config{
		Agent: "painter", Journal: journal.NewTranscript(journal.Memory{}, nil), Set: &media.Set{}, Blobs: w.blobs,
		ModelsWithVision: func(int) []string { return nil },
		Warn: func(_ context.Context, warnings ...string) {
			for _, text := range warnings {
				if text != "" {
					w.warnings = append(w.warnings, text)
				}
			}
		},
		RecordDisposition: func(d generate.Disposition) { w.disposed = append(w.disposed, d) },
		Show:              func(i vision.InputImage) { w.shown = append(w.shown, i.Ref) },
	}}
	if profile != nil {
		w.Model = model{profile: *profile}
	}
	return w
}

// visionProfile returns the profile of a model that accepts pictures as they are.
func visionProfile(limits chat.ImageLimits) *chat.Profile {
	return &chat.Profile{ID: "seer", Name: "Seer", SupportsVision: true, ImageLimits: limits}
}

// picture adds a picture of 100 bytes to the run.
func (w *sightRun) picture(t *testing.T, name string) media.Output {
	t.Helper()
	o, err := w.Set.Add(media.NewOutput(media.Blob{Digest: media.DigestOf([]byte(name)), SizeBytes: 100, Facts: media.Facts{MIMEType: "image/png", Width: 4, Height: 4}}, media.Meta{Label: name}))
	if err != nil {
		t.Fatal(err)
	}
	w.blobs[o.Digest] = nil
	return o
}

func refs(list []transcript.Sight) (out []media.Ref) {
	for _, s := range list {
		out = append(out, s.Ref)
	}
	return out
}

func TestLostImagesValidate(t *testing.T) {
	t.Parallel()
	for policy, ok := range map[vision.LostImages]bool{"": true, vision.LostDrop: true, vision.LostStop: true, "Drop": false, "keep": false} {
		if err := policy.Validate(); (err == nil) != ok || err != nil && media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%q: %v", policy, err)
		}
	}
}

func TestCanSee(t *testing.T) {
	t.Parallel()
	png := media.Output{Modality: media.ModalityImage, Blob: media.Blob{Facts: media.Facts{MIMEType: "image/png"}}}
	svg, text := png, png
	svg.MIMEType, text.MIMEType, text.Modality = "image/svg+xml", "text/plain", media.ModalityDocument
	for name, c := range map[string]struct {
		profile *chat.Profile
		item    media.Output
		ok      bool
	}{
		"a picture":       {visionProfile(chat.ImageLimits{}), png, true},
		"a drawing":       {visionProfile(chat.ImageLimits{}), svg, false},
		"a text":          {visionProfile(chat.ImageLimits{}), text, false},
		"a blind model":   {&chat.Profile{Name: "Blind"}, png, false},
		"no model at all": {nil, png, false},
	} {
		if err := sightsOf(t, c.profile).CanSee(c.item); (err == nil) != c.ok || err != nil && media.CodeOf(err) != media.CodeUnsupported {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAdmit: a picture that a model does not accept is an error, or dropped if the run is lenient; a replay decides
// nothing again.
func TestAdmit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile *chat.Profile
		lenient bool
		details []string // of each picture in the task
		want    int      // how many are shown
		code    media.Code
		dropped int // dispositions
	}{
		"none":                   {visionProfile(chat.ImageLimits{}), false, nil, 0, "", 0},
		"all":                    {visionProfile(chat.ImageLimits{}), false, []string{"", "auto"}, 2, "", 0},
		"a blind model":          {&chat.Profile{Name: "Blind"}, false, []string{""}, 0, media.CodeUnsupported, 0},
		"a blind model, lenient": {&chat.Profile{Name: "Blind"}, true, []string{"", ""}, 0, "", 2},
		"too many":               {visionProfile(chat.ImageLimits{MaxImages: 1}), false, []string{"", ""}, 0, media.CodeUnsupported, 0},
		"too many, lenient":      {visionProfile(chat.ImageLimits{MaxImages: 1}), true, []string{"", ""}, 1, "", 1},
		"a detail":               {visionProfile(chat.ImageLimits{}), false, []string{"high"}, 1, "", 1},
		"a detail that it has":   {visionProfile(chat.ImageLimits{Detail: true}), false, []string{"high"}, 1, "", 0},
		"none for a blind model": {&chat.Profile{Name: "Blind"}, false, nil, 0, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sightsOf(t, c.profile)
			w.Lenient = c.lenient
			for i, detail := range c.details {
				w.Given = append(w.Given, vision.InputImage{Ref: w.picture(t, fmt.Sprint(i)).Ref, Detail: detail})
			}
			got, err := w.Admit(t.Context())
			if media.CodeOf(err) != c.code || len(got) != c.want || len(w.disposed) != c.dropped {
				t.Fatalf("%d shown, %v dropped, %v", len(got), w.disposed, err)
			}
			if left := len(c.details) - c.want; c.code == "" && (len(w.Unseen) != left || len(w.warnings) != left) {
				t.Errorf("%d were omitted, the model reads %q and people %q", left, w.Unseen, w.warnings)
			}
			if c.code != "" {
				return
			}
			w.Given = slices.Clone(w.Given)
			clear(w.blobs) // a replay reads no bytes
			again, err := w.Admit(t.Context())
			if err != nil || !slices.Equal(refs(again), refs(got)) {
				t.Errorf("a replay shows %v, %v; want %v", refs(again), err, refs(got))
			}
		})
	}
}

// TestMissing: only bytes that are known to be missing or damaged are lost, each once.
func TestMissing(t *testing.T) {
	t.Parallel()
	w := sightsOf(t, visionProfile(chat.ImageLimits{}))
	whole, missing, damaged, unknown := w.picture(t, "whole"), w.picture(t, "missing"), w.picture(t, "damaged"), w.picture(t, "unknown")
	delete(w.blobs, missing.Digest)
	w.blobs[damaged.Digest] = media.Errorf(media.CodeCorrupt, "bad bytes")
	w.blobs[unknown.Digest] = errors.New("the disk is away")
	m := chat.Text(chat.RoleUser, "look")
	for _, o := range []media.Output{whole, missing, damaged, missing, unknown} {
		m.Parts = append(m.Parts, chat.Part{Media: &o})
	}
	want := []vision.Lost{{Digest: missing.Digest, Code: media.CodeNotFound}, {Digest: damaged.Digest, Code: media.CodeCorrupt}}
	if got := w.Missing(t.Context(), []chat.Message{chat.Text(chat.RoleUser, "x"), m, m}); !slices.Equal(got, want) {
		t.Errorf("lost are %v, want %v", got, want)
	}
	if got := w.Missing(t.Context(), nil); len(got) > 0 {
		t.Errorf("of nothing %v is lost", got)
	}
}

func TestLose(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy vision.LostImages
		given  bool
		code   media.Code
	}{
		"drop":            {vision.LostDrop, true, ""},
		"the default":     {"", true, ""},
		"stop":            {vision.LostStop, true, media.CodeCorrupt},
		"stop, not given": {vision.LostStop, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sightsOf(t, visionProfile(chat.ImageLimits{}))
			o := w.picture(t, "a")
			w.Lost = c.policy
			if c.given {
				w.Given = []vision.InputImage{{Ref: o.Ref}}
			}
			var h transcript.History
			h.Begin(transcript.Opening{Task: "x", Images: []transcript.Sight{{Ref: o.Ref, Shown: o}}})
			err := w.DropUnreadable(t.Context(), &h, &vision.LostError{List: []vision.Lost{{Digest: o.Digest, Code: media.CodeCorrupt}}})
			if media.CodeOf(err) != c.code {
				t.Fatal(err)
			}
			if told := len(w.warnings) == 1 && len(w.disposed) == 1; told != (c.code == "") || h.Given() != 0 {
				t.Errorf("warnings %q, dispositions %v, %d in sight", w.warnings, w.disposed, h.Given())
			}
		})
	}
}

// TestLook: a model sees what it requests, within the budget of a turn; it reads about what it does not see.
func TestLook(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile *chat.Profile
		ask     []int // numbers of pictures
		want    []int
		hidden  int
	}{
		"in the order asked":       {visionProfile(chat.ImageLimits{}), []int{2, 0}, []int{2, 0}, 0},
		"one once":                 {visionProfile(chat.ImageLimits{}), []int{1, 1, 1}, []int{1}, 0},
		"no more than four":        {visionProfile(chat.ImageLimits{}), []int{0, 1, 2, 3, 4, 5}, []int{0, 1, 2, 3}, 2},
		"no more than it takes":    {visionProfile(chat.ImageLimits{MaxImages: 1}), []int{0, 1}, []int{0}, 1},
		"no vision":                {&chat.Profile{Name: "Blind"}, []int{0}, nil, 1},
		"one that does not exist":  {visionProfile(chat.ImageLimits{}), []int{-1}, nil, 0},
		"one whose bytes are lost": {visionProfile(chat.ImageLimits{}), []int{6}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sightsOf(t, c.profile)
			var all []media.Ref
			for i := range 7 {
				o := w.picture(t, fmt.Sprint(i))
				all = append(all, o.Ref)
				if i == 6 {
					delete(w.blobs, o.Digest)
				}
			}
			var changes []media.Change
			for _, i := range c.ask {
				ref := media.Ref("img-zzzzzzz9")
				if i >= 0 {
					ref = all[i]
				}
				changes = append(changes, media.Change{Kind: media.ChangeView, Ref: ref}, media.Change{Kind: media.ChangeLabel, Ref: all[5]})
			}
			var want []media.Ref
			for _, i := range c.want {
				want = append(want, all[i])
			}
			var res transcript.Results
			w.ShowRequested(t.Context(), 1, &res, changes)
			if got := refs(res.Views); !slices.Equal(got, want) {
				t.Errorf("seen are %v, want %v", got, want)
			}
			if len(res.Warnings) != c.hidden || !slices.Equal(res.Warnings, w.warnings) {
				t.Errorf("the model reads %q, people %q; want %d", res.Warnings, w.warnings, c.hidden)
			}
		})
	}
}

// TestShowAnswer: pictures of an answer take the room that earlier ones leave.
func TestShowAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile *chat.Profile
		before  int // pictures of the task in sight
		lost    bool
		policy  vision.LostImages
		want    int
		hidden  int
		code    media.Code
	}{
		"all":                  {visionProfile(chat.ImageLimits{}), 1, false, "", 2, 0, ""},
		"room for one":         {visionProfile(chat.ImageLimits{MaxImages: 2}), 1, false, "", 1, 1, ""},
		"no room":              {visionProfile(chat.ImageLimits{MaxImages: 2}), 2, false, "", 0, 2, ""},
		"no room, and to stop": {visionProfile(chat.ImageLimits{MaxImages: 2}), 2, false, vision.LostStop, 0, 2, ""},
		"no vision":            {&chat.Profile{Name: "Blind"}, 0, false, "", 0, 2, ""},
		"bytes are lost":       {visionProfile(chat.ImageLimits{}), 0, true, vision.LostDrop, 1, 1, ""},
		"bytes are lost: stop": {visionProfile(chat.ImageLimits{}), 0, true, vision.LostStop, 0, 0, media.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sightsOf(t, c.profile)
			w.Lost = c.policy
			opening := transcript.Opening{Task: "x"}
			for i := range c.before {
				o := w.picture(t, fmt.Sprint("before", i))
				opening.Images = append(opening.Images, transcript.Sight{Ref: o.Ref, Shown: o})
			}
			var h transcript.History
			h.Begin(opening)
			a, b := w.picture(t, "a"), w.picture(t, "b")
			if c.lost {
				delete(w.blobs, a.Digest)
			}
			var res transcript.Results
			images := []vision.InputImage{{Ref: a.Ref, Detail: "low"}, {Ref: "img-zzzzzzz9"}, {Ref: b.Ref}}
			err := w.ShowAnswer(t.Context(), 1, images, &h, &res)
			if media.CodeOf(err) != c.code {
				t.Fatal(err)
			}
			if len(res.Views) != c.want || len(res.Warnings) != c.hidden {
				t.Errorf("%d are shown, warnings %q, want %d and %d", len(res.Views), res.Warnings, c.want, c.hidden)
			}
			for _, s := range res.Views {
				if !s.Given || s.Detail != "" || s.Turns != definition.MaxTurns {
					t.Errorf("shown as %+v", s)
				}
			}
		})
	}
}

// TestOffer: the policy decides which pictures of actions are shown, the newest first.
func TestOffer(t *testing.T) {
	t.Parallel()
	policy := definition.VisionContextPolicy{Enabled: true, MaxImages: 2, MaxTotalBytes: 1000, AllowedSources: []string{"Paint"}, AllowMIMETypes: []string{"image/png"}, TurnsToLive: 3}
	with := func(change func(p *definition.VisionContextPolicy)) definition.VisionContextPolicy {
		p := policy
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		policy  definition.VisionContextPolicy
		profile *chat.Profile
		want    []int
	}{
		"newest first": {policy, visionProfile(chat.ImageLimits{}), []int{2, 1}},
		"more room":    {with(func(p *definition.VisionContextPolicy) { p.MaxImages = 9 }), visionProfile(chat.ImageLimits{}), []int{2, 1, 0}},
		"few bytes":    {with(func(p *definition.VisionContextPolicy) { p.MaxTotalBytes = 100 }), visionProfile(chat.ImageLimits{}), []int{2}},
		"off":          {with(func(p *definition.VisionContextPolicy) { p.Enabled = false }), visionProfile(chat.ImageLimits{}), nil},
		"other source": {with(func(p *definition.VisionContextPolicy) { p.AllowedSources = []string{"Draw"} }), visionProfile(chat.ImageLimits{}), nil},
		"other type":   {with(func(p *definition.VisionContextPolicy) { p.AllowMIMETypes = []string{"image/webp"} }), visionProfile(chat.ImageLimits{}), nil},
		"no vision":    {policy, &chat.Profile{Name: "Blind"}, nil},
		"no model":     {policy, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sightsOf(t, c.profile)
			w.Policy = c.policy
			w.Actions = paintRegistry(t)
			var all []media.Ref
			res := transcript.Results{Actions: []action.Outcome{{Name: "Paint"}, {Name: "Unknown"}, {Name: "Paint"}}}
			for i := range 3 {
				o := w.picture(t, fmt.Sprint(i))
				all = append(all, o.Ref)
				res.Actions[(i+1)/2*2].Media = append(res.Actions[(i+1)/2*2].Media, o)
			}
			res.Actions[1].Media = []media.Output{w.picture(t, "of an action that is not known")}
			var want []media.Ref
			for _, i := range c.want {
				want = append(want, all[i])
			}
			var h transcript.History
			h.Begin(transcript.Opening{Task: "x"})
			w.ShowByPolicy(t.Context(), 1, &h, &res)
			if got := refs(res.Views); !slices.Equal(got, want) || !slices.Equal(w.shown, want) {
				t.Errorf("shown are %v and reported %v, want %v", got, w.shown, want)
			}
			for _, s := range res.Views {
				if !s.Policy || s.Turns != 3 {
					t.Errorf("shown as %+v", s)
				}
			}
		})
	}
}

// paintRegistry returns a registry with the single action Paint.
func paintRegistry(t *testing.T) *action.Registry {
	t.Helper()
	stored, err := blob.New(blob.Config{Driver: memblob.New()})
	if err != nil {
		t.Fatal(err)
	}
	codec, err := wire.NewCodec(wire.Config{Blobs: stored, Keys: []wire.Key{{ID: "t", Secret: []byte("0123456789abcdef0123456789abcdef")}}})
	if err != nil {
		t.Fatal(err)
	}
	actions, err := action.NewRegistry(action.Config{Store: codec})
	if err != nil {
		t.Fatal(err)
	}
	paint := func(context.Context, *action.Call) (action.Result, error) { return action.Result{}, nil }
	if err := actions.Register(action.Action{Name: "Paint", Description: "Paints.", Run: paint}); err != nil {
		t.Fatal(err)
	}
	return actions
}

// TestWithinSight: the oldest pictures are removed from a request that holds more than the model accepts.
func TestWithinSight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits chat.ImageLimits
		want   []int
	}{
		"no limit": {chat.ImageLimits{}, []int{0, 1, 2}},
		"number":   {chat.ImageLimits{MaxImages: 2}, []int{1, 2}},
		"bytes":    {chat.ImageLimits{MaxTotalImageBytes: 150}, []int{2}},
		"no bytes": {chat.ImageLimits{MaxTotalImageBytes: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sightsOf(t, visionProfile(c.limits))
			var all []media.Output
			var messages []chat.Message
			for i := range 3 {
				o := w.picture(t, fmt.Sprint(i))
				all = append(all, o)
				m := chat.Text(chat.RoleUser, "look")
				m.Parts = append(m.Parts, chat.Part{Text: "\n" + string(o.Ref) + ":"}, chat.Part{Media: &o})
				messages = append(messages, m)
			}
			less := w.WithinLimits(t.Context(), messages)
			var got, before []int
			for i := range all {
				if less[i].Parts[2].Media != nil {
					got = append(got, i)
				} else if !strings.Contains(less[i].Text(), "not shown any more") {
					t.Errorf("message %d does not say what is missing: %q", i, less[i].Text())
				}
				if messages[i].Parts[2].Media != nil {
					before = append(before, i)
				}
			}
			if !slices.Equal(got, c.want) || len(before) != 3 || len(w.warnings) != 3-len(c.want) {
				t.Errorf("%v remain, want %v; %d in the history, warnings %q", got, c.want, len(before), w.warnings)
			}
		})
	}
}

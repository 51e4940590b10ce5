package action

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"atelier/media"
)

func TestMessagesErrorsAndFailuresAreClean(t *testing.T) {
	t.Parallel()
	pic := noise(t, 160, 140, 21)
	std := b64(pic)
	coded := media.Errorf(media.CodeUnavailable, "provider said %s", std)
	coded.Valid = []string{std}
	tests := map[string]struct {
		result Result
		err    error
		kept   int // items lifted from texts
	}{
		"message":          {Result{Message: "Look: data:image/png;base64," + std}, nil, 1},
		"warning":          {Result{Warnings: []string{"odd: " + std}}, nil, 1},
		"code":             {Result{Code: std}, nil, 0},
		"error":            {Result{}, fmt.Errorf("post %s: refused", std), 1},
		"coded error":      {Result{}, coded, 1},
		"wrapped":          {Result{}, fmt.Errorf("draw: %w", coded), 1},
		"truncated":        {Result{}, errors.New("got " + std[300:600] + "…"), 0},
		"failed with data": {Result{Code: Failure, Message: "half done", Outputs: map[string]any{"Raw": std}}, errors.New("half"), 1},
		"failure, no err":  {Result{Code: Failure, Message: std}, nil, 1},
		"output name":      {Result{Outputs: map[string]any{std: 1}}, nil, 1},
		"key in an output": {Result{Outputs: map[string]any{"a": map[string]any{std: 1}}}, nil, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t, nil, Action{Name: "Act", Run: func(context.Context, *Call) (Result, error) { return test.result, test.err }})
			out := r.run(t, "Act", nil)
			checkNoMedia(t, out, pic)
			if len(out.Media) != test.kept {
				t.Errorf("%d items kept, want %d", len(out.Media), test.kept)
			}
			if failed := test.err != nil || test.result.Code == Failure; out.Success == failed || failed != (out.Error != nil) {
				t.Errorf("outcome: %+v", out)
			}
			if test.err != nil && out.Error.Code != media.CodeOf(test.err) {
				t.Errorf("code %s, want %s", out.Error.Code, media.CodeOf(test.err))
			}
			if len(out.Message) > maxMessage+8 {
				t.Errorf("message of %d bytes", len(out.Message))
			}
		})
	}
}

func TestPanicsBecomeErrorsWithoutBytes(t *testing.T) {
	t.Parallel()
	pic := noise(t, 60, 60, 22)
	for name, cause := range map[string]any{
		"bytes": pic, "base64": b64(pic), "raw string": string(pic), "error": errors.New("x " + b64(pic)),
		"runtime": nil, "struct": struct{ B []byte }{pic}, "nil error": (*media.Error)(nil), "broken error": brokenError{b64(pic)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRegistry(t, nil, Action{Name: "Act", Run: func(context.Context, *Call) (Result, error) {
				if cause == nil {
					var m map[string]int
					m["a"] = 1 //nolint:staticcheck // the panic is intended
				}
				panic(cause)
			}})
			out := r.run(t, "Act", nil)
			if out.Success || out.Error.Code != media.CodeInternal || !strings.Contains(out.Message, `"Act"`) {
				t.Errorf("outcome: %+v", out)
			}
			checkNoMedia(t, out, pic)
		})
	}
}

func TestActionGetsResolvedInputs(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	var got []byte
	var refused error
	edit := Action{
		Name:   "Edit",
		Params: []Param{{Name: "Image", Direction: Input, ValueType: Binary, Required: true}, {Name: "Strength", Direction: Input, Type: "number", Default: 2}},
		Run: func(ctx context.Context, c *Call) (Result, error) {
			c.Progress("half")
			f, err := c.Open(ctx, c.Items("Image")[0])
			if err != nil {
				return Result{}, err
			}
			got, err = io.ReadAll(f)
			_, refused = c.Open(ctx, item("not of this run", "image/png"))
			if c.Number("Strength") != 2 || !c.Has("Strength") || c.Has("Image") == false || c.Int("Strength") != 2 || c.Bool("Strength") || c.Text("Nope") != "" {
				t.Error("parameters did not arrive")
			}
			return Result{}, err
		},
	}
	r := newTestRegistry(t, nil, edit)
	o, err := r.Interceptor().Store(t.Context(), Target{Media: r.set}, bytes.NewReader(pic), media.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if out := r.run(t, "edit", map[string]any{"image": o.Ref.Placeholder()}); !out.Success || out.Code != Success {
		t.Fatalf("outcome: %+v", out)
	}
	if !bytes.Equal(got, pic) || media.CodeOf(refused) != media.CodeUnknownRef {
		t.Errorf("read %d bytes; an item of another run: %v", len(got), refused)
	}
	out := r.run(t, "edit", map[string]any{"image": "img-00000000"})
	if out.Success || out.Error.Code != media.CodeUnknownRef || !out.Error.Retryable || len(out.Error.Valid) != 1 || out.Error.Valid[0] != string(o.Ref) {
		t.Errorf("unknown ref: %+v", out.Error)
	}
}

func TestInputsDoNotComeBack(t *testing.T) {
	t.Parallel()
	a := Action{
		Name:   "Act",
		Params: []Param{{Name: "In", Direction: Input}, {Name: "Two", Direction: Both}},
		Run: func(context.Context, *Call) (Result, error) {
			return Result{Outputs: map[string]any{"In": "secret", "Two": "b", "Extra": "c"}}, nil
		},
	}
	out := newTestRegistry(t, nil, a).run(t, "Act", nil)
	if out.Outputs["In"] != nil || out.Outputs["Two"] != "b" || out.Outputs["Extra"] != "c" {
		t.Errorf("outputs: %v", out.Outputs)
	}
}

func TestCancelledActionKeepsItsMedia(t *testing.T) {
	t.Parallel()
	pic := tiny(t)
	ctx, cancel := context.WithCancel(t.Context())
	a := Action{Name: "Act", Run: func(ctx context.Context, _ *Call) (Result, error) {
		cancel()
		return Result{Outputs: map[string]any{"Image": pic}}, ctx.Err()
	}}
	r := newTestRegistry(t, nil, a)
	out := r.Invoke(ctx, "Act", nil, Env{Media: r.set})
	if out.Success || out.Error.Code != media.CodeCancelled || len(out.Media) != 1 || len(r.recorder.items) != 1 {
		t.Errorf("outcome: %+v", out)
	}
}

func TestViewCostsFortyTokens(t *testing.T) {
	t.Parallel()
	o := item("a picture", "image/svg+xml")
	o.Width, o.Height, o.Label = 16384, 16384, strings.Repeat("Generated image of many ", 30)
	b, err := json.Marshal(View(o))
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 160 {
		t.Errorf("a picture costs %d characters: %s", len(b), b)
	}
	for _, want := range []string{`"refId":"` + string(o.Ref) + `"`, `"mimeType":"image/svg+xml"`, `"width":16384`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is missing in %s", want, b)
		}
	}
}

// BenchmarkContextCost reports how many characters of a prompt a picture takes, and how long the interceptor takes for
// 1.5 MB.
func BenchmarkContextCost(b *testing.B) {
	pic := noise(b, 580, 590, 30)
	r := newTestRegistry(b, func(c *Config) { c.Recorder = nil }, outputAction(Param{Name: "Image", Direction: Output, ValueType: Binary, Format: FormatBytes}, pic))
	b.SetBytes(int64(len(pic)))
	b.ReportAllocs()
	var size int
	for b.Loop() {
		out := r.Invoke(b.Context(), "Give", nil, Env{Media: &media.Set{}})
		text, err := json.Marshal(out.Outputs)
		if err != nil || len(out.Media) != 1 {
			b.Fatalf("%v %+v", err, out)
		}
		size = len(text)
	}
	b.ReportMetric(float64(size), "chars/picture")
	b.ReportMetric(float64(size)/4, "tokens/picture")
}

// TestRefusedParametersAreNotQuoted: an error does not quote data that was given in place of a ref.
func TestRefusedParametersAreNotQuoted(t *testing.T) {
	t.Parallel()
	raw := strings.Repeat("iVBORw0KGgoAAAANSUhEUg", 5)
	a := Action{
		Name: "Look", Description: "Looks.", Params: []Param{{Name: "Image", ValueType: Binary}, {Name: "Kind", Values: []string{"a", "b"}}},
		Run: func(context.Context, *Call) (Result, error) { return Result{}, nil },
	}
	r := newTestRegistry(t, nil, a)
	for name, params := range map[string]map[string]any{"ref": {"Image": raw}, "word": {"Kind": raw}, "name": {raw: "x"}} {
		out := r.run(t, "Look", params)
		b, err := json.Marshal(out)
		if err != nil || out.Success || strings.Contains(string(b), raw[:48]) {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
}

package gateway_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
	"atelier/media/imaging"
)

func TestAnswersThatAreNoPicture(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		blob func(*testing.T, *testGateway) media.Blob
		code media.Code
		say  string
	}{
		{"one pixel", func(t *testing.T, h *testGateway) media.Blob {
			t.Helper()
			return generatetest.Stored(t.Context(), t, h.codec, generatetest.PNG(1, 1, 1))
		}, media.CodeBadResponse, "1 × 1 pixel"},
		{"text", func(t *testing.T, h *testGateway) media.Blob {
			t.Helper()
			return generatetest.Stored(t.Context(), t, h.codec, []byte("<html><body>sorry</body></html>"))
		}, media.CodeBadResponse, "instead of image"},
		{"too many pixels", func(*testing.T, *testGateway) media.Blob {
			return media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 9, Facts: media.Facts{MIMEType: "image/png", Width: 30_000, Height: 30_000}}
		}, media.CodeTooLarge, "30000 × 30000"},
		{"no pixels", func(*testing.T, *testGateway) media.Blob {
			return media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 9, Facts: media.Facts{MIMEType: "image/png"}}
		}, media.CodeBadResponse, "cannot be read"},
		{"nothing", func(*testing.T, *testGateway) media.Blob { return media.Blob{} }, media.CodeBadResponse, "could not be stored"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
				b := c.blob(t, h)
				return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, nil
			}
			got := h.must(t, generate.Request{Model: "gpt-image-2"})
			if e := got.Slots[0].Error; e == nil || e.Code != c.code || !strings.Contains(e.Message, c.say) {
				t.Errorf("slot error %+v, want %s saying %q", e, c.code, c.say)
			}
		})
	}
}

func TestResultByLink(t *testing.T) {
	t.Parallel()
	h := build(t, func(_ *testGateway, c *gateway.Config) {
		c.Fetch = func(_ context.Context, url string) (io.ReadCloser, string, error) {
			if strings.Contains(url, "10.0.0.1") {
				return nil, "", media.Errorf(media.CodeBlockedAddress, "10.0.0.1 is a private address")
			}
			return io.NopCloser(strings.NewReader(string(generatetest.JPEG(70, 70, 9)))), "image/png", nil
		}
	})
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{Done: true, Items: []driver.Item{{URL: "https://cdn.example/a.png"}, {URL: "http://10.0.0.1/b.png"}}}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", N: 2})
	if o := got.Slots[0].Output; o == nil || o.MIMEType != "image/jpeg" || o.URL != "" || o.Width != 70 {
		t.Errorf("fetched %+v", o)
	}
	if e := got.Slots[1].Error; e == nil || e.Code != media.CodeBlockedAddress {
		t.Errorf("private link returns %+v", e)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "declared image/png and sent image/jpeg") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// TestCompressionOfAConversion: a conversion has the requested compression; 0 is a value like any other.
func TestCompressionOfAConversion(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.gemini.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
	}
	var digests []media.Digest
	for _, c := range []*int{nil, new(0), new(1), new(60)} {
		got := h.must(t, generate.Request{Model: "Nano Banana Pro", OutputFormat: "jpeg", Compression: c})
		digests = append(digests, got.Slots[0].Output.Digest)
	}
	if digests[1] != digests[2] || digests[0] == digests[1] || digests[0] == digests[3] || digests[1] == digests[3] {
		t.Errorf("none, 0, 1 and 60 gave %v", digests)
	}
}

func TestOtherFormatIsConvertedAndTheOriginalKept(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	got := h.must(t, generate.Request{Model: "Nano Banana Pro", OutputFormat: "jpg"})
	o := got.Slots[0].Output
	records := h.recorder.Records()
	if o.MIMEType != "image/jpeg" || len(records) != 2 || records[0].MIMEType != "image/png" {
		t.Fatalf("output %s, records %v", o, records)
	}
	if len(o.Lineage) != 1 || o.Lineage[0].Ref != records[0].Ref {
		t.Errorf("lineage %v, want %s", o.Lineage, records[0].Ref)
	}
	if d := disposition(got.Dispositions, "output_format"); d.Outcome != generate.OutcomeAdapted || d.Applied != "png, converted to jpeg" {
		t.Errorf("disposition %+v", d)
	}
	r, err := h.codec.Open(t.Context(), o.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if l, err := imaging.ReadLabel(r); err != nil || l.SourceType != imaging.SourceGenerated || l.Model != "Nano Banana Pro" {
		t.Errorf("label of the converted picture %+v, %v", l, err)
	}

	got = h.must(t, generate.Request{Model: "Nano Banana Pro", OutputFormat: "png"})
	if d := disposition(got.Dispositions, "output_format"); d.Outcome != generate.OutcomeApplied || d.Reason != "" {
		t.Errorf("disposition of a result as requested %+v", d)
	}
}

func TestWhatCannotBeConvertedStays(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.gemini.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		broken := generatetest.PNG(70, 70, 1)
		b := generatetest.Stored(ctx, t, h.codec, broken[:len(broken)-30])
		return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, nil
	}
	got := h.must(t, generate.Request{Model: "Nano Banana Pro", OutputFormat: "jpeg"})
	d := disposition(got.Dispositions, "output_format")
	if o := got.Slots[0].Output; o == nil || o.MIMEType != "image/png" || d.Outcome != generate.OutcomeAdapted || d.Applied != "png" || !strings.Contains(d.Reason, "stays as it is") {
		t.Errorf("slot %+v, disposition %+v", got.Slots[0], d)
	}
}

func TestSizeThatTheModelDidNotKeep(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(1254, 1254, 1))
		return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", Size: "1024x1024"})
	d := disposition(got.Dispositions, "size")
	if d.Outcome != generate.OutcomeAdapted || d.Applied != "1254x1254" || got.Slots[0].Output.Width != 1254 {
		t.Errorf("disposition %+v", d)
	}
}

func TestPolling(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: "task-9"}}, nil
	}
	h.openai.OnPoll = func(ctx context.Context, _ driver.Task, id driver.Handle, n int) (driver.Update, error) {
		if e := h.log.Attempts()[0]; id.ID != "task-9" || e.Task.ID != "task-9" {
			t.Errorf("poll of %q, journal has %+v", id, e)
		}
		first := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 1))
		second := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 2))
		switch n {
		case 1:
			return driver.Update{Task: id, Progress: 0.5, Items: []driver.Item{{Blob: &first}}}, nil
		case 2:
			return driver.Update{}, media.Errorf(media.CodeUnavailable, "poll failed")
		}
		return driver.Update{Task: id, Done: true, Items: []driver.Item{{Blob: &first}, {Blob: &second}}, ReportedUSD: "0.25"}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2", N: 2})
	if got.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 2 || len(h.openai.Tasks()) != 1 {
		t.Errorf("%s with %d records after %d calls: %v", got.Status, len(h.recorder.Records()), len(h.openai.Tasks()), got.Err())
	}
	if *got.Cost.ReportedUSD != "0.25" || len(h.journal.Slept()) != 3 || h.journal.Slept()[0] != 2*time.Second {
		t.Errorf("cost %v, waits %v", *got.Cost.ReportedUSD, h.journal.Slept())
	}
}

func TestOperationContinuesAfterTheWait(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: "task-9"}}, nil
	}
	h.openai.OnPoll = func(context.Context, driver.Task, driver.Handle, int) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: "task-9"}}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2"})
	if got.Status != generate.StatusRunning || got.Slots[0].Status != generate.StatusRunning || got.Slots[0].Error != nil || got.Err() != nil {
		t.Errorf("%+v, want running", got)
	}
	if n := len(h.journal.Slept()); n != 60 || len(h.openai.Cancelled()) != 0 {
		t.Errorf("%d polls, cancelled %v", n, h.openai.Cancelled())
	}
	if a := h.log.Attempts()[0]; a.Status != generate.StatusRunning || a.Task.ID != "task-9" || !a.FinishedAt.IsZero() {
		t.Errorf("attempt %+v", a)
	}
}

func TestCancelWhilePollingTellsTheProvider(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	h := build(t, nil)
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{Task: driver.Handle{ID: "task-9"}}, nil
	}
	h.openai.OnPoll = func(context.Context, driver.Task, driver.Handle, int) (driver.Update, error) {
		stop()
		return driver.Update{Task: driver.Handle{ID: "task-9"}}, nil
	}
	got, err := h.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house"})
	if err != nil || got.Status != generate.StatusCancelled || len(h.openai.Cancelled()) != 1 {
		t.Errorf("%+v, %v, cancelled %v", got, err, h.openai.Cancelled())
	}
}

func TestPollAnswerAboutTheTaskEndsIt(t *testing.T) {
	t.Parallel()
	for code, want := range map[media.Code]struct {
		code      media.Code
		unsettled int
	}{
		media.CodeModerated: {media.CodeModerated, 0}, media.CodeNotFound: {media.CodeBadResponse, 1},
		media.CodeUnauthorized: {media.CodeUnauthorized, 1}, // without a log, nobody can fetch the task later
	} {
		h := build(t, func(_ *testGateway, c *gateway.Config) { c.Operations = nil })
		h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			return driver.Update{Task: driver.Handle{ID: "task-9"}}, nil
		}
		h.openai.OnPoll = func(context.Context, driver.Task, driver.Handle, int) (driver.Update, error) {
			return driver.Update{}, media.Errorf(code, "refused")
		}
		got := h.must(t, generate.Request{Model: "gpt-image-2"})
		if got.Slots[0].Error.Code != want.code || got.Usage.Unsettled != want.unsettled || len(h.openai.Tasks()) != 1 {
			t.Errorf("%s: %+v with %+v after %d calls", code, got.Slots[0].Error, got.Usage, len(h.openai.Tasks()))
		}
	}
}

func TestLastPreviewIsKeptWhereThePictureIsLost(t *testing.T) {
	t.Parallel()
	var events []generate.Event
	h := build(t, func(_ *testGateway, c *gateway.Config) {
		c.Partials = true
		c.Events = func(_ context.Context, e generate.Event) { events = append(events, e) }
	})
	h.openai.OnStart = func(ctx context.Context, task driver.Task, _ int) (driver.Update, error) {
		for i := range 2 {
			task.Partial(1, generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, uint8(i))))
		}
		return driver.Update{}, media.Errorf(media.CodeBadResponse, "cut off")
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2"})
	records := h.recorder.Records()
	if len(records) != 1 || !records[0].Partial || !strings.Contains(got.Slots[0].Error.Message, string(records[0].Ref)) {
		t.Errorf("records %v, error %+v", records, got.Slots[0].Error)
	}
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, string(e.Kind))
	}
	if have := strings.Join(kinds, " "); have != "started partial partial slot finished" || events[2].Sequence != 2 {
		t.Errorf("events %s", have)
	}
}

func disposition(all []generate.Disposition, setting string) generate.Disposition {
	for _, d := range all {
		if d.Setting == setting {
			return d
		}
	}
	return generate.Disposition{}
}

// TestLinksAreGuardedByDefault: a gateway without a Fetch fetches links, but none of this machine.
func TestLinksAreGuardedByDefault(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
		return driver.Update{Done: true, Items: []driver.Item{{URL: "https://127.0.0.1:1/1.png"}}}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2"})
	if e := got.Slots[0].Error; e == nil || e.Code != media.CodeBlockedAddress {
		t.Errorf("slot error %+v, want %s", e, media.CodeBlockedAddress)
	}
}

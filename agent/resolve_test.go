package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/media"
)

// shelf gives one stored picture and a Resolution that finds it.
func shelf(t *testing.T, mode agent.Mode, format agent.Format) (media.Output, agent.Resolution) {
	t.Helper()
	codec := newStore(t)
	blob, err := codec.Store(t.Context(), bytes.NewReader(picture(1)), "")
	if err != nil {
		t.Fatal(err)
	}
	o := media.NewOutput(blob, media.Meta{Label: `A "<b>" & ../c`})
	return o, agent.Resolution{Mode: mode, Format: format, Codec: codec, Find: func(r media.Ref) (media.Output, bool) { return o, r == o.Ref }}
}

func TestResolveModes(t *testing.T) {
	t.Parallel()
	ref := refOf(1)
	mark := "${media:" + ref + "}"
	label := `A &#34;&lt;b&gt;&#34; &amp; ../c`
	figure := func(address string) string {
		return `<figure><img src="` + address + `" alt="` + label + `" title="` + label + `"><figcaption>` + label + `</figcaption></figure>`
	}
	tests := []struct {
		mode   agent.Mode
		format agent.Format
		text   string
		want   string
	}{
		{agent.ModeKeep, "", "a " + mark + " ${media:x}", "a " + mark + " ${media:x}"},
		{agent.ModeURL, "", `<img src="` + mark + `">`, `<img src="/media/` + ref + `">`},
		{agent.ModeURL, "", "a " + mark + ".", "a " + figure("/media/"+ref) + "."},
		{agent.ModeURL, "", "$" + mark, mark},
		{agent.ModeFile, "", `<img src='` + mark + `'>`, `<img src='media/a-b-c-` + ref + `.png'>`},
		{agent.ModeURL, "", "<p>E=" + mark + "</p>", "<p>E=" + figure("/media/"+ref) + "</p>"},
		{agent.ModeURL, "", `<p title="see ` + mark + ` and ${media:x}">y</p>`, `<p title="see ` + label + ` and missing">y</p>`},
		{agent.ModeURL, agent.FormatMarkdown, "a=" + mark, "a=![A \"<b>\" & ../c](/media/" + ref + ")"},
		{agent.ModeURL, agent.FormatMarkdown, "![x](" + mark + ") " + mark, "![x](/media/" + ref + ") ![A \"<b>\" & ../c](/media/" + ref + ")"},
		{agent.ModeURL, agent.FormatText, "see " + mark, "see /media/" + ref},
		{agent.ModeURL, agent.FormatText, "see ${media:img-00000000}, ${media:image_1}!", "see [missing image: img-00000000], [missing image: image_1]!"},
		{agent.ModeURL, "", "${media:image_1", `<figure class="missing-image" role="img" aria-label="Missing image"><div>Missing image</div><figcaption>image_1 is not available.</figcaption></figure>`},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			_, o := shelf(t, tt.mode, tt.format)
			var b strings.Builder
			if err := agent.Resolve(t.Context(), &b, tt.text, o); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("got  %s\nwant %s", b.String(), tt.want)
			}
		})
	}
}

func TestResolveNeverShowsARawMark(t *testing.T) {
	t.Parallel()
	_, o := shelf(t, agent.ModeDataURI, "")
	var b strings.Builder
	err := agent.Resolve(t.Context(), &b, `<img src="${media:img-00000000}"><img src="${media:<script>}"> ${media:} <img src="${media:`+refOf(1)+`}">`, o)
	if err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.Contains(got, "${media") || strings.Contains(got, `src="<`) {
		t.Errorf("got %s", got)
	}
	if strings.Count(got, "Missing") < 3 || !strings.Contains(got, `src="data:image/png;base64,iVBOR`) {
		t.Errorf("got %s", got)
	}
}

func TestResolveLostBytesAreMissing(t *testing.T) {
	t.Parallel()
	out, o := shelf(t, agent.ModeDataURI, "")
	o.Codec = newStore(t) // an empty one
	var b strings.Builder
	if err := agent.Resolve(t.Context(), &b, `<img src="`+out.Ref.Placeholder()+`">`, o); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), `<img src="data:image/svg+xml,`) || !strings.HasSuffix(b.String(), `">`) {
		t.Errorf("got %s", b.String())
	}
}

func TestResolvePayload(t *testing.T) {
	t.Parallel()
	ref := refOf(1)
	_, o := shelf(t, agent.ModeURL, "")
	payload := `{"z":[1,2.50,true,null,"${media:` + ref + `}"],"a":{"report_html":"x\n\"${media:` + ref + `}\"","report_markdown":"![m](${media:` + ref + `})"},"n":12345678901234567890}`
	var b bytes.Buffer
	if err := agent.ResolvePayload(t.Context(), &b, json.RawMessage(payload), o); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Z []any
		A map[string]string
		N json.Number
	}
	d := json.NewDecoder(bytes.NewReader(b.Bytes()))
	d.UseNumber()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	if got.Z[4] != "/media/"+ref || got.N != "12345678901234567890" || !strings.HasPrefix(b.String(), `{"z":[1,2.50,true,null,`) {
		t.Errorf("got %s", b.String())
	}
	if !strings.Contains(got.A["report_html"], `<figure><img src="/media/`+ref) || got.A["report_markdown"] != "![m](/media/"+ref+")" {
		t.Errorf("got %s", b.String())
	}
	for in, fails := range map[string]bool{"": false, "null": false, `{"a":`: true} {
		if err := agent.ResolvePayload(t.Context(), &b, json.RawMessage(in), o); (err != nil) != fails {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestResolveRefusesBadOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []agent.Resolution{{}, {Mode: "inline"}, {Mode: agent.ModeURL}} {
		if err := agent.Resolve(t.Context(), &bytes.Buffer{}, "x", o); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestFileName(t *testing.T) {
	t.Parallel()
	o := media.Output{Ref: "img-0123abcd", Blob: media.Blob{Facts: media.Facts{MIMEType: "image/jpeg"}}}
	for label, want := range map[string]string{
		"":                               "img-0123abcd.jpg",
		"../../etc/passwd":               "etc-passwd-img-0123abcd.jpg",
		"CON":                            "con-img-0123abcd.jpg",
		"Ähre 1!":                        "hre-1-img-0123abcd.jpg",
		strings.Repeat("long name ", 20): "long-name-long-name-long-name-long-name-long-nam-img-0123abcd.jpg",
	} {
		o.Label = label
		if got := agent.FileName(o); got != want {
			t.Errorf("%q: got %q, want %q", label, got, want)
		}
	}
}

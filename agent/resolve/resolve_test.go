package resolve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/agent/resolve"
	"atelier/media"
)

// picture returns a small PNG.
func picture() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 4, 4))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func pictureRef() string { return string(media.RefOf(media.ModalityImage, media.DigestOf(picture()))) }

// storedPicture returns one stored picture and Options that find it.
func storedPicture(t *testing.T, mode resolve.Mode, format resolve.Format) (media.Output, resolve.Options) {
	t.Helper()
	codec := wiretest.NewCodec(t)
	blob, err := codec.Store(t.Context(), bytes.NewReader(picture()), "")
	if err != nil {
		t.Fatal(err)
	}
	o := media.NewOutput(blob, media.Meta{Label: `A "<b>" & ../c`})
	return o, resolve.Options{Mode: mode, Format: format, Codec: codec, Find: func(r media.Ref) (media.Output, bool) { return o, r == o.Ref }}
}

func TestResolveModes(t *testing.T) {
	t.Parallel()
	ref := pictureRef()
	mark := "${media:" + ref + "}"
	label := `A &#34;&lt;b&gt;&#34; &amp; ../c`
	figure := func(address string) string {
		return `<figure><img src="` + address + `" alt="` + label + `" title="` + label + `"><figcaption>` + label + `</figcaption></figure>`
	}
	tests := []struct {
		mode   resolve.Mode
		format resolve.Format
		text   string
		want   string
	}{
		{resolve.ModeKeep, "", "a " + mark + " ${media:x}", "a " + mark + " ${media:x}"},
		{resolve.ModeURL, "", `<img src="` + mark + `">`, `<img src="/media/` + ref + `">`},
		{resolve.ModeURL, "", "a " + mark + ".", "a " + figure("/media/"+ref) + "."},
		{resolve.ModeURL, "", "$" + mark, mark},
		{resolve.ModeFile, "", `<img src='` + mark + `'>`, `<img src='media/a-b-c-` + ref + `.png'>`},
		{resolve.ModeURL, "", "<p>E=" + mark + "</p>", "<p>E=" + figure("/media/"+ref) + "</p>"},
		{resolve.ModeURL, "", `<p title="see ` + mark + ` and ${media:x}">y</p>`, `<p title="see ` + label + ` and missing">y</p>`},
		{resolve.ModeURL, resolve.FormatMarkdown, "a=" + mark, "a=![A \"<b>\" & ../c](/media/" + ref + ")"},
		{resolve.ModeURL, resolve.FormatMarkdown, "![x](" + mark + ") " + mark, "![x](/media/" + ref + ") ![A \"<b>\" & ../c](/media/" + ref + ")"},
		{resolve.ModeURL, resolve.FormatText, "see " + mark, "see /media/" + ref},
		{resolve.ModeURL, resolve.FormatText, "see ${media:img-00000000}, ${media:image_1}!", "see [missing image: img-00000000], [missing image: image_1]!"},
		{resolve.ModeURL, "", "${media:image_1", `<figure class="missing-image" role="img" aria-label="Missing image"><div>Missing image</div><figcaption>image_1 is not available.</figcaption></figure>`},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			_, o := storedPicture(t, tt.mode, tt.format)
			var b strings.Builder
			if err := resolve.Text(t.Context(), &b, tt.text, o); err != nil {
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
	_, o := storedPicture(t, resolve.ModeDataURI, "")
	var b strings.Builder
	err := resolve.Text(t.Context(), &b, `<img src="${media:img-00000000}"><img src="${media:<script>}"> ${media:} <img src="${media:`+pictureRef()+`}">`, o)
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
	out, o := storedPicture(t, resolve.ModeDataURI, "")
	o.Codec = wiretest.NewCodec(t) // without the blob
	var b strings.Builder
	if err := resolve.Text(t.Context(), &b, `<img src="`+out.Ref.Placeholder()+`">`, o); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), `<img src="data:image/svg+xml,`) || !strings.HasSuffix(b.String(), `">`) {
		t.Errorf("got %s", b.String())
	}
}

func TestResolvePayload(t *testing.T) {
	t.Parallel()
	ref := pictureRef()
	_, o := storedPicture(t, resolve.ModeURL, "")
	payload := `{"z":[1,2.50,true,null,"${media:` + ref + `}"],"a":{"report_html":"x\n\"${media:` + ref + `}\"","report_markdown":"![m](${media:` + ref + `})"},"n":12345678901234567890}`
	var b bytes.Buffer
	if err := resolve.Payload(t.Context(), &b, json.RawMessage(payload), o); err != nil {
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
		if err := resolve.Payload(t.Context(), &b, json.RawMessage(in), o); (err != nil) != fails {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestResolveRefusesBadOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []resolve.Options{{}, {Mode: "inline"}, {Mode: resolve.ModeURL}} {
		if err := resolve.Text(t.Context(), &bytes.Buffer{}, "x", o); media.CodeOf(err) != media.CodeInvalid {
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
		if got := resolve.FileName(o); got != want {
			t.Errorf("%q: got %q, want %q", label, got, want)
		}
	}
}

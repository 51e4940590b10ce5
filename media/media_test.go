package media

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestDigestText(t *testing.T) {
	t.Parallel()
	d := DigestOf([]byte("abc"))
	const text = "sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if d.String() != text || "sha256-"+d.Hex() != text || NewDigest(sha256.Sum256([]byte("abc"))) != d {
		t.Errorf("digest of abc is %s", d)
	}
	for _, bad := range []string{"", "sha256-", strings.ToUpper(text), text + "0", text[:70] + "zz", "md5-" + text[7:], strings.Repeat("x", 1000)} {
		if got, err := ParseDigest(bad); CodeOf(err) != CodeInvalid || !got.IsZero() || len(err.Error()) > 300 {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
	var zero, back Digest
	b, err := json.Marshal(map[string]Digest{"zero": zero, "d": d})
	if err != nil || !strings.Contains(string(b), `"zero":""`) {
		t.Errorf("%s, %v", b, err)
	}
	if err := json.Unmarshal([]byte(`"`+text+`"`), &back); err != nil || back != d {
		t.Errorf("%v, %v", back, err)
	}
	if json.Unmarshal([]byte(`"nonsense"`), &back) == nil {
		t.Error("nonsense was accepted")
	}
}

func TestRefIsDerivedFromContent(t *testing.T) {
	t.Parallel()
	d := DigestOf([]byte("abc"))
	for m, prefix := range map[Modality]string{ModalityImage: "img-", ModalityAudio: "aud-", ModalityVideo: "vid-", ModalityDocument: "doc-"} {
		r := RefOf(m, d)
		if !strings.HasPrefix(string(r), prefix) || len(r) != 12 || r.Modality() != m {
			t.Errorf("%s: %s", m, r)
		}
		if back, err := ParseRef(r.Placeholder()); err != nil || back != r {
			t.Errorf("%s: %v, %v", r, back, err)
		}
	}
	if r := RefOf(ModalityImage, Digest{}); r != "" {
		t.Errorf("the zero digest has the ref %s", r)
	}
	for _, bad := range []string{"", "img-", "img-7k3m9q2", "img-7k3m9q2xx", "pic-7k3m9q2x", "img-7k3m9q2u", "${media:}", "/media/", "data:image/png;base64,AAAA"} {
		if _, err := ParseRef(bad); CodeOf(err) != CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestModalities(t *testing.T) {
	t.Parallel()
	for mime, want := range map[string]Modality{"image/svg+xml": ModalityImage, "AUDIO/wav": ModalityAudio, "video/mp4": ModalityVideo, "text/html": ModalityDocument, "": ModalityDocument} {
		if got := ModalityOf(mime); got != want {
			t.Errorf("%q: %s, want %s", mime, got, want)
		}
	}
	if m, err := ParseModality(" Image "); err != nil || m != ModalityImage {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := ParseModality("smell"); CodeOf(err) != CodeInvalid {
		t.Errorf("%v", err)
	}
}

func TestOutputShowsNoBytes(t *testing.T) {
	t.Parallel()
	o := item("a", "label")
	want := fmt.Sprintf("<image image/png 1 bytes %s>", o.Ref)
	if o.String() != want || fmt.Sprint(o) != want || o.LogValue().Kind() != slog.KindString {
		t.Errorf("got %s, want %s", o, want)
	}
	if s := (Output{Modality: ModalityImage}).String(); !strings.Contains(s, "no ref") {
		t.Errorf("got %s", s)
	}
}

func TestErrorsHaveCodes(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	e := Errorf(CodeUnavailable, "read x: %w", cause)
	if !errors.Is(e, cause) || e.Error() != "read x: cause" || !Retryable(e) || Retryable(Errorf(CodeInvalid, "x")) {
		t.Errorf("%+v", e)
	}
	for err, want := range map[error]Code{
		nil: "", cause: CodeInternal, context.Canceled: CodeCancelled, context.DeadlineExceeded: CodeDeadline,
		fmt.Errorf("wrapped: %w", e): CodeUnavailable,
	} {
		if got := CodeOf(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
		if of := error(Errorf(want, "x")); want != "" && (errors.Is(of, context.Canceled) != errors.Is(err, context.Canceled) || errors.Is(of, context.DeadlineExceeded) != errors.Is(err, context.DeadlineExceeded)) {
			t.Errorf("errors.Is disagrees about %v and the code %s", err, want)
		}
	}
}

func TestScopeTravelsInTheContext(t *testing.T) {
	t.Parallel()
	if got := ScopeOf(t.Context()); got != (Scope{}) {
		t.Errorf("%+v", got)
	}
	want := Scope{Owner: "o", Tree: "t", Run: "r"}
	if got := ScopeOf(WithScope(t.Context(), want)); got != want {
		t.Errorf("%+v", got)
	}
}

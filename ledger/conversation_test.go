package ledger_test

import (
	"testing"

	"atelier/ledger"
	"atelier/media"
)

func TestAttachmentName(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]struct {
		mime, label string
	}{
		"Image_3.png":      {"image/png", " "},
		"Image_3.jpg":      {"image/jpeg", ""},
		"Image_3.svg":      {"image/svg+xml", ""},
		"Audio_3.mp3":      {"audio/mpeg", ""},
		"Video_3.mp4":      {"video/mp4", ""},
		"Document_3.md":    {"text/markdown", ""},
		"Document_3.bin":   {"application/vnd.oasis.opendocument.text", ""},
		"Image_3.icon":     {"image/x-icon", ""},
		"A red lighthouse": {"image/png", "A red lighthouse"},
	} {
		blob := media.Blob{Digest: media.DigestOf([]byte("a")), Facts: media.Facts{MIMEType: o.mime}}
		if got := ledger.AttachmentName(media.NewOutput(blob, media.Meta{Label: o.label}), 3); got != want {
			t.Errorf("%s %q is called %q, want %q", o.mime, o.label, got, want)
		}
	}
}

package resolve_test

import (
	"strings"
	"testing"

	"atelier/agent/resolve"
	"atelier/media"
)

// TestMarkdownLabelEndsItsText: no character of a label ends or extends the text of a picture in Markdown.
func TestMarkdownLabelEndsItsText(t *testing.T) {
	t.Parallel()
	item := media.Output{Modality: media.ModalityImage, Ref: "img-7k3m9q2x", Label: `C:\photos\`}
	var b strings.Builder
	err := resolve.Text(t.Context(), &b, "${media:img-7k3m9q2x}", resolve.Options{
		Mode: resolve.ModeURL, Format: resolve.FormatMarkdown, Find: func(media.Ref) (media.Output, bool) { return item, true },
	})
	if want := `![C:\\photos\\](/media/img-7k3m9q2x)`; err != nil || b.String() != want {
		t.Errorf("got %s, %v, want %s", b.String(), err, want)
	}
}

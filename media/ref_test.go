package media_test

import (
	"regexp"
	"testing"

	"atelier/media"
)

// FuzzParseRef: an accepted ref has the only valid form of refs, and is parsed to itself.
func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"img-7k3m9q2x", "${media:img-7k3m9q2x}", "/media/IMG-7K3M9Q2X.png?w=1", "img-7k3m9q2", "img-7k3m9q2x\x00", "../img-7k3m9q2x", "http://%zz/img-7k3m9q2x", "", "ımg-7k3m9q2x"} {
		f.Add(s)
	}
	form := regexp.MustCompile(`^(img|aud|vid|doc)-[0-9a-hjkmnp-tv-z]{8}$`)
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := media.ParseRef(text)
		if err != nil {
			if media.CodeOf(err) != media.CodeInvalid || ref != "" {
				t.Errorf("%q: %q, %v", text, ref, err)
			}
			return
		}
		again, err := media.ParseRef(string(ref))
		if !form.MatchString(string(ref)) || err != nil || again != ref {
			t.Errorf("%q: %q, again %q, %v", text, ref, again, err)
		}
	})
}

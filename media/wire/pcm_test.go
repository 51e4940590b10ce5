package wire

import (
	"strings"
	"testing"

	"atelier/media"
)

// TestSoundIsWhatItsBytesAre: a declared type neither adds a header before an existing one nor leaves raw samples
// without one; the header in the bytes determines the duration.
func TestSoundIsWhatItsBytesAre(t *testing.T) {
	t.Parallel()
	samples := string(blobNoise(48_000))
	stereo := string(wavHeader(48_000, PCM{Rate: 12_000, Channels: 2}.withDefaults())) + samples
	for name, k := range map[string]struct {
		declared, bytes, mime, stored string
		seconds                       float64
	}{
		"L16 that is WAV":          {"audio/L16;codec=pcm;rate=24000", stereo, "audio/wav", stereo, 1},
		"L16 of another rate":      {"audio/L16;rate=8000", stereo, "audio/wav", stereo, 1},
		"L16":                      {"audio/L16;rate=12000;channels=2", samples, "audio/wav", stereo, 1},
		"WAV without a header":     {"audio/wav", samples, "audio/wav", string(wavHeader(48_000, PCM{}.withDefaults())) + samples, 1},
		"WAV of a rate, no header": {"audio/x-wav;rate=12000;channels=2", samples, "audio/wav", stereo, 1},
		"a page as WAV":            {"audio/wav", "<!doctype html><p>Too many requests</p>", "text/html", "", 0},
		"a text as L16":            {"audio/L16;rate=24000", "The service is not available.", "", "", 0},
		"MP3 as WAV":               {"audio/wav", "ID3\x04\x00\x00\x00\x00\x00\x00" + samples, "audio/mpeg", "", 0},
	} {
		c := newTestCodec(t, nil)
		want := k.stored
		if want == "" {
			want = k.bytes
		}
		b, err := c.Store(scoped(t), strings.NewReader(k.bytes), k.declared)
		if err != nil || b.Digest != media.DigestOf([]byte(want)) || k.mime != "" && b.MIMEType != k.mime || k.mime == "" && b.MIMEType == "audio/wav" || k.seconds > 0 && b.DurationSeconds != k.seconds {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
		doc := `{"inlineData":{"mimeType":"` + k.declared + `","data":"` + std([]byte(k.bytes)) + `"}}`
		_, got, err := lift(t, c, doc, 7, LiftOptions{Fields: Fields{Media: []string{"inlineData.data"}}})
		if err != nil || len(got) != 1 || got[0].Blob.Digest != b.Digest || got[0].Blob.MIMEType != b.MIMEType {
			t.Errorf("%s in a field: %+v, %v", name, got, err)
		}
		_, got = c.LiftString(scoped(t), std([]byte(k.bytes)), ValueOptions{Declared: true, MIMEType: k.declared})
		if len(got) != 1 || got[0].Blob.Digest != b.Digest || got[0].Blob.MIMEType != b.MIMEType {
			t.Errorf("%s as a value: %+v", name, got)
		}
	}
}

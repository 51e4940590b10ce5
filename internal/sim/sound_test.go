package sim_test

import (
	"bytes"
	"math"
	"testing"

	"atelier/internal/sim"
	"atelier/media/probe"
)

// TestSoundsAreWhatTheySay: a sniffer detects the type and the duration of every format.
func TestSoundsAreWhatTheySay(t *testing.T) {
	t.Parallel()
	for format, kind := range map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg", "aac": "audio/aac", "flac": "audio/flac", "opus": "audio/ogg"} {
		b := sim.Sound(format, 2000, 7).Bytes()
		f, err := probe.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil || f.MIMEType != kind || format != "aac" && math.Abs(f.DurationSeconds-2) > 0.05 {
			t.Errorf("%s: %+v, %v; want %s of 2 s", format, f, err, kind)
		}
		if bytes.Equal(b, sim.Sound(format, 2000, 1<<40).Bytes()) || !bytes.Equal(b, sim.Sound(format, 2000, 7).Bytes()) {
			t.Errorf("%s does not follow the seed", format)
		}
	}
}

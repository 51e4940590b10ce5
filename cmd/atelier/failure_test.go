package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPathsAreShownAsTyped: an error shows the path that a person gave, whatever it looks like; encoded media given as
// a path are still omitted.
func TestPathsAreShownAsTyped(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	folder := filepath.Join(p.dir, "Q3r7X", "Zb2Kp", "m9aL4", "Tg6Yh", "V8sN1", "wE5uR", "k7Dj2F", "B3xC9", "Pz4Mq")
	if err := os.MkdirAll(filepath.Join(folder, "dir"), 0o750); err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(folder, "dir")
	missing := filepath.Join(folder, "A1bC2", "d3E4f.svg")
	shown := newCanary(t, 1, 7)
	long := shown.base64()
	for _, c := range []struct {
		args []string
		path string
	}{
		{[]string{"generate", "a fox", "-m", "offline", "--size", "64x64", "-o", there}, there},
		{[]string{"generate", "a fox", "-m", "offline", "--size", "64x64", "--output=" + missing}, missing},
		{[]string{"run", "sage", "x", "--image", missing}, missing},
		{[]string{"generate", "a fox", "-m", "offline", "--edit", missing}, missing},
		{[]string{"runs", "list", "--status", there}, there},
	} {
		if o := p.atelier(c.args...); o.code == exitOK || !strings.Contains(o.stderr, c.path) {
			t.Errorf("atelier %q: exit %d, %s", c.args, o.code, o.stderr)
		}
	}
	for _, hidden := range []string{long, "./" + long, "/" + long, there + long, filepath.Join(there, long)} {
		for _, args := range [][]string{{"run", "sage", "x", "--image", hidden}, {"run", "sage", "x", "--files", hidden + "/x/y"}, {"runs", "list", "--status=" + hidden}} {
			if o := p.atelier(args...); o.code == exitOK || len(shown.leaks([]byte(o.stderr))) > 0 {
				t.Errorf("atelier %q: exit %d, %s", args, o.code, o.stderr)
			}
		}
	}
}

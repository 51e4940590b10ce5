package main

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGalleryShowsEverySample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := read()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range list {
		seen[s.Action] = true
		if !bytes.Contains(page, []byte(`id="`+s.name+`"`)) {
			t.Errorf("%s is not on the page", s.name)
		}
		data, err := os.ReadFile(filepath.Join(dir, s.name+".svg"))
		if refused := strings.HasSuffix(s.name, "refused"); refused != (err != nil) {
			t.Errorf("%s: %v", s.name, err)
		} else if !refused && xml.Unmarshal(data, &struct{}{}) != nil {
			t.Errorf("%s is not well-formed", s.name)
		}
	}
	for name := range actions() {
		if !seen[name] {
			t.Errorf("%s has no sample", name)
		}
	}
}

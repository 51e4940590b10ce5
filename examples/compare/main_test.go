package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/generatetest/openaisim"
)

// TestCompare: two providers answer; a model that does not exist stops neither.
func TestCompare(t *testing.T) {
	t.Parallel()
	openai, flux, out := openaisim.New(openaisim.Config{}), bflsim.New(bflsim.Config{}), t.TempDir()
	one, two := httptest.NewServer(openai), httptest.NewServer(flux)
	defer one.Close()
	defer two.Close()
	config := atelier.Config{
		Dir:      t.TempDir(),
		Keys:     map[string]string{"openai": openai.Key(), "bfl": flux.Key()},
		BaseURLs: map[string]string{"openai": one.URL + "/v1", "bfl": two.URL},
	}
	var said strings.Builder
	if err := compare(t.Context(), config, []string{"GPT Image 2", "FLUX.2 Pro", "No Such Model"}, out, &said); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(said.String(), "\n")
	if !strings.Contains(lines[0], "1.png, $0.") || !strings.Contains(lines[1], "2.png, $0.") || !strings.HasPrefix(lines[2], "No Such Model: ") {
		t.Error(said.String())
	}
	for _, name := range []string{"1.png", "2.png"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

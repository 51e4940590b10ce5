package main

import (
	"strings"
	"testing"
)

// TestCatalogueIsComparedWithToday: models show marks unconfirmed rows and prints the last day of a price; models check
// and doctor report what is out of date.
func TestCatalogueIsComparedWithToday(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	show := p.must("models", "show", "gemini-nano-banana-2.1").stdout
	for _, want := range []string{"unconfirmed", "14 input pictures", "$0.0336 per image 1K"} {
		if !strings.Contains(show, want) {
			t.Errorf("models show has no %q:\n%s", want, show)
		}
	}
	for _, name := range []string{"Claude Sonnet 4.6", "anthropic/claude-sonnet-4-6"} {
		p.atelier("models", "show", name).checkRefused(t, exitInput, "is a chat model: atelier models list --chat shows it")
	}
	if show := p.must("models", "show", "gemini-3.8-flash-tts").stdout; !strings.Contains(show, "until 2026-12-31") {
		t.Errorf("models show prints no end of a price:\n%s", show)
	}
	p.env["ATELIER_CATALOGUE"] = p.write("own.yaml", `
provider: studio
endpoint: {base_url: "http://127.0.0.1:1/v1"}
models:
  - {name: Old Studio, api_model: old-1, modality: image, methods: [generate], size: {mode: none}, max_n: 1, life: {shut_down: 2020-01-01, replaced_by: old-2}}
  - {name: Dead Studio, api_model: old-2, modality: image, methods: [generate], size: {mode: none}, max_n: 1, life: {shut_down: 2021-01-01}}
`)
	found := p.must("models", "check").stdout
	if !strings.Contains(found, "Old Studio") || !strings.Contains(found, "its successor Dead Studio ends on 2021-01-01") {
		t.Errorf("models check:\n%s", found)
	}
	if json := p.must("models", "check", "--json").stdout; !strings.Contains(json, `"ok":false`) && !strings.Contains(json, `"ok": false`) {
		t.Errorf("models check --json: %s", json)
	}
	if doctor := p.must("doctor").stdout; !strings.Contains(doctor, "model catalogue") || !strings.Contains(doctor, "atelier models check") {
		t.Errorf("doctor:\n%s", doctor)
	}
}

// TestCheckedProvidersExist: a check of no provider is an error that says why, not an empty report.
func TestCheckedProvidersExist(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.atelier("models", "check", "--chat", "--provider", "opnai").checkRefused(t, exitInput, "atelier providers")
	p.atelier("models", "check", "--chat", "--provider", "openai").checkRefused(t, exitInput, "OPENAI_API_KEY")
	p.must("models", "check", "--chat")
}

// TestDoctorChecksTheImageModel: doctor names the default image model, and reports one that does not exist or whose
// substitutes do not, as the first generation would. It also reports a setting with which serve would not start, and a
// disk on which no billable call is made.
func TestDoctorChecksTheImageModel(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	if o := p.must("doctor"); !strings.Contains(o.stdout, "default image model") {
		t.Error(o.stdout)
	}
	for _, variable := range []string{"ATELIER_IMAGE_MODEL", "ATELIER_IMAGE_FALLBACK"} {
		p.env[variable] = "nonsense"
		if o := p.atelier("doctor"); o.code != exitInput || !strings.Contains(o.stdout, variable+": there is no model") {
			t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
		}
		delete(p.env, variable)
	}
	for _, variable := range []string{"ATELIER_MAX_UPLOAD", "ATELIER_RATE_LIMIT"} { // serve would refuse to start
		p.env[variable] = "nonsense"
		if o := p.atelier("doctor"); o.code != exitInput || !strings.Contains(o.stdout, variable+` is "nonsense"`) {
			t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
		}
		delete(p.env, variable)
	}
	for listen, says := range map[string]string{"8484": "give host and port", "127.0.0.1:99999": "invalid port", "0.0.0.0:8484": "atelier tokens create"} {
		p.env["ATELIER_LISTEN"] = listen
		if o := p.atelier("doctor"); o.code != exitInput || !strings.Contains(o.stdout, says) {
			t.Errorf("ATELIER_LISTEN=%s: exit %d: %s%s", listen, o.code, o.stdout, o.stderr)
		}
		delete(p.env, "ATELIER_LISTEN")
	}
	p.env["ATELIER_MIN_FREE_MIB"] = "2000000000"
	if o := p.atelier("doctor"); o.code != exitInput || !strings.Contains(o.stdout, "MiB free, and about 2000000000 MiB are needed") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
}

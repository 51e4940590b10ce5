package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHelpAndVersion: help prints what --help prints, and --version what version does.
func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for _, command := range []string{"", "runs", "runs show", "generate"} {
		words := strings.Fields(command)
		a, b := p.start(append([]string{"help"}, words...)...).wait(), p.start(append(words, "--help")...).wait()
		if a.code != exitOK || a.stdout != b.stdout || !strings.HasPrefix(a.stdout, "Usage: atelier") {
			t.Errorf("help %s: exit %d, %s%s", command, a.code, a.stdout, a.stderr)
		}
	}
	p.start("help", "nosuch").wait().checkRefused(t, exitInput, "nosuch")
	a, b := p.start("--version").wait(), p.start("version").wait()
	if a.code != exitOK || a.stdout != b.stdout || !strings.HasPrefix(a.stdout, "atelier ") {
		t.Errorf("--version: exit %d, %s%s", a.code, a.stdout, a.stderr)
	}
	if o := p.start("--version", "--json").wait(); document(t, o)["version"] == nil {
		t.Errorf("--version --json: %s", o.stdout)
	}
}

// TestCompletion: with its script, each shell completes commands, flags, choices, agents and last.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for shell, script := range map[string]string{
		"bash": `source <(atelier completion bash); COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _atelier atelier; printf '%%s\n' "${COMPREPLY[@]}"`,
		"zsh":  `compdef() { :; }; _files() { :; }; compadd() { print -rl -- "${(@P)2}"; }; source <(atelier completion zsh); words=(%s); CURRENT=${#words}; _atelier`,
		"fish": `atelier completion fish | source; complete -C (string join ' ' -- %s)`,
	} {
		if _, err := exec.LookPath(shell); err != nil && shell != "bash" {
			continue // only bash is always installed
		}
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			p := newTestEnv(t)
			bin := filepath.Dir(p.write("bin/atelier", "#!/bin/sh\n"+asBinary+"=1 exec '"+binary(t)+"' \"$@\"\n"))
			if err := os.Chmod(filepath.Join(bin, "atelier"), 0o700); err != nil {
				t.Fatal(err)
			}
			for typed, want := range map[string]string{
				`run`:                           "run runs",
				`runs sh`:                       "show",
				`runs show la`:                  "last",
				`generate x --dr`:               "--dry-run",
				`run sage hi --image-detail lo`: "low",
				`run sa`:                        "sage",
				`help runs f`:                   "fork",
				`chat sa`:                       "sage",
				`completion z`:                  "zsh",
				`runs list --limit 5 --st`:      "--status",
			} {
				cmd := exec.CommandContext(t.Context(), shell, "-c", strings.ReplaceAll(strings.Replace(script, "%s", "atelier "+typed, 1), "%%", "%"))
				cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+p.dir, "ATELIER_DATA="+p.data)
				cmd.Dir = p.dir
				out, err := cmd.CombinedOutput()
				if got := strings.Fields(string(out)); err != nil || !slices.Equal(got, strings.Fields(want)) {
					t.Errorf("%q becomes %q, want %q (%v)", typed, got, want, err)
				}
			}
		})
	}
}

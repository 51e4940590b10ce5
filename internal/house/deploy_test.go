package house_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func readFile(t *testing.T, name ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{root}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// instructions returns the instructions of a Dockerfile, with continued lines joined.
func instructions(text string) (all [][2]string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		all = append(all, [2]string{strings.ToUpper(name), strings.Join(strings.Fields(rest), " ")})
	}
	return all
}

// flawsOfImage returns the rules that a Dockerfile breaks.
func flawsOfImage(text, goVersion string) (flaws []string) {
	all := instructions(text)
	last := func(name string) (value string, at int) {
		for i, in := range all {
			if in[0] == name {
				value, at = in[1], i
			}
		}
		return value, at
	}
	_, stage := last("FROM")
	user, at := last("USER")
	if user == "" || at < stage || strings.HasPrefix(user, "root") || strings.HasPrefix(user, "0") {
		flaws = append(flaws, "it runs as root")
	}
	for _, in := range all {
		image, _, _ := strings.Cut(in[1], " ")
		_, tag, tagged := strings.Cut(image, ":")
		switch {
		case in[0] == "FROM" && (!tagged || strings.HasPrefix(tag, "latest")):
			flaws = append(flaws, image+" has no version")
		case in[0] == "FROM" && strings.HasPrefix(image, "golang:") && !strings.HasPrefix(tag, goVersion):
			flaws = append(flaws, image+" is not the Go of go.mod, "+goVersion)
		case in[0] == "ADD":
			flaws = append(flaws, "ADD fetches and unpacks: use COPY")
		case (in[0] == "ENV" || in[0] == "ARG") && regexp.MustCompile(`(?i)(key|secret|token|password)\w*=`).MatchString(in[1]):
			flaws = append(flaws, in[1]+" puts a secret into the image")
		case (in[0] == "ENTRYPOINT" || in[0] == "CMD") && !strings.HasPrefix(in[1], "["):
			flaws = append(flaws, in[0]+" runs a shell, which gets the signals")
		case in[0] == "RUN" && strings.Contains(in[1], "go build") && !strings.Contains(in[1], "CGO_ENABLED=0"):
			flaws = append(flaws, "the image has no C library, and the build needs one")
		}
	}
	if entry, _ := last("ENTRYPOINT"); entry == "" {
		flaws = append(flaws, "it has no ENTRYPOINT")
	}
	return flaws
}

// TestTheImage: the Dockerfile follows the important rules, and each rule detects a violation.
func TestTheImage(t *testing.T) {
	t.Parallel()
	text := readFile(t, "deploy", "Dockerfile")
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(readFile(t, "go.mod"))[1]
	if flaws := flawsOfImage(text, version); len(flaws) > 0 {
		t.Errorf("deploy/Dockerfile: %v", flaws)
	}
	ignored := strings.Fields(readFile(t, ".dockerignore"))
	for _, secret := range []string{".git", "**/*.env"} {
		if !slices.Contains(ignored, secret) {
			t.Errorf(".dockerignore lacks %s", secret)
		}
	}
	for name, change := range map[string][2]string{
		"root": {"USER 65532:65532", "USER root"}, "no user": {"USER 65532:65532", ""}, "latest": {"static-debian12:nonroot", "static-debian12"}, "another Go": {"golang:" + version, "golang:1.20"},
		"a secret": {"ENV ATELIER_DATA=/data", "ENV OPENAI_API_KEY=x"}, "a shell": {`ENTRYPOINT ["/atelier"]`, "ENTRYPOINT /atelier"}, "ADD": {"COPY . .", "ADD . ."}, "CGO": {"CGO_ENABLED=0 ", ""},
	} {
		broken := strings.Replace(text, change[0], change[1], 1)
		if broken == text || len(flawsOfImage(broken, version)) == 0 {
			t.Errorf("nothing is found wrong with %s", name)
		}
	}
}

// TestTheUnit: the service is hardened, has enough time for its grace period, and is valid for systemd if that is
// installed.
func TestTheUnit(t *testing.T) {
	t.Parallel()
	text := readFile(t, "deploy", "atelier.service")
	var last string
	have := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			last = have[name]
			have[name] = strings.TrimSpace(last + " " + value)
		}
	}
	for name, want := range map[string]string{
		"User": "atelier", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes",
		"ProtectKernelTunables": "yes", "ProtectKernelModules": "yes", "ProtectControlGroups": "yes", "RestrictNamespaces": "yes", "RestrictSUIDSGID": "yes", "LockPersonality": "yes",
		"SystemCallFilter": "@system-service ~@privileged", "SystemCallErrorNumber": "EPERM", "StateDirectory": "atelier", "StateDirectoryMode": "0700", "UMask": "0077", "Restart": "on-failure",
	} {
		if got, ok := have[name]; !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if have["ProcSubset"] == "pid" {
		t.Error("/proc lacks the boot id (run/lease): a restart waits for the leases of the process before, instead of noticing its death")
	}
	grace := regexp.MustCompile(`--grace (\S+)`).FindStringSubmatch(have["ExecStart"])
	if grace == nil {
		t.Fatalf("no --grace in %q", have["ExecStart"])
	}
	given, err := time.ParseDuration(grace[1])
	stop, err2 := time.ParseDuration(have["TimeoutStopSec"])
	if err != nil || err2 != nil || stop <= given {
		t.Errorf("it is killed after %s, its grace is %s", have["TimeoutStopSec"], grace[1])
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	unit := filepath.Join(t.TempDir(), "atelier.service")
	if err := os.WriteFile(unit, []byte(strings.Replace(text, "/usr/local/bin/atelier", "/bin/true", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, analyze, "verify", "--man=no", unit).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze verify: %v: %s", err, out)
	}
}

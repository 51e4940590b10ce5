package main

import (
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
)

// TestStoppedDuringCalls: a server that is stopped in order while a provider is at work, longer than
// its grace, leaves the call to its relay, and the next process takes the answer: nothing is
// asked for twice and nothing is lost.
func TestStoppedDuringCalls(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"model call", "picture begins"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			s := newWorkshop(t)
			s.env[relayVariable] = "on"
			id := s.handedOver(t)
			var o outcome
			struck := make(chan struct{})
			s.mu.Lock() // until the process is known
			serving, _ := s.serving(t, "--grace", "1ms")
			s.when, s.strike = strikes()[at], func() {
				_ = serving.cmd.Process.Signal(syscall.SIGTERM)
				o = serving.wait()
				close(struck)
			}
			s.mu.Unlock()
			within(t, "the call", struck)
			if o.code != exitOK {
				t.Errorf("serve ended with %d: %s", o.code, o.stderr)
			}
			if o := s.atelier("resume", id, "--json"); o.code != exitOK {
				t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
			}
			s.unharmed(t, 4)
			s.allTaken(t)
		})
	}
}

// handedOver is a run whose process was killed in its first model call.
func (s *workshop) handedOver(t *testing.T) (id string) {
	t.Helper()
	s.mu.Lock() // until the process is known
	proc := s.start("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--json")
	s.when, s.strike = func(*http.Request) bool { return true }, func() { killNow(proc.cmd.Process) }
	s.mu.Unlock()
	proc.wait()
	return s.onlyRun().ID
}

// TestRelayCanBeTurnedOff: without a relay there is no second process, and a word that is neither
// on nor off is refused.
func TestRelayCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	for value, begun := range map[string]int{"": 1, "on": 1, " Off ": 0} {
		s := newWorkshop(t)
		s.env[relayVariable] = value
		var found int
		s.mu.Lock() // until the process is known
		proc := s.start("generate", "a lighthouse", "--model", "FLUX.2 Pro")
		s.when, s.strike = strikes()["picture begins"], func() { found = len(children(proc.cmd.Process.Pid)) }
		s.mu.Unlock()
		if o := proc.wait(); o.code != exitOK || found != begun {
			t.Errorf("%q: exit %d, %d processes begun, want %d: %s", value, o.code, found, begun, o.stderr)
		}
	}
	p := newPlace(t)
	p.env[relayVariable] = "perhaps"
	if o := p.atelier("models", "list"); o.code != exitInput {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

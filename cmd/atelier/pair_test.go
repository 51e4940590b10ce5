package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestTwoResumesAtOnce: if two processes resume a killed run at once, one continues it. The other names it, with its
// machine and start time, and exits with the code for work that is still running.
func TestTwoResumesAtOnce(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		t.Run(fmt.Sprint("pair ", i), func(t *testing.T) {
			t.Parallel()
			s := newAgentEnv(t)
			id, _ := s.run(t, i+1)
			refused := make(chan struct{})
			release := sync.OnceFunc(func() { close(refused) })
			defer release()
			s.mu.Lock()
			s.at, s.each = 0, func(*http.Request) { <-refused }
			s.mu.Unlock()
			ends := make(chan outcome, 2)
			var pids [2]int
			for n := range pids {
				proc := s.start("resume", id)
				pids[n] = proc.cmd.Process.Pid
				go func() { ends <- proc.wait() }()
			}
			loser := <-ends
			release()
			winner := <-ends
			host, _ := os.Hostname()
			named := false
			for _, pid := range pids {
				named = named || strings.Contains(loser.stderr, fmt.Sprintf("run %s is already running: process %d on %s has been working on it since 20", id, pid, host))
			}
			if loser.code != exitRunning || !named || !strings.Contains(loser.stderr, "atelier runs events "+id) {
				t.Errorf("refused with exit %d: %s", loser.code, loser.stderr)
			}
			if winner.code != exitOK {
				t.Errorf("exit %d: %s", winner.code, winner.stderr)
			}
			if events := s.eventCounts(t, id); events["boss run-succeeded"] != 1 {
				t.Errorf("events %v", events)
			}
			s.checkNotResumable(t, id)
		})
	}
}

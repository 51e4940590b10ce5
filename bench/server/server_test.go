// Package server measures the server from outside: the real binary in its own process, over HTTP. Its figures and their
// bounds are in docs/performance.md.
//
//	go -C bench test -run '^$' -bench . ./server
package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"atelier/api/client"
)

var program string //nolint:gochecknoglobals // built once

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "atelier-bench-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "atelier")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/atelier")
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	if err := forget(program); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // nothing reads it any more
	os.Exit(code)
}

// forget drops a file from the page cache, so that it is read from disk like an installed program. The kernel maps
// larger pieces of a file that was just written: 50 or 62 MiB of the same program.
func forget(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// server is atelier serve in its own process.
type server struct {
	*client.Client
	url   string
	cmd   *exec.Cmd
	ready time.Duration // from the start of the process
	stop  func()
}

// serve starts a server on a data folder and waits until it is ready.
func serve(b *testing.B, dir string, env ...string) *server {
	b.Helper()
	s := &server{cmd: exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--json", "--grace", "1s")}
	s.cmd.Env = append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "ATELIER_DATA=" + dir}, env...)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	s.stop = sync.OnceFunc(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = s.cmd.Wait()                          // how it ends is not measured
	})
	b.Cleanup(s.stop)
	line, err := bufio.NewReader(out).ReadBytes('}')
	var address struct{ URL string }
	if err = errors.Join(err, json.Unmarshal(line, &address)); err != nil {
		b.Fatal(err)
	}
	s.url = address.URL
	if s.Client, err = client.New(client.Config{URL: s.url}); err != nil {
		b.Fatal(err)
	}
	ctx, done := context.WithTimeout(b.Context(), time.Minute)
	defer done()
	for s.Health.Ready(ctx) != nil {
		if ctx.Err() != nil {
			b.Fatal("the server is not ready")
		}
		time.Sleep(5 * time.Millisecond) // polling loads the server, too
	}
	s.ready = time.Since(begun)
	return s
}

// resident returns the memory of the server's process in MiB.
func (s *server) resident(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
	if err != nil {
		b.Fatalf("memory is read from /proc: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kib) / 1024
}

// worked returns the processor time of the server's process, in steps of 10 ms.
func (s *server) worked(b *testing.B) time.Duration {
	b.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/stat")
	_, rest, named := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if err != nil || !named || len(fields) < 13 {
		b.Fatalf("processor time is read from /proc: %v", err)
	}
	ticks := 0
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// growth returns the peak growth of the server's memory while do runs, in MiB.
func (s *server) growth(b *testing.B, do func()) float64 {
	b.Helper()
	before, most := s.resident(b), 0.0
	over := make(chan struct{})
	go func() {
		defer close(over)
		do()
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		most = max(most, s.resident(b))
		select {
		case <-over:
			return most - before
		case <-tick.C:
		}
	}
}

// percentile returns a percentile of times in milliseconds; p is from 0 to 1.
func percentile(times []time.Duration, p float64) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)].Seconds() * 1000
}

// report reports the median and the 99th percentile.
func report(b *testing.B, times []time.Duration) {
	b.Helper()
	b.ReportMetric(percentile(times, 0.5), "p50-ms")
	b.ReportMetric(percentile(times, 0.99), "p99-ms")
}

// BenchmarkStart measures the time from the start of the process to ready, and the memory a second later. The first
// start on a data folder creates its databases.
func BenchmarkStart(b *testing.B) {
	for _, first := range []bool{true, false} {
		b.Run(map[bool]string{true: "first", false: "again"}[first], func(b *testing.B) {
			dir := b.TempDir()
			if !first {
				serve(b, dir).stop()
			}
			var times []time.Duration
			idle, worked := 0.0, time.Duration(0)
			for b.Loop() {
				if first {
					dir = b.TempDir()
				}
				s := serve(b, dir)
				times = append(times, s.ready)
				b.StopTimer()
				worked += s.worked(b)
				time.Sleep(time.Second)
				idle = max(idle, s.resident(b))
				s.stop()
				b.StartTimer()
			}
			report(b, times)
			b.ReportMetric(idle, "idle-MiB")
			b.ReportMetric(worked.Seconds()*1000/float64(len(times)), "cpu-ms/start")
		})
	}
}

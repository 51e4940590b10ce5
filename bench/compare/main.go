// Command compare runs the subjects in turn, several rounds, each in a process of its
// own against one simulator, and prints a table in Markdown: of each subject the best
// rate, time and CPU, and the most memory. Where the machine is shared, the best of
// interleaved rounds is what disturbs least.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"atelier/bench/load"
)

// subject is one row.
type subject struct {
	name    string
	command []string
}

// figures are the best of a subject's rounds.
type figures struct {
	rate, p50, alone, memory, cpu float64
}

func main() {
	bin := flag.String("bin", "bin", "folder with the built subjects")
	script := flag.String("aisdk", filepath.Join("aisdk", "main.mjs"), "the AI SDK's subject; left out if its packages are missing")
	rounds := flag.Int("rounds", 5, "rounds")
	images := flag.Int("images", 640, "pictures a round and subject")
	flag.Parse()
	if *rounds < 1 || *images < 1 {
		log.Fatal("give positive -rounds and -images")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	subjects := []subject{
		{"body thrown away", []string{filepath.Join(*bin, "discard")}},
		{"Atelier, with its ledger", []string{filepath.Join(*bin, "atelier")}},
		{"Atelier, no ledger", []string{filepath.Join(*bin, "atelier"), "-ledger=false"}},
		{"Bifrost core v1.7.0", []string{filepath.Join(*bin, "bifrost")}},
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(*script), "node_modules", "ai")); err == nil {
		subjects = append(subjects, subject{"AI SDK 6.0.326", []string{"node", *script}})
	} else {
		fmt.Fprintln(os.Stderr, "the AI SDK is left out: its packages are not installed in", filepath.Dir(*script))
	}
	url, end, err := simulate(ctx, filepath.Join(*bin, "simulator"))
	if err != nil {
		log.Fatal(err)
	}
	best, err := compare(ctx, url, subjects, *rounds, *images)
	end()
	if err != nil {
		log.Fatal(err)
	}
	table(os.Stdout, subjects, best)
}

// simulate starts the simulator and gives its address.
func simulate(ctx context.Context, bin string) (url string, end func(), err error) {
	cmd := exec.CommandContext(ctx, bin)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	end = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		end()
		return "", nil, fmt.Errorf("start the simulator: %w", err)
	}
	return strings.TrimSpace(line), end, nil
}

func compare(ctx context.Context, url string, subjects []subject, rounds, images int) (map[string]figures, error) {
	best := map[string]figures{}
	for round := range rounds {
		dir, err := os.MkdirTemp("", "atelier-bench-")
		if err != nil {
			return nil, err
		}
		// Removed when the round is over: ext4 is slow to make files soon after many were removed.
		defer os.RemoveAll(dir)
		for _, s := range subjects {
			f, err := measure(ctx, s, url, dir, images)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			fmt.Fprintf(os.Stderr, "round %d: %-25s %5.0f/s, p50 %6.1f ms, alone %5.1f ms, peak %4.0f MiB, CPU %4.1f ms\n",
				round+1, s.name, f.rate, f.p50, f.alone, f.memory, f.cpu)
			best[s.name] = best[s.name].better(f)
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	return best, nil
}

func (f figures) better(g figures) figures {
	if f.rate == 0 {
		return g
	}
	return figures{
		rate: max(f.rate, g.rate), p50: min(f.p50, g.p50), alone: min(f.alone, g.alone),
		memory: max(f.memory, g.memory), cpu: min(f.cpu, g.cpu),
	}
}

// measure runs a subject once, in an empty folder within dir.
func measure(ctx context.Context, s subject, url, dir string, images int) (figures, error) {
	dir, err := os.MkdirTemp(dir, "")
	if err != nil {
		return figures{}, err
	}
	args := append(slices.Clone(s.command[1:]), "--url", url, "--dir", dir, "--images", fmt.Sprint(images))
	cmd := exec.CommandContext(ctx, s.command[0], args...) //nolint:gosec // a subject of the list in main
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return figures{}, err
	}
	var r load.Result
	if err := json.Unmarshal(out, &r); err != nil {
		return figures{}, fmt.Errorf("read its figures: %w", err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return figures{}, fmt.Errorf("the system does not tell the memory of a process")
	}
	unit := 1024.0 // KiB
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	made := float64(images + load.WarmUp + max(images/10, 1))
	return figures{
		rate: float64(r.Images) / r.Seconds, p50: r.P50, alone: r.Alone,
		memory: float64(usage.Maxrss) * unit / (1 << 20), cpu: used.Seconds() * 1000 / made,
	}, nil
}

func table(w io.Writer, subjects []subject, best map[string]figures) {
	floor := math.NaN()
	fmt.Fprintln(w, "| | pictures/s | peak memory | p50 of one, 64 in flight | p50 alone | added alone | CPU of one |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- |")
	for i, s := range subjects {
		f := best[s.name]
		if i == 0 {
			floor = f.alone
		}
		fmt.Fprintf(w, "| %s | %.0f | %.0f MiB | %.0f ms | %.1f ms | %.1f ms | %.1f ms |\n",
			s.name, f.rate, f.memory, f.p50, f.alone, f.alone-floor, f.cpu)
	}
}

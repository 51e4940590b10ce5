// Command compare runs the subjects in turn for several rounds, each in its own process
// against one simulator, and prints a Markdown table: for each subject the median rate, the
// best rate, times and CPU, and the peak memory. On a shared machine, the best of interleaved
// rounds is the least disturbed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
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

// subject is one row of the table.
type subject struct {
	name    string
	command []string
}

// pictureBytes is the approximate size of one picture of the simulator.
const pictureBytes = 2 << 20

// figures are the measurements of a subject in one round.
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
	all, err := compare(ctx, url, subjects, *rounds, *images)
	end()
	if err != nil {
		log.Fatal(err)
	}
	table(os.Stdout, subjects, all)
}

// simulate starts the simulator and returns its address.
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

func compare(ctx context.Context, url string, subjects []subject, rounds, images int) (map[string][]figures, error) {
	dir, err := os.MkdirTemp("", "atelier-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	all := map[string][]figures{}
	for round := range rounds {
		if err := makeRoom(dir, len(subjects)*made(images)); err != nil {
			return nil, err
		}
		for _, s := range subjects {
			f, err := measure(ctx, s, url, dir, images)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			fmt.Fprintf(os.Stderr, "round %d: %-36s %5.0f/s, p50 %6.1f ms, alone %5.1f ms, peak %4.0f MiB, CPU %4.1f ms\n",
				round+1, s.name, f.rate, f.p50, f.alone, f.memory, f.cpu)
			all[s.name] = append(all[s.name], f)
		}
	}
	return all, nil
}

// makeRoom removes the files of earlier rounds if the next round would not fit beside them. If
// they fit, they are kept until the end: ext4 creates files slowly for minutes after many were
// removed, which would distort the measurement of the next subject.
func makeRoom(dir string, pictures int) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return err
	}
	const gigabyte = 1 << 30
	need := float64(pictures) * pictureBytes * 9 / 8
	if float64(disk.Bavail)*float64(disk.Bsize) >= need {
		return nil
	}
	fmt.Fprintf(os.Stderr, "less than %.0f GB are free in %s: what earlier rounds stored is removed, and the next ones will be slower\n", need/gigabyte, dir)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// made returns how many pictures a subject makes in a round: warm-up, in flight, and alone.
func made(images int) int { return images + load.WarmUp + max(images/10, 1) }

// best returns the best rate, times and CPU of all rounds, and the peak memory.
func best(rounds []figures) figures {
	b := rounds[0]
	for _, f := range rounds[1:] {
		b = figures{
			rate: max(b.rate, f.rate), p50: min(b.p50, f.p50), alone: min(b.alone, f.alone),
			memory: max(b.memory, f.memory), cpu: min(b.cpu, f.cpu),
		}
	}
	return b
}

// medianRate returns the median rate of the rounds; for an even number, the lower of the middle two.
func medianRate(rounds []figures) float64 {
	var rates []float64
	for _, f := range rounds {
		rates = append(rates, f.rate)
	}
	slices.Sort(rates)
	return rates[(len(rates)-1)/2]
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
	return figures{
		rate: float64(r.Images) / r.Seconds, p50: r.P50, alone: r.Alone,
		memory: float64(usage.Maxrss) * unit / (1 << 20), cpu: used.Seconds() * 1000 / float64(made(images)),
	}, nil
}

func table(w io.Writer, subjects []subject, all map[string][]figures) {
	floor := math.NaN()
	fmt.Fprintln(w, "| | pictures/s, median | best | peak memory | p50 of one, 64 in flight | p50 alone | added alone | CPU of one |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- |")
	for i, s := range subjects {
		f := best(all[s.name])
		if i == 0 {
			floor = f.alone
		}
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f MiB | %.0f ms | %.1f ms | %.1f ms | %.1f ms |\n",
			s.name, medianRate(all[s.name]), f.rate, f.memory, f.p50, f.alone, f.alone-floor, f.cpu)
	}
}

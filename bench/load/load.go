// Package load runs one subject of the comparison: it requests pictures with a fixed
// number in flight, times each, and prints one line of JSON. Every subject does the
// same work for a picture: fetch it, hash it, and write it to a file that is synced and then renamed.
//
// It prints errors and ends the process. It may import only the standard library.
package load

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The request that every subject makes.
const (
	Key    = "sk-simulated-openai"
	Model  = "gpt-image-2"
	Prompt = "a house"
	// WarmUp is the number of pictures made before the measurement.
	WarmUp = 64
)

// Config holds the flags of the command line.
type Config struct {
	// URL is the simulator's address, without a path.
	URL string
	// Dir is an empty folder for the pictures.
	Dir string
	// Images is the number of pictures in the measurement.
	Images int
	// InFlight is the number of concurrent requests.
	InFlight int
}

// Flags parses the command line of a subject.
func Flags() Config {
	var c Config
	flag.StringVar(&c.URL, "url", "", "address of the simulator")
	flag.StringVar(&c.Dir, "dir", "", "empty folder for the pictures")
	flag.IntVar(&c.Images, "images", 640, "pictures to make")
	flag.IntVar(&c.InFlight, "in-flight", 64, "pictures at once")
	flag.Parse()
	if c.URL == "" || c.Dir == "" || c.Images < 1 || c.InFlight < 1 {
		log.Fatal("give -url and -dir, and positive -images and -in-flight")
	}
	return c
}

// Result is what a subject prints.
type Result struct {
	Images  int     `json:"images"`
	Seconds float64 `json:"seconds"`
	// P50 is the median time of one picture with InFlight requests, in milliseconds.
	P50 float64 `json:"p50_ms"`
	// Alone is the median time with one request at a time.
	Alone float64 `json:"alone_ms"`
}

// Run warms up, measures and prints. Any error of make ends the process with exit code 1.
func Run(c Config, make func(ctx context.Context) error) {
	ctx := context.Background()
	flood(ctx, WarmUp, c.InFlight, make)
	start := time.Now() //nolint:forbidigo // for measurement
	times := flood(ctx, c.Images, c.InFlight, make)
	r := Result{Images: c.Images, Seconds: time.Since(start).Seconds(), P50: median(times)}
	r.Alone = median(flood(ctx, max(c.Images/10, 1), 1, make))
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		log.Fatal(err)
	}
}

// flood makes n pictures and returns the time that each took.
func flood(ctx context.Context, n, inFlight int, make func(ctx context.Context) error) []time.Duration {
	var (
		all   sync.WaitGroup
		next  atomic.Int64
		mu    sync.Mutex // guards times
		times []time.Duration
	)
	for range inFlight {
		all.Go(func() {
			for next.Add(1) <= int64(n) {
				start := time.Now() //nolint:forbidigo // for measurement
				if err := make(ctx); err != nil {
					log.Fatal(err)
				}
				took := time.Since(start)
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return times
}

func median(times []time.Duration) float64 {
	slices.Sort(times)
	return times[len(times)/2].Seconds() * 1000
}

// Store does the work of a program that has a picture in memory: hash it, write it to a
// file, sync, rename.
func Store(dir string, b []byte) error {
	if len(b) < 1<<20 {
		return fmt.Errorf("the picture has only %d bytes", len(b))
	}
	sum := sha256.Sum256(b)
	f, err := os.CreateTemp(dir, "upload-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, hex.EncodeToString(sum[:])))
}

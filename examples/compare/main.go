// Command compare requests the same picture from several models concurrently, and prints the
// time and cost of each. Name the models, or use the one that works without a key.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"atelier"
	"atelier/generate"
)

func main() {
	models := os.Args[1:]
	if len(models) == 0 {
		models = []string{"Atelier Offline"}
	}
	config, err := atelier.ConfigFromEnv(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	config.Dir = "atelier-data"
	if err := compare(context.Background(), config, models, ".", os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// compare writes one file per model into a folder, and prints one line about it.
func compare(ctx context.Context, config atelier.Config, models []string, dir string, out io.Writer) error {
	a, err := atelier.Open(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	lines := make([]string, len(models))
	var all sync.WaitGroup
	for i, model := range models {
		all.Go(func() {
			started := time.Now() //nolint:forbidigo // a program's clock
			res, err := a.Generate(ctx, generate.Request{Prompt: "a lighthouse at dusk", Model: model})
			if err == nil {
				err = res.Err()
			}
			if err == nil {
				err = a.Save(ctx, res.Outputs()[0], filepath.Join(dir, fmt.Sprintf("%d.png", i+1)))
			}
			if err != nil {
				lines[i] = fmt.Sprintf("%s: %v", model, err)
				return
			}
			cost := "unknown"
			if usd := res.Cost.EstimatedUSD; usd != nil {
				cost = "$" + *usd
			}
			lines[i] = fmt.Sprintf("%s: %d.png, %s, %s", res.Model, i+1, cost, time.Since(started).Round(time.Millisecond))
		})
	}
	all.Wait()
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

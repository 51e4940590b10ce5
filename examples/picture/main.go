// Command picture makes one picture and saves it. Without a key, the offline painter makes
// it; with a key of docs/configuration.md, a real model does.
package main

import (
	"context"
	"log"
	"os"

	"atelier"
	"atelier/generate"
)

func main() {
	if err := picture(context.Background(), "atelier-data", "a lighthouse at dusk", "lighthouse.png"); err != nil {
		log.Fatal(err)
	}
}

func picture(ctx context.Context, dir, prompt, file string) error {
	config, err := atelier.ConfigFromEnv(os.Getenv)
	if err != nil {
		return err
	}
	config.Dir = dir
	a, err := atelier.Open(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	res, err := a.Generate(ctx, generate.Request{Prompt: prompt})
	if err == nil {
		err = res.Err()
	}
	if err != nil {
		return err
	}
	return a.Save(ctx, res.Outputs()[0], file)
}

// Command outside is a program of another module that uses Atelier. Its go.mod has the three
// lines that such a program needs: require, replace and the Go version.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"atelier"
	"atelier/generate"
)

func main() {
	dir, err := os.MkdirTemp("", "outside-")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := picture(context.Background(), dir); err != nil {
		log.Fatal(err)
	}
}

func picture(ctx context.Context, dir string) error {
	a, err := atelier.Open(ctx, atelier.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	res, err := a.Generate(ctx, generate.Request{Prompt: "a lighthouse at dusk", Size: "512x512"})
	if err != nil {
		return err
	}
	fmt.Println(res.Status, res.Outputs()[0].MIMEType)
	return res.Err()
}

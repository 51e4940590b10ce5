// Command atelier makes the pictures with the gateway as the product configures it: OpenAI
// driver, lifting transport, synced file store, and the ledger on SQLite with a
// synced commit for every phase. -ledger=false omits the ledger, like the other
// subjects.
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"path/filepath"

	"atelier/bench/load"
	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/provider/openai"
	"atelier/internal/goruntime"
	"atelier/ledger/sqlite"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/fileblob"
	"atelier/media/wire"
	"atelier/run/operations"
)

func main() {
	goruntime.Tune()
	withLedger := flag.Bool("ledger", true, "keep the ledger")
	c := load.Flags()
	ctx := media.WithScope(context.Background(), media.Scope{Owner: "ann", Tree: "bench"})
	g, end, err := newGateway(ctx, c, *withLedger)
	if err != nil {
		log.Fatal(err)
	}
	load.Run(c, func(context.Context) error {
		r, err := g.Generate(ctx, generate.Request{Model: load.Model, Prompt: load.Prompt})
		if err != nil {
			return err
		}
		return r.Err()
	})
	if err := end(); err != nil {
		log.Fatal(err)
	}
}

func newGateway(ctx context.Context, c load.Config, withLedger bool) (*gateway.Gateway, func() error, error) {
	end := func() error { return nil }
	drv, err := fileblob.New(filepath.Join(c.Dir, "blobs"))
	if err != nil {
		return nil, end, err
	}
	blobs, err := blob.New(blob.Config{Driver: drv})
	if err != nil {
		return nil, end, err
	}
	lift := wire.Config{Blobs: blobs, Keys: []wire.Key{{ID: "bench", Secret: []byte("a secret of thirty-two bytes .. ")}}}
	cfg := gateway.Config{Concurrency: c.InFlight}
	if withLedger {
		l, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(c.Dir, "atelier.db")})
		if err != nil {
			return nil, end, err
		}
		end, lift.Register = l.Close, l.RegisterBlob
		cfg.Recorder, cfg.Operations = l, operations.NewLog(l, nil)
	}
	codec, err := wire.NewCodec(lift)
	if err != nil {
		return nil, end, err
	}
	d, err := openai.New(openai.Config{APIKey: load.Key, BaseURL: c.URL + "/v1", Codec: codec, Base: &http.Transport{MaxIdleConnsPerHost: c.InFlight}})
	if err != nil {
		return nil, end, err
	}
	cfg.Drivers, cfg.Storage = []driver.Driver{d}, codec
	g, err := gateway.New(cfg)
	return g, end, err
}

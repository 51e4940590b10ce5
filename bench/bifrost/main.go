// Command bifrost makes the pictures with Bifrost's core, decodes the base64 that it
// returns, and stores the bytes.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log"

	bifrost "github.com/maximhq/bifrost/core"
	"github.com/maximhq/bifrost/core/schemas"

	"atelier/bench/load"
)

// account is one OpenAI key at the simulator.
type account struct{ load.Config }

// GetConfiguredProviders implements schemas.Account.
func (a account) GetConfiguredProviders() ([]schemas.ModelProvider, error) {
	return []schemas.ModelProvider{schemas.OpenAI}, nil
}

// GetKeysForProvider implements schemas.Account.
func (a account) GetKeysForProvider(context.Context, schemas.ModelProvider) ([]schemas.Key, error) {
	return []schemas.Key{{ID: "bench", Value: *schemas.NewSecretVar(load.Key), Models: schemas.WhiteList{"*"}, Weight: 1}}, nil
}

// GetConfigForProvider implements schemas.Account.
func (a account) GetConfigForProvider(schemas.ModelProvider) (*schemas.ProviderConfig, error) {
	n := schemas.DefaultNetworkConfig
	n.BaseURL, n.AllowPrivateNetwork = a.URL, true
	return &schemas.ProviderConfig{
		NetworkConfig:            n,
		ConcurrencyAndBufferSize: schemas.ConcurrencyAndBufferSize{Concurrency: a.InFlight, BufferSize: 2 * a.InFlight},
	}, nil
}

func main() {
	c := load.Flags()
	b, err := bifrost.Init(context.Background(), schemas.BifrostConfig{
		Account: account{c}, Logger: bifrost.NewDefaultLogger(schemas.LogLevelError),
	})
	if err != nil {
		log.Fatal(err)
	}
	load.Run(c, func(ctx context.Context) error {
		res, fail := b.ImageGenerationRequest(schemas.NewBifrostContext(ctx, schemas.NoDeadline), &schemas.BifrostImageGenerationRequest{
			Provider: schemas.OpenAI, Model: load.Model, Input: &schemas.ImageGenerationInput{Prompt: load.Prompt},
		})
		if fail != nil {
			return fmt.Errorf("bifrost: %+v", fail.Error)
		}
		if len(res.Data) != 1 {
			return errors.New("bifrost gave no picture")
		}
		data, err := base64.StdEncoding.DecodeString(res.Data[0].B64JSON)
		if err != nil {
			return err
		}
		return load.Store(c.Dir, data)
	})
	b.Shutdown()
}

// Command simtest serves the simulators of OpenAI, Midjourney's proxy and Leonardo on loopback for browser tests.
// It prints one JSON object, the environment for a server that uses them, and exits when its standard input ends.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/generate/generatetest/openaisim"
)

// catalogue sets the poll interval of the models' tasks to one second.
var catalogue = map[string]string{
	"leonardo":   "provider: leonardo\nmodels:\n  - {api_model: de7d3faf-762f-48e0-b3b7-9d0ac3a3fcf3, poll_seconds: 1}\n",
	"midjourney": "provider: midjourney\nmodels:\n  - {api_model: midjourney, poll_seconds: 1}\n",
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "simtest:", err)
		os.Exit(1)
	}
}

func serve() error {
	dir, err := os.MkdirTemp("", "atelier-simulators-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the system cleans up what remains
	for provider, rows := range catalogue {
		if err := os.WriteFile(filepath.Join(dir, provider+".yaml"), []byte(rows), 0o600); err != nil {
			return err
		}
	}
	midjourney, leonardo := midjourneysim.New(midjourneysim.Config{Side: 64}), leonardosim.New(leonardosim.Config{Pending: 1})
	openai := openaisim.New(openaisim.Config{})
	mj, leo, oai := httptest.NewServer(midjourney), httptest.NewServer(leonardo), httptest.NewServer(slow(openai))
	defer mj.Close()
	defer leo.Close()
	defer oai.Close()
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{
		"ATELIER_CATALOGUE": dir, "MIDJOURNEY_PROXY_URL": mj.URL, "MIDJOURNEY_API_SECRET": midjourney.Key(),
		"LEONARDO_BASE_URL": leo.URL, "LEONARDO_API_KEY": leonardo.Key(),
		"OPENAI_BASE_URL": oai.URL + "/v1", "OPENAI_API_KEY": openai.Key(),
	}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// frameEvery is the delay after each part of a stream.
const frameEvery = 2 * time.Second

// slow delays each part of a stream, so that people see previews.
func slow(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(slowWriter{w}, r) })
}

type slowWriter struct{ http.ResponseWriter }

// FlushError implements the method that http.ResponseController calls.
func (w slowWriter) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	time.Sleep(frameEvery)
	return err
}

// Command discard requests the pictures and discards the bodies: it measures the
// simulator and loopback alone.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"atelier/bench/load"
)

func main() {
	c := load.Flags()
	t := &http.Transport{MaxIdleConnsPerHost: c.InFlight}
	body := fmt.Sprintf(`{"model":%q,"prompt":%q,"n":1}`, load.Model, load.Prompt)
	load.Run(c, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/v1/images/generations", strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+load.Key)
		req.Header.Set("Content-Type", "application/json")
		res, err := t.RoundTrip(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		n, err := io.Copy(io.Discard, res.Body)
		if err == nil && n < 1<<20 {
			err = fmt.Errorf("the answer %s has only %d bytes", res.Status, n)
		}
		return err
	})
}

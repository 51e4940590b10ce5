// Package wiretest makes codecs for tests. Only tests and conformance suites import it.
package wiretest

import (
	"testing"

	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// NewCodec returns a codec on an empty store in memory.
func NewCodec(tb testing.TB) *wire.Codec {
	tb.Helper()
	return NewCodecOn(tb, memblob.New())
}

// NewCodecOn returns a codec on a store with this driver.
func NewCodecOn(tb testing.TB, driver blob.Driver) *wire.Codec {
	tb.Helper()
	store, err := blob.New(blob.Config{Driver: driver})
	if err != nil {
		tb.Fatalf("make store: %v", err)
	}
	codec, err := wire.NewCodec(wire.Config{Blobs: store, Keys: []wire.Key{{ID: "test", Secret: []byte("a secret of thirty-two bytes .. ")}}})
	if err != nil {
		tb.Fatalf("make codec: %v", err)
	}
	return codec
}

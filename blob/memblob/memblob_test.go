package memblob_test

import (
	"testing"

	"atelier/blob"
	"atelier/blob/blobtest"
	"atelier/blob/memblob"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, blobtest.Harness{New: func(*testing.T) blob.Driver { return memblob.New() }})
}

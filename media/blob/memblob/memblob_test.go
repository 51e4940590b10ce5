package memblob_test

import (
	"testing"

	"atelier/media/blob"
	"atelier/media/blob/blobtest"
	"atelier/media/blob/memblob"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, blobtest.Harness{New: func(*testing.T) blob.Driver { return memblob.New() }})
}

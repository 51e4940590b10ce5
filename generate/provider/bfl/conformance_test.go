package bfl_test

import (
	"testing"

	"atelier/generate/generatetest/roster"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	roster.Run(t, "bfl")
}

package plan

import (
	"testing"

	"atelier/generate/catalog"
	"atelier/generate/driver"
)

func TestSpeechIsPricedByItsCharacters(t *testing.T) {
	t.Parallel()
	m := catalog.Model{Prices: []catalog.Price{{Unit: "character", USD: "15"}}}
	if got := (&Plan{Task: driver.Task{Model: m, Prompt: "Grüße"}}).Estimate(2); got == nil || *got != "0.00015" {
		t.Errorf("twice five characters at $15 a million cost %v", got)
	}
}

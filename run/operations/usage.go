package operations

import (
	"encoding/json"

	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
)

// Unpaid reports whether an operation returned nothing and cost nothing.
func Unpaid(op ledger.Operation) bool {
	switch generate.Status(op.Status) {
	case generate.StatusFailed, generate.StatusModerated, generate.StatusCancelled:
		u := UsageOf(op)
		return op.ReportedUSD == nil && u.Images == 0 && u.Unsettled == 0
	default:
		return false
	}
}

// UsageOf is the usage that the provider of an operation reported. Unreadable rows count as
// nothing.
func UsageOf(op ledger.Operation) (u generate.Usage) {
	_ = json.Unmarshal(op.Usage, &u)
	return u
}

// Pictures counts the pictures of an operation, including missing ones that its provider may have
// billed.
func Pictures(op ledger.Operation) int64 {
	if op.Modality != media.ModalityImage {
		return 0
	}
	var in intent
	u := UsageOf(op)
	if u.Unsettled > 0 && json.Unmarshal(op.Request, &in) == nil {
		u.Images = max(u.Images, in.N)
	}
	return int64(u.Images)
}

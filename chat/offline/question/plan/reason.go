package plan

// Reason says why a part is not answered by tables.
type Reason string

// The reasons.
const (
	// ReasonUnknown: words of the question name nothing in the sources.
	ReasonUnknown Reason = "unknown"
	// ReasonBeyond: the question asks for causes, forecasts or opinions.
	ReasonBeyond Reason = "beyond"
	// ReasonAmbiguous: the question fits several columns or tables with different answers.
	ReasonAmbiguous Reason = "ambiguous"
	// ReasonUnclear: the words are known and make no question that is understood.
	ReasonUnclear Reason = "unclear"
	// ReasonEmpty: the query finds no row.
	ReasonEmpty Reason = "empty"
)

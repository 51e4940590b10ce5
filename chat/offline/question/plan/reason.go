package plan

// Reason says why tables do not answer a part.
type Reason string

// The reasons.
const (
	// ReasonUnknown means that words of the question name nothing in the sources.
	ReasonUnknown Reason = "unknown"
	// ReasonBeyond means that the question asks for causes, forecasts or opinions.
	ReasonBeyond Reason = "beyond"
	// ReasonAmbiguous means that the question fits several columns or tables with different answers.
	ReasonAmbiguous Reason = "ambiguous"
	// ReasonUnclear means that the words are known but do not form a question that is understood.
	ReasonUnclear Reason = "unclear"
	// ReasonEmpty means that the query finds no row.
	ReasonEmpty Reason = "empty"
)

package sim

import (
	"net/http"
	"time"
)

// Fault is a failure of a provider. A simulator reproduces it in the provider's own form: status,
// headers and body follow the protocol.
type Fault string

// The faults.
const (
	// FaultUnauthorized is a refused credential: 401 or the provider's equivalent.
	FaultUnauthorized Fault = "unauthorized"
	// FaultForbidden is an account that may not use the model (OpenAI: organization not verified).
	FaultForbidden Fault = "forbidden"
	// FaultDeadModel is the answer to a retired or unknown model ID.
	FaultDeadModel Fault = "dead_model"
	// FaultRateLimit is 429 with a wait in the provider's own form; see Injection.RetryAfter.
	FaultRateLimit Fault = "rate_limit"
	// FaultQuota is 429 (or 402) because no credit is left.
	FaultQuota Fault = "quota"
	// FaultServerError is 500 or the provider's equivalent.
	FaultServerError Fault = "server_error"
	// FaultOverloaded is a 503.
	FaultOverloaded Fault = "overloaded"
	// FaultHTML is an HTML page with status 200, as from a proxy.
	FaultHTML Fault = "html"
	// FaultHalfBody is a valid answer that ends in the middle of the media.
	FaultHalfBody Fault = "half_body"
	// FaultDropped is a connection closed after the request was read, before the first byte of an answer.
	FaultDropped Fault = "dropped"
	// FaultNotJSON is a 200 declared as JSON that is not JSON.
	FaultNotJSON Fault = "not_json"
	// FaultTinyImage is a valid picture of 1 × 1 pixel.
	FaultTinyImage Fault = "tiny_image"
	// FaultLyingType is a JPEG declared as PNG, or the reverse.
	FaultLyingType Fault = "lying_type"
	// FaultNotMedia is text in place of the picture.
	FaultNotMedia Fault = "not_media"
	// FaultHugeHeader is a PNG header that declares 30,000 × 30,000 pixels.
	FaultHugeHeader Fault = "huge_header"
	// FaultPrivateURL is a result linked to a private address (10.0.0.1 or 169.254.169.254).
	FaultPrivateURL Fault = "private_url"
	// FaultModerated is a refusal by the safety system; Injection.Variant selects the form.
	FaultModerated Fault = "moderated"
	// FaultEmpty is a success without any item.
	FaultEmpty Fault = "empty"
	// FaultPartialN is one item fewer than requested; the others are valid.
	FaultPartialN Fault = "partial_n"
	// FaultSlow is a valid answer after Injection.Delay, or none if the client disconnects first.
	FaultSlow Fault = "slow"
	// FaultInvalid is a request that the provider rejects as invalid: 400 or 422.
	FaultInvalid Fault = "invalid"
	// FaultConflict is a 409.
	FaultConflict Fault = "conflict"
	// FaultTaskFailed is an asynchronous task that ends without a result, for a reason other than the prompt.
	FaultTaskFailed Fault = "task_failed"
	// FaultTaskLost is a task that is unknown to the provider when it is polled.
	FaultTaskLost Fault = "task_lost"
	// FaultPollFails is a task whose first two polls fail (500, then a dropped connection) and which then succeeds.
	FaultPollFails Fault = "poll_fails"
	// FaultAnswerLost is a task that was started but whose name never arrives: the connection ends before the answer.
	FaultAnswerLost Fault = "answer_lost"
	// FaultListLost is [FaultAnswerLost] with a list of tasks that does not contain the task or cannot be read.
	FaultListLost Fault = "list_lost"
	// FaultExpiredLink is a result whose link has expired when it is fetched.
	FaultExpiredLink Fault = "expired_link"
	// FaultHalfLink is a result whose first download ends in the middle; the next one is complete.
	FaultHalfLink Fault = "half_link"
	// FaultPartialsThenError is a call that sends previews but no picture.
	FaultPartialsThenError Fault = "partials_then_error"
	// FaultPreviewLost is a task that succeeds but whose previews cannot be fetched.
	FaultPreviewLost Fault = "preview_lost"
)

// Faults returns every fault, in the order of the constants.
func Faults() []Fault {
	return []Fault{
		FaultUnauthorized, FaultForbidden, FaultDeadModel, FaultRateLimit, FaultQuota, FaultServerError,
		FaultOverloaded, FaultHTML, FaultHalfBody, FaultDropped, FaultNotJSON, FaultTinyImage, FaultLyingType,
		FaultNotMedia, FaultHugeHeader, FaultPrivateURL, FaultModerated, FaultEmpty, FaultPartialN, FaultSlow,
		FaultInvalid, FaultConflict, FaultTaskFailed, FaultTaskLost, FaultPollFails,
		FaultAnswerLost, FaultListLost, FaultExpiredLink, FaultHalfLink, FaultPartialsThenError,
		FaultPreviewLost,
	}
}

// Injection is a fault for one generation call.
type Injection struct {
	// Fault is the fault; empty is a successful answer, to let calls pass between faults.
	Fault Fault
	// Variant selects one of the provider's forms of the fault, from 0.
	Variant int
	// RetryAfter is the wait sent by [FaultRateLimit]; 0 sends none.
	RetryAfter time.Duration
	// Delay is how long [FaultSlow] waits before it answers.
	Delay time.Duration
}

// Captured is one generation call as the simulator received it.
type Captured struct {
	Method string
	// Path is the URL's path without the query.
	Path string
	// Header is a copy with credentials replaced by "[key]".
	Header http.Header
	// Body is the whole body as received.
	Body []byte
}

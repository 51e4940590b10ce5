package sim

import (
	"net/http"
	"time"
)

// Fault is one way in which a provider goes wrong. A simulator answers it in the
// provider's own words: status, headers and body are the protocol's.
type Fault string

// The faults.
const (
	// FaultUnauthorized is a refused credential: 401, or what the provider says instead.
	FaultUnauthorized Fault = "unauthorized"
	// FaultForbidden is an account that may not use the model (OpenAI: organization not verified).
	FaultForbidden Fault = "forbidden"
	// FaultDeadModel is the answer to a retired or unknown model id.
	FaultDeadModel Fault = "dead_model"
	// FaultRateLimit is 429 with the wait in the provider's own form; see Injection.RetryAfter.
	FaultRateLimit Fault = "rate_limit"
	// FaultQuota is 429 (or 402) because no credit is left.
	FaultQuota Fault = "quota"
	// FaultServerError is a 500, or what the provider says in its place.
	FaultServerError Fault = "server_error"
	// FaultOverloaded is a 503.
	FaultOverloaded Fault = "overloaded"
	// FaultHTML is an HTML page with status 200, as a proxy gives.
	FaultHTML Fault = "html"
	// FaultHalfBody is a good answer that ends in the middle of the media.
	FaultHalfBody Fault = "half_body"
	// FaultDropped is a connection closed after the request was read, before any byte of an answer.
	FaultDropped Fault = "dropped"
	// FaultNotJSON is a 200 that says it is JSON and is not.
	FaultNotJSON Fault = "not_json"
	// FaultTinyImage is a valid picture of 1 × 1 pixel.
	FaultTinyImage Fault = "tiny_image"
	// FaultLyingType is a JPEG declared as PNG, or the reverse.
	FaultLyingType Fault = "lying_type"
	// FaultNotMedia is text where the picture should be.
	FaultNotMedia Fault = "not_media"
	// FaultHugeHeader is a PNG header that claims 30,000 × 30,000 pixels.
	FaultHugeHeader Fault = "huge_header"
	// FaultPrivateURL is a result by link to a private address (10.0.0.1 or 169.254.169.254).
	FaultPrivateURL Fault = "private_url"
	// FaultModerated is a refusal by the safety system; Injection.Variant chooses the shape.
	FaultModerated Fault = "moderated"
	// FaultEmpty is a success without any item.
	FaultEmpty Fault = "empty"
	// FaultPartialN is one item fewer than asked, the first ones good.
	FaultPartialN Fault = "partial_n"
	// FaultSlow is a good answer after Injection.Delay, or never if the client leaves first.
	FaultSlow Fault = "slow"
	// FaultInvalid is a request that the provider says is wrong: 400 or 422.
	FaultInvalid Fault = "invalid"
	// FaultConflict is a 409.
	FaultConflict Fault = "conflict"
	// FaultTaskFailed is an asynchronous task that ends without a result, for no fault of
	// the prompt.
	FaultTaskFailed Fault = "task_failed"
	// FaultTaskLost is a task that the provider no longer knows when it is polled.
	FaultTaskLost Fault = "task_lost"
	// FaultPollFails is a task whose first two polls fail (500, then a dropped
	// connection), and which then succeeds.
	FaultPollFails Fault = "poll_fails"
	// FaultAnswerLost is a task that began, and whose name never arrives: the connection ends
	// before the answer.
	FaultAnswerLost Fault = "answer_lost"
	// FaultListLost is [FaultAnswerLost] where the provider's list of tasks does not tell of
	// the task, or cannot be read.
	FaultListLost Fault = "list_lost"
	// FaultExpiredLink is a result whose link is dead when it is fetched.
	FaultExpiredLink Fault = "expired_link"
	// FaultHalfLink is a result whose first download ends in the middle; the next is whole.
	FaultHalfLink Fault = "half_link"
	// FaultPartialsThenError is a call whose previews come and whose picture does not.
	FaultPartialsThenError Fault = "partials_then_error"
	// FaultPreviewLost is a task whose previews cannot be fetched, and which succeeds.
	FaultPreviewLost Fault = "preview_lost"
)

// Faults lists every fault, in the order of the constants.
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

// Injection is one fault to be answered to one generation call.
type Injection struct {
	// Fault is what goes wrong; empty is a good answer, to let calls pass between faults.
	Fault Fault
	// Variant chooses among the shapes that the provider has for the fault, from 0.
	Variant int
	// RetryAfter is the wait named by [FaultRateLimit]; 0 names none.
	RetryAfter time.Duration
	// Delay is how long [FaultSlow] waits before it answers.
	Delay time.Duration
}

// Captured is one generation call as the simulator received it.
type Captured struct {
	Method string
	// Path is the URL's path without the query.
	Path string
	// Header is a copy; credentials are replaced by "[key]".
	Header http.Header
	// Body is the whole body as it came.
	Body []byte
}

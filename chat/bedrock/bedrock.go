// Package bedrock calls chat models of Amazon Bedrock through its Converse API.
//
// Pictures pass through the SDK as markers. The bytes are inserted before the request is signed, because AWS signs the
// body. The HTTP client of the SDK only lifts media out of responses.
//
// Errors are media.Error values with the codes of package chat. The package may import chat, media, wire and the AWS
// SDK, whose types do not appear in exported signatures.
package bedrock

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/auth/bearer"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"atelier/chat"
	"atelier/internal/patience"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/media/wire"
)

// Config contains the region and the credentials for Bedrock.
type Config struct {
	// Region is the AWS region, such as us-east-1; required.
	Region string
	// BearerToken is a Bedrock API key. Without it, requests are signed with the access key.
	BearerToken string
	// AccessKeyID, SecretAccessKey and SessionToken are AWS credentials. Only temporary credentials have a
	// SessionToken.
	AccessKeyID, SecretAccessKey, SessionToken string
	// BaseURL replaces the origin of the API; empty means the public origin of the region.
	BaseURL string
	// Codec lifts and lowers media below the SDK; required.
	Codec *wire.Codec
	// Base is the transport below the codec; nil means guarded connections, which reach public addresses and the API's
	// own origin.
	Base http.RoundTripper
}

// Validate returns an error that names a missing field. The error has code [media.CodeMissingKey] or
// [media.CodeInvalid].
func (c Config) Validate() error {
	switch {
	case c.Codec == nil:
		return media.Errorf(media.CodeInvalid, "bedrock.Config.Codec is missing: give the wire codec")
	case c.BearerToken == "" && (c.AccessKeyID == "" || c.SecretAccessKey == ""):
		return media.Errorf(media.CodeMissingKey, "Amazon Bedrock requires a key: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	case c.Region == "":
		return media.Errorf(media.CodeMissingKey, "Amazon Bedrock requires a region: set AWS_REGION")
	}
	return nil
}

// secrets returns the credentials that must not be repeated.
func (c Config) secrets() safehttp.Secrets {
	return safehttp.NewSecrets(c.BearerToken, c.AccessKeyID, c.SecretAccessKey, c.SessionToken)
}

// Opener returns a function that opens models by profile, for [chat.Config]. An invalid configuration is an error of
// the returned function.
func Opener(cfg Config) chat.Opener {
	return func(ctx context.Context, f chat.Profile) (chat.Model, error) {
		if err := cfg.Validate(); err != nil {
			return nil, err
		}
		return &model{profile: f, cfg: cfg, client: client(ctx, cfg), secrets: cfg.secrets()}, nil
	}
}

// client creates the SDK's client. It does not retry, and lowers media before it signs.
func client(ctx context.Context, cfg Config) *bedrockruntime.Client {
	origin := cfg.BaseURL
	if origin == "" {
		at, err := bedrockruntime.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, bedrockruntime.EndpointParameters{
			Region: aws.String(cfg.Region), UseDualStack: aws.Bool(false), UseFIPS: aws.Bool(false),
		})
		if err == nil { // otherwise the call reports the error of the region
			origin = at.URI.String()
		}
	}
	o := bedrockruntime.Options{
		Region: cfg.Region, Retryer: aws.NopRetryer{},
		HTTPClient: chat.NewClient(safehttp.Provider{
			Name: "Amazon Bedrock", Secrets: cfg.secrets(), Origin: origin, Base: cfg.Base, MaxAnswer: cfg.Codec.MaxAnswer(), Setting: wire.MaxAnswerSetting,
			Wrap: func(base http.RoundTripper) http.RoundTripper {
				return cfg.Codec.LiftTransport(base, wire.Fields{Media: []string{"source.bytes"}})
			},
		}),
	}
	if cfg.BaseURL != "" {
		o.BaseEndpoint = aws.String(cfg.BaseURL)
	}
	if cfg.BearerToken != "" {
		o.BearerAuthTokenProvider = bearer.StaticTokenProvider{Token: bearer.Token{Value: cfg.BearerToken}}
		o.AuthSchemePreference = []string{"httpBearerAuth"}
	} else {
		o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: cfg.AccessKeyID, SecretAccessKey: cfg.SecretAccessKey, SessionToken: cfg.SessionToken, Source: "atelier"}, nil
		})
	}
	o.APIOptions = append(o.APIOptions, lower(cfg.Codec))
	return bedrockruntime.New(o)
}

// model implements [chat.Model] with one Bedrock model.
type model struct {
	profile chat.Profile
	cfg     Config
	client  *bedrockruntime.Client
	secrets safehttp.Secrets
}

// Profile implements [chat.Model].
func (m *model) Profile() chat.Profile { return m.profile }

// timeout limits one call, including the answer.
const timeout = 10 * time.Minute

// Generate implements [chat.Model].
func (m *model) Generate(ctx context.Context, r chat.Request) (chat.Response, error) {
	in, err := m.input(ctx, r)
	if err != nil {
		return chat.Response{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	ctx, lifted := wire.WithCollector(ctx)
	res, err := chat.Guarded(func() (*bedrockruntime.ConverseOutput, error) { return m.client.Converse(ctx, in) })
	if err != nil {
		if own, ok := errors.AsType[*media.Error](err); ok {
			return chat.Response{}, own
		}
		if api, ok := errors.AsType[smithy.APIError](err); ok {
			return chat.Response{}, m.refused(err, api)
		}
		if page, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && page.HTTPStatusCode() >= http.StatusBadRequest { // the page of a proxy
			return chat.Response{}, m.refused(err, &smithy.GenericAPIError{
				Code: "HTTP status " + strconv.Itoa(page.HTTPStatusCode()), Message: "the response is not JSON: check BEDROCK_BASE_URL and the proxy",
			})
		}
		return chat.Response{}, chat.LostCall{
			Profile: m.profile, Err: err, Why: m.secrets.Clean(err.Error(), chat.MaxMessage), Check: "the network, AWS_REGION and BEDROCK_BASE_URL", Sent: sent.Load(),
		}.Unanswered(ctx)
	}
	out := chat.Response{Model: m.profile.ID, FinishReason: finish(res.StopReason)}
	if msg, ok := res.Output.(*types.ConverseOutputMemberMessage); ok {
		for _, block := range msg.Value.Content {
			if t, ok := block.(*types.ContentBlockMemberText); ok {
				out.Text += t.Value
			}
		}
	}
	out.Text = m.cfg.Codec.Placeholders(media.ScopeOf(ctx).Tree, m.secrets.Redact(out.Text))
	if u := res.Usage; u != nil {
		out.Usage = chat.Usage{
			InputTokens:  int64(aws.ToInt32(u.InputTokens)) + int64(aws.ToInt32(u.CacheReadInputTokens)) + int64(aws.ToInt32(u.CacheWriteInputTokens)),
			OutputTokens: int64(aws.ToInt32(u.OutputTokens)), CachedTokens: int64(aws.ToInt32(u.CacheReadInputTokens)),
		}
	}
	out.CostUSD = m.profile.Cost(out.Usage, time.Now()) //nolint:forbidigo // prices depend on the date
	if out.FinishReason == "content_filter" {
		refused := media.Errorf(media.CodeModerated, "ask %s: refused (%s): %s; change the task or the material", m.profile, res.StopReason, m.secrets.Clean(out.Text, chat.MaxMessage))
		return chat.Response{Model: out.Model, Usage: out.Usage, CostUSD: out.CostUSD}, refused
	}
	if res.StopReason == types.StopReasonModelContextWindowExceeded && strings.TrimSpace(out.Text) == "" {
		return chat.Response{Model: out.Model, Usage: out.Usage, CostUSD: out.CostUSD}, media.Errorf(media.CodeContextLength, "ask %s: %s", m.profile, res.StopReason)
	}
	out.Keep(m.profile, lifted.All())
	return out, nil
}

// input converts a request to that of the SDK. It merges consecutive messages of the same role, because Converse
// requires alternating roles.
func (m *model) input(ctx context.Context, r chat.Request) (*bedrockruntime.ConverseInput, error) {
	in := &bedrockruntime.ConverseInput{ModelId: aws.String(m.profile.ID)}
	if r.System != "" {
		in.System = []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: r.System}}
	}
	for _, msg := range r.Messages {
		role := types.ConversationRoleUser
		if msg.Role == chat.RoleAssistant {
			role = types.ConversationRoleAssistant
		}
		blocks, err := m.blocks(ctx, msg.Parts)
		if err != nil {
			return nil, err
		}
		if len(blocks) == 0 {
			continue // Converse rejects empty messages
		}
		if n := len(in.Messages); n > 0 && in.Messages[n-1].Role == role {
			in.Messages[n-1].Content = append(in.Messages[n-1].Content, blocks...)
			continue
		}
		in.Messages = append(in.Messages, types.Message{Role: role, Content: blocks})
	}
	in.InferenceConfig = &types.InferenceConfiguration{}
	if most := cmp.Or(r.MaxOutputTokens, min(m.profile.MaxOutputTokens, defaultMaxTokens)); most > 0 {
		in.InferenceConfig.MaxTokens = aws.Int32(int32(min(most, math.MaxInt32)))
	}
	if r.Temperature != nil && !m.profile.NoTemperature {
		in.InferenceConfig.Temperature = aws.Float32(float32(*r.Temperature))
	}
	return in, nil
}

// defaultMaxTokens is the maximum number of tokens of an answer if the request sets none. The default of some models is
// far too small.
const defaultMaxTokens = 16_000

// blocks converts parts to content blocks. It omits blank texts, which Converse rejects. A picture is represented by
// the marker of its blob.
func (m *model) blocks(ctx context.Context, parts []chat.Part) ([]types.ContentBlock, error) {
	scope := media.ScopeOf(ctx).Tree
	var out []types.ContentBlock
	for _, p := range parts {
		if p.Media == nil {
			if strings.TrimSpace(p.Text) != "" {
				out = append(out, &types.ContentBlockMemberText{Value: p.Text})
			}
			continue
		}
		if err := m.profile.CheckVision(*p.Media); err != nil {
			return nil, err
		}
		out = append(out, &types.ContentBlockMemberImage{Value: types.ImageBlock{
			Format: types.ImageFormat(strings.TrimPrefix(p.Media.MIMEType, "image/")),
			Source: &types.ImageSourceMemberBytes{Value: []byte(m.cfg.Codec.Marker(scope, p.Media.Blob, wire.VariantStd))},
		}})
	}
	return out, nil
}

func finish(r types.StopReason) string {
	switch r {
	case types.StopReasonEndTurn, types.StopReasonStopSequence:
		return "stop"
	case types.StopReasonMaxTokens, types.StopReasonModelContextWindowExceeded:
		return "length"
	case types.StopReasonContentFiltered, types.StopReasonGuardrailIntervened:
		return "content_filter"
	default:
		return "other"
	}
}

// lower inserts the bytes of pictures into a request at the end of Serialize, so that the payload hash and the
// signature, which are computed later, cover them.
func lower(codec *wire.Codec) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Serialize.Add(middleware.SerializeMiddlewareFunc("AtelierLower",
			func(ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler) (middleware.SerializeOutput, middleware.Metadata, error) {
				req, ok := in.Request.(*smithyhttp.Request)
				if !ok || req.GetStream() == nil {
					return next.HandleSerialize(ctx, in)
				}
				body, err := io.ReadAll(req.GetStream()) // only markers and the text of the messages
				if err != nil {
					return middleware.SerializeOutput{}, middleware.Metadata{}, err
				}
				plan, err := codec.Lower(ctx, media.ScopeOf(ctx).Tree, body)
				if err != nil {
					return middleware.SerializeOutput{}, middleware.Metadata{}, err
				}
				lowered := plan.Open()
				defer func() { _ = lowered.Close() }() // the SDK does not close it
				if req, err = req.SetStream(lowered); err != nil {
					return middleware.SerializeOutput{}, middleware.Metadata{}, err
				}
				req.ContentLength = plan.Size()
				in.Request = req
				return next.HandleSerialize(ctx, in)
			}), middleware.After)
	}
}

// refused returns the error of an error response.
func (m *model) refused(err error, api smithy.APIError) error {
	msg := m.secrets.Clean(api.ErrorMessage(), chat.MaxMessage)
	status := 0
	res, ok := errors.AsType[*smithyhttp.ResponseError](err)
	if ok {
		status = res.HTTPStatusCode()
	}
	e := media.Errorf(codeOf(api.ErrorCode(), status, msg), "ask %s: %s: %s", m.profile, m.secrets.Clean(api.ErrorCode(), 100), msg)
	refused := status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
	e.Retryable = e.Code == media.CodeRateLimited || e.Code == media.CodeUnavailable && refused
	if ok && res.Response != nil {
		e.RetryAfter = patience.Requested(res.Response.Header, time.Now()) //nolint:forbidigo // a date in the header is absolute
	}
	chat.GatewayTimeout(e, status)
	return e
}

// codes maps the names of Bedrock's errors to error codes.
var codes = map[string]media.Code{
	"ThrottlingException": media.CodeRateLimited, "TooManyRequestsException": media.CodeRateLimited,
	"ModelTimeoutException": media.CodeUnavailable, "ModelErrorException": media.CodeUnavailable,
	"ModelNotReadyException": media.CodeUnavailable, "ServiceUnavailableException": media.CodeUnavailable, "InternalServerException": media.CodeUnavailable,
	"UnrecognizedClientException": media.CodeUnauthorized, "InvalidSignatureException": media.CodeUnauthorized, "ExpiredTokenException": media.CodeUnauthorized,
	"IncompleteSignature": media.CodeUnauthorized, "MissingAuthenticationToken": media.CodeUnauthorized,
	"AccessDeniedException": media.CodeForbidden, "ServiceQuotaExceededException": media.CodeQuotaExceeded,
	"ResourceNotFoundException": media.CodeNotFound, "ValidationException": media.CodeInvalid,
}

// endOfLife matches the message about a model that was shut down.
var endOfLife = regexp.MustCompile(`(?i)\bend of (its )?life\b`)

func codeOf(kind string, status int, message string) media.Code {
	code, known := codes[kind]
	switch {
	case status < http.StatusInternalServerError && chat.TooLong(message):
		return media.CodeContextLength
	case code == media.CodeRateLimited && patience.Daily(message): // the response names no time to wait
		return media.CodeQuotaExceeded
	case code == media.CodeInvalid && endOfLife.MatchString(message):
		return media.CodeNotFound
	case known:
		return code
	}
	return chat.CodeOfStatus(status)
}

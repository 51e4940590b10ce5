package bedrock_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"atelier/chat"
	"atelier/chat/bedrock"
	"atelier/chat/chattest"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

func scoped(t *testing.T) context.Context {
	t.Helper()
	return media.WithScope(t.Context(), media.Scope{Owner: "local", Tree: "tree-1"})
}

// open returns a model that h serves.
func open(t *testing.T, h http.Handler, change func(*bedrock.Config)) (chat.Model, *wire.Codec) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	cfg := bedrock.Config{Region: "eu-west-1", AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret", SessionToken: "session", BaseURL: server.URL, Codec: wiretest.NewCodec(t)}
	if change != nil {
		change(&cfg)
	}
	profiles, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	m, err := bedrock.Opener(cfg)(t.Context(), profiles.Find("bedrock/meta.llama4-maverick-17b-instruct-v1:0")[0])
	if err != nil {
		t.Fatal(err)
	}
	return m, cfg.Codec
}

// picture stores random bytes that start like a PNG.
func picture(t *testing.T, c *wire.Codec) media.Output {
	t.Helper()
	b := make([]byte, 70_001)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // never fails
	copy(b, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x04\x00\x00\x00\x04\x00\x08\x06\x00\x00\x00")
	stored, err := c.Store(scoped(t), bytes.NewReader(b), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	return media.NewOutput(stored, media.Meta{})
}

func question(o media.Output) chat.Request {
	return chat.Request{System: "Answer in JSON.", Messages: []chat.Message{
		{Role: chat.RoleUser, Parts: []chat.Part{{Text: "one"}, {Text: " \n"}, {Media: &o}}},
		chat.Text(chat.RoleUser, "two"),
		chat.Text(chat.RoleAssistant, "three"), chat.Text(chat.RoleUser, "four"),
	}}
}

// TestSignatureCoversThePicture recomputes the signature of the received request and compares it.
func TestSignatureCoversThePicture(t *testing.T) {
	t.Parallel()
	sim := &chattest.Simulator{Answer: func(chattest.Request) string { return `{"done":true}` }}
	var got, want string
	m, codec := open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got, want = r.Header.Get("Authorization"), resign(t, r, body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		sim.ServeHTTP(w, r)
	}), nil)
	o := picture(t, codec)
	res, err := m.Generate(scoped(t), question(o))
	if err != nil {
		t.Fatal(err)
	}
	if got == "" || got != want {
		t.Errorf("signed as\n%s\nwant\n%s", got, want)
	}
	if res.Text != `{"done":true}` || res.FinishReason != "stop" || res.Usage.OutputTokens != 7 || res.CostUSD == nil {
		t.Errorf("answer %+v", res)
	}
	req := sim.Requests()[0]
	if len(req.Messages) != 4 || req.Messages[1].Text != "onetwo" || len(req.Messages[1].Images) != 1 || req.ContentLength != req.Bytes {
		t.Fatalf("the service received %+v", req)
	}
	if img := req.Messages[1].Images[0]; img.SHA256 != o.Digest.Hex() || img.MIMEType != "image/png" {
		t.Errorf("the picture arrived as %+v", img)
	}
}

// resign computes the signature of a received request.
func resign(t *testing.T, r *http.Request, body []byte) string {
	t.Helper()
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		t.Error(err)
	}
	again := r.Clone(r.Context())
	again.URL.Scheme, again.URL.Host = "http", r.Host
	again.Header.Del("Authorization")
	_, list, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	list, _, _ = strings.Cut(list, ",")
	for name := range again.Header { // headers added in transit are not signed
		if !strings.Contains(";"+list+";", ";"+strings.ToLower(name)+";") {
			again.Header.Del(name)
		}
	}
	sum := sha256.Sum256(body)
	creds := aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret", SessionToken: "session"}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = false })
	if err := signer.SignHTTP(r.Context(), creds, again, hex.EncodeToString(sum[:]), "bedrock", "eu-west-1", at); err != nil {
		t.Error(err)
	}
	return again.Header.Get("Authorization")
}

func TestBearerToken(t *testing.T) {
	t.Parallel()
	var auth string
	sim := &chattest.Simulator{}
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth = r.Header.Get("Authorization")
		sim.ServeHTTP(w, r)
	}))
	t.Cleanup(secure.Close)
	m, codec := open(t, sim, func(c *bedrock.Config) {
		c.BearerToken, c.BaseURL, c.Base = "bedrock-key", secure.URL, secure.Client().Transport
	})
	if _, err := m.Generate(scoped(t), question(picture(t, codec))); err != nil {
		t.Fatal(err)
	}
	if auth != "Bearer bedrock-key" {
		t.Errorf("sent %q", auth)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, message string
		status        int
		code          media.Code
		retry         bool
	}{
		"busy":      {"ThrottlingException", "Too many requests", 429, media.CodeRateLimited, true},
		"down":      {"ServiceUnavailableException", "Try later", 503, media.CodeUnavailable, true},
		"loading":   {"ModelNotReadyException", "Not ready", 429, media.CodeUnavailable, true},
		"no access": {"AccessDeniedException", "You don't have access to the model", 403, media.CodeForbidden, false},
		"bad key":   {"UnrecognizedClientException", "The security token is invalid", 403, media.CodeUnauthorized, false},
		"gone":      {"ResourceNotFoundException", "This model version has reached the end of its life", 404, media.CodeNotFound, false},
		"dead":      {"ValidationException", "The provided model has reached its end of life.", 400, media.CodeNotFound, false},
		"too long":  {"ValidationException", "Input is too long for requested model.", 400, media.CodeContextLength, false},
		"bad image": {"ValidationException", "image " + strings.Repeat("iVBORw0KGgo", 20), 400, media.CodeInvalid, false},
		"unknown":   {"", "", 500, media.CodeUnavailable, true},
		"too slow":  {"ModelTimeoutException", "The request took too long to process.", 408, media.CodeUnavailable, false},
		"broken":    {"ModelErrorException", "The model failed.", 424, media.CodeUnavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			m, codec := open(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				calls++
				w.Header().Set("X-Amzn-Errortype", c.kind+":http://internal.amazon.com/")
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, `{"message":"`+c.message+`"}`) // the client may have disconnected
			}), nil)
			_, err := m.Generate(scoped(t), question(picture(t, codec)))
			if media.CodeOf(err) != c.code || media.Retryable(err) != c.retry || calls != 1 {
				t.Errorf("%d calls, %s, retryable %v: %v", calls, media.CodeOf(err), media.Retryable(err), err)
			}
			if err != nil && strings.Contains(err.Error(), strings.Repeat("iVBORw0KGgo", 5)) {
				t.Errorf("the error shows media: %v", err)
			}
		})
	}
}

// TestPageOfAProxy: a response with an error status that is not from Bedrock is reported by its status.
func TestPageOfAProxy(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]media.Code{
		400: media.CodeInvalid, 403: media.CodeForbidden, 407: media.CodeInvalid, 408: media.CodeUnavailable, 413: media.CodeTooLarge, 429: media.CodeRateLimited, 502: media.CodeUnavailable,
	} {
		m, codec := open(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<html>Proxy</html>") // the client may have disconnected
		}), nil)
		_, err := m.Generate(scoped(t), question(picture(t, codec)))
		if media.CodeOf(err) != code || !strings.Contains(err.Error(), "HTTP status "+strconv.Itoa(status)) || strings.Contains(err.Error(), "cannot reach") {
			t.Errorf("%d: %s: %v", status, media.CodeOf(err), err)
		}
	}
}

func TestNothingIsSentThatIsNotThere(t *testing.T) {
	t.Parallel()
	sim := &chattest.Simulator{}
	m, codec := open(t, sim, nil)
	o := picture(t, codec)
	o.Digest = media.DigestOf([]byte("elsewhere"))
	if _, err := m.Generate(scoped(t), question(o)); err == nil {
		t.Error("a picture that is not stored was accepted")
	}
	if _, err := m.Generate(media.WithScope(t.Context(), media.Scope{Owner: "local"}), question(picture(t, codec))); err == nil {
		t.Error("a picture without a run was accepted")
	}
	if n := len(sim.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestMissingConfiguration(t *testing.T) {
	t.Parallel()
	for say, cfg := range map[string]bedrock.Config{
		"Codec":                    {},
		"AWS_BEARER_TOKEN_BEDROCK": {Codec: wiretest.NewCodec(t), Region: "x", AccessKeyID: "a"},
		"AWS_REGION":               {Codec: wiretest.NewCodec(t), BearerToken: "t"},
	} {
		if _, err := bedrock.Opener(cfg)(t.Context(), chat.Profile{}); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("got %v, want %s", err, say)
		}
	}
}

// TestLimitsOfTheAnswer: the length that a request asks for reaches the service.
func TestLimitsOfTheAnswer(t *testing.T) {
	t.Parallel()
	body := ""
	m, _ := open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body = string(b)
		w.WriteHeader(http.StatusBadRequest)
	}), nil)
	for asked, want := range map[int64]string{0: `"maxTokens":8192`, 30_000: `"maxTokens":30000`} {
		_, _ = m.Generate(scoped(t), chat.Request{MaxOutputTokens: asked, Messages: []chat.Message{chat.Text(chat.RoleUser, "x")}}) // it is refused
		if !strings.Contains(body, want) {
			t.Errorf("asked for %d tokens: %s", asked, body)
		}
	}
}

// TestWaits: the response's request to wait is followed in either form, whatever its number.
func TestWaits(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]time.Duration{
		"7": 7 * time.Second, "1.5": 1500 * time.Millisecond, "-3": 0, "x": 0,
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat): time.Hour, "99999999999": 10_000 * time.Hour,
	} {
		m, _ := open(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Amzn-Errortype", "ThrottlingException")
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"message":"Too many requests"}`) // the client may have disconnected
		}), nil)
		_, err := m.Generate(scoped(t), chat.Request{Messages: []chat.Message{chat.Text(chat.RoleUser, "x")}})
		e, ok := errors.AsType[*media.Error](err)
		if !ok || e.RetryAfter > want || e.RetryAfter < want-5*time.Second {
			t.Errorf("%s: wait %s, want %s: %v", after, e.RetryAfter, want, err)
		}
	}
}

// countingDriver counts the readers that are open.
type countingDriver struct {
	blob.Driver

	open *atomic.Int32
}

func (d countingDriver) Open(ctx context.Context, of media.Digest, offset, length int64) (io.ReadCloser, error) {
	r, err := d.Driver.Open(ctx, of, offset, length)
	if err == nil {
		d.open.Add(1)
	}
	return &countedReader{ReadCloser: r, open: d.open}, err
}

type countedReader struct {
	io.ReadCloser

	open *atomic.Int32
	once sync.Once
}

func (r *countedReader) Close() error {
	r.once.Do(func() { r.open.Add(-1) })
	return r.ReadCloser.Close()
}

// abortingTransport reads the beginning of a request, and then fails.
type abortingTransport struct{}

func (abortingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.CopyN(io.Discard, r.Body, 40_000); err != nil {
		return nil, err
	}
	return nil, errors.Join(errors.New("the connection broke"), r.Body.Close())
}

// TestPicturesAreClosed: a request that ends in the middle of a picture leaves no blob open.
func TestPicturesAreClosed(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	m, codec := open(t, http.NotFoundHandler(), func(c *bedrock.Config) {
		c.Codec, c.Base = wiretest.NewCodecOn(t, countingDriver{memblob.New(), &opened}), abortingTransport{}
	})
	o := picture(t, codec)
	_, err := m.Generate(scoped(t), question(o))
	if err == nil || !strings.Contains(err.Error(), "connection broke") || opened.Load() != 0 {
		t.Errorf("%d readers are open: %v", opened.Load(), err)
	}
}

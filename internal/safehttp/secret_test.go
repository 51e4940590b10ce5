package safehttp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"atelier/media"
)

// shapes returns the forms in which a provider may repeat a key.
func shapes(t *testing.T, key string) map[string]string {
	t.Helper()
	inJSON, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	std := base64.StdEncoding
	return map[string]string{
		"plain": key, "bearer": "Bearer " + key, "base64": std.EncodeToString([]byte(key)), "base64 of bearer": std.EncodeToString([]byte("Bearer " + key)),
		"basic": std.EncodeToString([]byte("me:" + key + "\n")), "basic, one more": std.EncodeToString([]byte("user:" + key + "!!")), "URL's base64": base64.RawURLEncoding.EncodeToString([]byte(key)),
		"query": url.QueryEscape(key), "path": url.PathEscape(key), "lower case escapes": strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%3D", "%3d").Replace(url.QueryEscape(key)),
		"JSON": string(inJSON), "JSON, slashes": strings.ReplaceAll(string(inJSON), "/", `\/`), "JSON, signs": strings.NewReplacer("/", `\/`, "+", `\u002b`, "=", `\u003d`).Replace(string(inJSON)),
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"sk-proj-Ab3dEf6hIj9kLm2n", "fal/key+with=signs==", "12345678", "AIzaSyA-very_secret-of-Google0123456789"} {
		s := NewSecrets("short", key, "")
		for name, shape := range shapes(t, key) {
			text := "Incorrect API key: " + shape + " (short)."
			got := s.Redact(text)
			if !strings.HasPrefix(got, "Incorrect API key: ") || !strings.HasSuffix(got, " (short).") || !strings.Contains(got, hidden) || shows(got, key) {
				t.Errorf("%s of %s: %s", name, key, got)
			}
			for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
				b, err := io.ReadAll(&redacting{ReadCloser: io.NopCloser(r), secrets: s})
				if string(b) != got || err != nil {
					t.Errorf("%s of %s, read: %s, %v", name, key, b, err)
				}
			}
		}
	}
}

// TestSecretsThatBeginAlike: of a secret that begins like another one, or like its own end, nothing is shown, however a
// body is split.
func TestSecretsThatBeginAlike(t *testing.T) {
	t.Parallel()
	const short, long = "sk-live-12345678", "sk-live-12345678-and-more"
	for _, s := range []Secrets{NewSecrets(short, long), NewSecrets(long, short), NewSecrets("abcdefgh-abcd", "abcd-efgh")} {
		for _, text := range []string{
			"x " + short + " y " + long + " z", short, long, long[:len(long)-1], short + long, long + short,
			"x abcdefgh-abcd y", "abcdefgh-abcd", "abcdefgh-abcdefgh-abcd", "abcdefgh-abcd-efgh",
		} {
			want := s.Redact(text)
			for step := 1; step <= len(text); step++ {
				b, err := io.ReadAll(&redacting{ReadCloser: io.NopCloser(&stepping{[]byte(text), step}), secrets: s})
				if string(b) != want || err != nil {
					t.Errorf("%q by %d is %q, %v; want %q", text, step, b, err, want)
				}
			}
		}
	}
}

// shows reports whether any six characters of a key remain, plain or in base64.
func shows(text, key string) bool {
	all := append(encodings(key), key)
	for _, form := range all {
		for i := 0; i+6 <= len(form); i++ {
			if strings.Contains(text, form[i:i+6]) {
				return true
			}
		}
	}
	return false
}

func TestTextWithoutSecretsStays(t *testing.T) {
	t.Parallel()
	s := NewSecrets("sk-proj-Ab3dEf6hIj9kLm2n", "ollama", "        ")
	for _, text := range []string{"", "ollama", "sk-proj-Ab3dEf6hIj9kLm2", "ends in sk-proj-Ab3d", strings.Repeat("sk-proj-", 10_000)} {
		b, err := io.ReadAll(&redacting{ReadCloser: io.NopCloser(strings.NewReader(text)), secrets: s})
		if s.Redact(text) != text || string(b) != text || err != nil {
			t.Errorf("%.40q: %.40q, %v", text, b, err)
		}
	}
	if n := s.Settled("data: {}\n\n"); n != 10 { // no part of an event is held back
		t.Errorf("%d bytes are settled", n)
	}
}

// failing is a connection that repeats the key in its errors.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestErrorsAndHeadersHoldNoSecret(t *testing.T) {
	t.Parallel()
	const key = "sk-proj-Ab3dEf6hIj9kLm2n"
	for _, err := range []error{errors.New("malformed HTTP response \"Bearer " + key + "\""), media.Errorf(media.CodeBlockedAddress, "not to %s", key), errors.Join(io.ErrUnexpectedEOF, errors.New(key))} {
		_, _, got := call(t, NewProvider(Provider{Name: "X", Secrets: NewSecrets(key), Base: failing{err}}), "http://x.example")
		if got == nil || strings.Contains(got.Error(), key) || !strings.Contains(got.Error(), hidden) || media.CodeOf(got) != media.CodeOf(err) || errors.Is(err, io.ErrUnexpectedEOF) != errors.Is(got, io.ErrUnexpectedEOF) {
			t.Errorf("%v: %v", err, got)
		}
	}
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Www-Authenticate", r.Header.Get("X-Goog-Api-Key"))
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Goog-Api-Key", key)
	res, err := NewProvider(Provider{Name: "X", Origin: base, Secrets: NewSecrets(key)}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Header.Get("Www-Authenticate"); got != hidden || res.Body.Close() != nil {
		t.Errorf("the header says %q", got)
	}
}

func TestCleanCutsAfterItRedacts(t *testing.T) {
	t.Parallel()
	s := NewSecrets("sk-proj-Ab3dEf6hIj9kLm2n")
	text := strings.Repeat("x", 90) + " sk-proj-Ab3dEf6hIj9kLm2n " + strings.Repeat("ü", 1000)
	if got := s.Clean(text, 95); got != strings.Repeat("x", 90)+" [key…" {
		t.Error(got)
	}
}

// FuzzRedact: however a body is split, the text read contains no secret, and the text around it remains.
func FuzzRedact(f *testing.F) {
	const key = "sk/proj+Ab3dEf6="
	f.Add("before ", " after", uint8(1))
	f.Add("sk/proj+", "sk%2Fproj", uint8(5))
	s := NewSecrets(key)
	f.Fuzz(func(t *testing.T, before, after string, step uint8) {
		text := before + key + after
		b, err := io.ReadAll(&redacting{ReadCloser: io.NopCloser(&stepping{[]byte(text), int(step)%40 + 1}), secrets: s})
		if err != nil || strings.Contains(string(b), key) {
			t.Fatalf("%q, %v", b, err)
		}
		if s.Redact(before) == before && s.Redact(after) == after && (!strings.HasPrefix(string(b), before[:max(len(before)-len(key)*2, 0)]) || !strings.Contains(string(b), hidden)) {
			t.Errorf("%q becomes %q", text, b)
		}
	})
}

// stepping returns at most step bytes per read.
type stepping struct {
	left []byte
	step int
}

func (s *stepping) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.left[:min(s.step, len(s.left))])
	s.left = s.left[n:]
	return n, nil
}

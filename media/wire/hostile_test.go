package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"atelier/media"
)

func TestPixelLimitDoesNotOverflow(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	const side = 1<<32 - 1 // its square is negative in 64 bits
	for _, n := range []int{60, 9_000} {
		_, err := c.Store(scoped(t), bytes.NewReader(png(n, side, side)), "")
		wantCode(t, fmt.Sprintf("%d bytes", n), err, media.CodeTooLarge)
	}
}

func TestItemsBeyondTheLimitFailAlone(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, func(cfg *Config) { cfg.Limits.Items = 3 })
	img := func(i int) string { return std(png(300, 2, i+1)) }
	var doc, text strings.Builder
	for i := range 5 {
		fmt.Fprintf(&doc, `{"b64_json":%q}`+"\n", img(i))
		fmt.Fprintf(&text, "a data:image/png;base64,%s b\n", img(i))
	}
	out, items, err := lift(t, c, doc.String(), 4096, LiftOptions{Fields: Fields{Media: []string{"b64_json"}}})
	if err != nil {
		t.Fatal(err)
	}
	lifted, fromText := c.LiftString(scoped(t), text.String(), ValueOptions{})
	for what, got := range map[string][]Lifted{"stream": items, "text": fromText} {
		if len(got) != 5 {
			t.Fatalf("%s: %d items", what, len(got))
		}
		for i, l := range got {
			if want := i >= 3; want != (media.CodeOf(l.Err) == media.CodeTooLarge) {
				t.Errorf("%s: item %d: %v", what, i+1, l.Err)
			}
		}
	}
	for what, s := range map[string]string{"stream": out, "text": lifted} {
		if strings.Count(s, TokenPrefix) != 3 || strings.Count(s, TombstonePrefix) != 2 {
			t.Errorf("%s: %s", what, clipped(s))
		}
	}
	if n := count(t, c); n != 3 {
		t.Errorf("%d blobs", n)
	}
}

// TestPreviewsCountInTheirOwnStream: previews of one stream do not raise the limit of another stream in the same
// context.
func TestPreviewsCountInTheirOwnStream(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, func(cfg *Config) { cfg.Limits.Items = 3 })
	ctx, col := WithCollector(scoped(t))
	stream := func(height int, preview bool) (failed int) {
		var doc strings.Builder
		for i := range 5 {
			fmt.Fprintf(&doc, `{"b64_json":%q}`+"\n", std(png(300, 2, height+i)))
		}
		r := c.LiftReader(ctx, chunked(doc.String(), 100), LiftOptions{OnLift: func(l Lifted) {
			if media.CodeOf(l.Err) == media.CodeTooLarge {
				failed++
			} else if preview {
				col.Spare(l.Token)
			}
		}})
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Error(err)
		}
		return failed
	}
	if n := stream(1, true); n != 0 {
		t.Errorf("%d previews failed", n)
	}
	if n := stream(10, false); n != 2 {
		t.Errorf("%d items failed, want 2", n)
	}
	if n := stream(1, true); n != 0 {
		t.Errorf("%d repeated previews failed", n)
	}
}

// TestTransportErrorsHoldNoBase64 covers errors of net/http, which quotes what it cannot parse, possibly the picture
// itself. [media.ErrorText] shortens the text of the error.
func TestTransportErrorsHoldNoBase64(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	img := png(3_000, 3, 3)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			served <- err
			return
		}
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err == nil { // the body is read, because otherwise closing resets the connection
			_, err = io.Copy(io.Discard, req.Body)
		}
		_, werr := io.WriteString(conn, std(img)+"\r\n\r\n")
		served <- errors.Join(err, werr, conn.Close())
	}()
	failure := refused(t, c, request(t, scoped(t), "http://"+l.Addr().String(), "application/json", `{}`))
	if err := errors.Join(<-served, l.Close()); err != nil {
		t.Fatal(err)
	}
	if text := media.ErrorText(failure.Error()); containsPart(text, img) || !strings.Contains(text, "malformed HTTP response") {
		t.Error(clipped(text))
	}
	if errors.Unwrap(failure) == nil {
		t.Error("the cause is lost")
	}
}

func TestFailureThatCannotBeReadKeepsItsStatus(t *testing.T) {
	t.Parallel()
	c := newTestCodec(t, nil)
	img := png(3_000, 3, 3)
	for name, header := range map[string]map[string]string{
		"brotli":              {"Content-Type": "application/json", "Content-Encoding": "br"},
		"base64 for its type": {"Content-Type": "image/" + std(img)[:300]},
	} {
		url := serve(t, http.StatusTooManyRequests, header, img)
		res, body, _ := call(t, c, request(t, scoped(t), url, "application/json", `{}`))
		if res.StatusCode != http.StatusTooManyRequests || body != string(img) {
			t.Errorf("%s: status %d, %s", name, res.StatusCode, clipped(body))
		}
	}
}

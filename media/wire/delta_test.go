package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"atelier/media"
)

// deltaShapes are the events in which providers stream audio: %s is a piece, %d a choice.
var deltaShapes = map[string]string{
	"OpenAI chat":        `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":%[2]d,"delta":{"audio":{"id":"audio_1","data":"%[1]s"}},"finish_reason":null}]}`,
	"OpenAI Responses":   "event: response.output_audio.delta\ndata: " + `{"type":"response.output_audio.delta","sequence_number":4,"item_id":"msg_1","output_index":%[2]d,"content_index":0,"delta":"%[1]s"}`,
	"OpenAI, older":      `data: {"type":"response.audio.delta","output_index":%[2]d,"delta":"%[1]s"}`,
	"OpenAI speech":      `data: {"type":"speech.audio.delta","index":%[2]d,"audio":"%[1]s"}`,
	"Gemini":             `data: {"candidates":[{"index":%[2]d,"content":{"parts":[{"inlineData":{"mimeType":"audio/L16;codec=pcm;rate=24000","data":"%[1]s"}}],"role":"model"}}]}`,
	"Gemini, data first": `data: {"candidates":[{"index":%[2]d,"content":{"parts":[{"inlineData":{"data":"%[1]s","mimeType":"audio/L16;codec=pcm;rate=24000"}}],"role":"model"}}]}`,
}

// spokenStream returns a stream of sounds in pieces of varying lengths, between other events.
func spokenStream(shape string, sounds ...[]byte) string {
	var b strings.Builder
	for at, n := 0, 1; at < len(sounds[0]); n = n*3%1000 + 2 {
		for i, sound := range sounds {
			fmt.Fprintf(&b, shape+"\n\n", std(sound[at:min(at+n, len(sound))]), i)
		}
		b.WriteString(": a comment\n\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"some words of it\",\"choices\":[{\"index\":0,\"delta\":{\"audio\":{\"transcript\":\"some\"}}}]}\n\n")
		at += n
	}
	return b.String() + "data: [DONE]\n\n"
}

// TestPiecesOfSoundAreOneItem: the pieces of a streamed sound become one item per choice, and none of them remains in
// the stream.
func TestPiecesOfSoundAreOneItem(t *testing.T) {
	t.Parallel()
	o := LiftOptions{Fields: Fields{Media: []string{"inlineData.data", "audio.data"}, Deltas: AudioDeltas()}}
	samples, others := blobNoise(24_001), blobNoise(48_000)[:24_001]
	slices.Reverse(others)
	mp3 := append([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), samples...)
	wav := func(b []byte) []byte { return append(wavHeader(uint32(len(b)), PCM{}.withDefaults()), b...) }
	for name, shape := range deltaShapes {
		for _, chunk := range chunkSizes {
			c := newTestCodec(t, nil)
			out, got, err := lift(t, c, spokenStream(shape, samples, others), chunk, o)
			want := []media.Digest{media.DigestOf(wav(samples)), media.DigestOf(wav(others))}
			if err != nil || !slices.Equal(digests(got), want) || got[0].Blob.MIMEType != "audio/wav" || got[0].Token == got[1].Token {
				t.Fatalf("%s in chunks of %d: %v, %+v", name, chunk, err, got)
			}
			if n := strings.Count(out, `:""`); n < 40 || strings.Count(out, "some words of it") != n/2 || strings.Contains(out, std(samples[1:30])) || !strings.HasSuffix(out, "data: [DONE]\n\n") {
				t.Errorf("%s in chunks of %d becomes %s", name, chunk, clipped(out))
			}
		}
		if strings.HasPrefix(name, "Gemini") {
			continue // its type declares the pieces as raw samples
		}
		_, got, err := lift(t, newTestCodec(t, nil), spokenStream(shape, mp3), 4096, o)
		if err != nil || len(got) != 1 || got[0].Blob.Digest != media.DigestOf(mp3) || got[0].Blob.MIMEType != "audio/mpeg" {
			t.Errorf("%s of MP3: %v, %+v", name, err, got)
		}
	}
}

// TestWholePartsOfStreamsStayItems: pictures, and sounds with a header, are separate items.
func TestWholePartsOfStreamsStayItems(t *testing.T) {
	t.Parallel()
	picture, wav := png(9_000, 9, 9), append(wavHeader(3_000, PCM{}.withDefaults()), blobNoise(3_000)...)
	for name, c := range map[string]struct {
		shape string
		body  []byte
	}{
		"pictures":         {`{"inlineData":{"mimeType":"image/png","data":"%s"}}`, picture},
		"with no type yet": {`{"inlineData":{"data":"%s","mimeType":"image/png"}}`, picture},
		"files of sound":   {`{"inlineData":{"mimeType":"audio/wav","data":"%s"}}`, wav},
	} {
		doc := strings.Repeat("data: "+fmt.Sprintf(c.shape, std(c.body))+"\n\n", 2)
		out, got, err := lift(t, newTestCodec(t, nil), doc, 7, LiftOptions{Fields: Fields{Media: []string{"inlineData.data"}, Deltas: AudioDeltas()}})
		if err != nil || len(got) != 2 || got[1].Blob.Digest != media.DigestOf(c.body) || strings.Count(out, got[0].Token) != 2 {
			t.Errorf("%s: %v, %+v, %s", name, err, got, clipped(out))
		}
	}
}

// TestHalfSoundsFail: if a stream breaks off or one piece is invalid, the item fails. If the reader is closed before it
// has returned the whole stream, the item does not fail.
func TestHalfSoundsFail(t *testing.T) {
	t.Parallel()
	shape := deltaShapes["OpenAI chat"]
	stream := spokenStream(shape, blobNoise(9_000))
	broken := errors.New("connection reset")
	cut := strings.LastIndex(stream, `"data":"`)
	for name, src := range map[string]io.Reader{
		"the source fails":   io.MultiReader(strings.NewReader(stream[:cut]), &failingReader{broken}),
		"it ends in a piece": strings.NewReader(stream[:cut+100]),
		"a piece is broken":  strings.NewReader(strings.Replace(stream, stream[cut+60:cut+64], "!!!!", 1)),
	} {
		c := newTestCodec(t, nil)
		ctx, col := WithCollector(scoped(t))
		_, err := io.ReadAll(c.LiftReader(ctx, io.NopCloser(src), LiftOptions{Fields: Fields{Deltas: AudioDeltas()}}))
		got := col.All()
		if len(got) != 1 || media.CodeOf(got[0].Err) != media.CodeBadResponse || count(t, c) != 0 || (err == nil) != (name == "a piece is broken") {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	c := newTestCodec(t, nil)
	ctx, col := WithCollector(scoped(t))
	r := c.LiftReader(ctx, io.NopCloser(strings.NewReader(stream)), LiftOptions{Fields: Fields{Deltas: AudioDeltas()}})
	if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil || len(col.All()) != 1 || col.All()[0].Err != nil {
		t.Errorf("closed: %v, %+v", err, col.All())
	}
}

// TestSoundsAtATime: a stream that begins many sounds does not open an unlimited number of files.
func TestSoundsAtATime(t *testing.T) {
	t.Parallel()
	var doc strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doc, deltaShapes["OpenAI chat"]+"\n\n", std(blobNoise(300+i)), i)
	}
	out, got, err := lift(t, newTestCodec(t, nil), doc.String(), 4096, LiftOptions{Fields: Fields{Deltas: AudioDeltas()}})
	if err != nil || len(got) != 40 || strings.Count(out, TokenPrefix) != 40-maxSounds {
		t.Errorf("%v, %d items, %d at once", err, len(got), strings.Count(out, TokenPrefix))
	}
}

package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/api"
)

const gigabyte = 1 << 30

// film returns a video of n bytes: MP4 boxes around noise.
func film(n int64) io.Reader {
	head := []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2\x00\x00\x00\x01mdat")
	head = binary.BigEndian.AppendUint64(head, uint64(n-24))
	return io.MultiReader(bytes.NewReader(head), io.LimitReader(&noise{1}, n-int64(len(head))))
}

// noise is a cheap source of bytes that do not repeat soon.
type noise struct{ state uint64 }

func (x *noise) Read(p []byte) (int, error) {
	for i := 0; i+8 <= len(p); i += 8 {
		x.state = x.state*6364136223846793005 + 1442695040888963407
		binary.LittleEndian.PutUint64(p[i:], x.state)
	}
	return len(p), nil
}

// BenchmarkGigabyte measures the upload and download of 1 GiB, and the growth of the server's memory.
func BenchmarkGigabyte(b *testing.B) {
	s := serve(b, b.TempDir())
	small, err := s.Media.StoreMedia(b.Context(), film(1<<20), api.Upload{FileName: "warm.mp4"})
	if err != nil {
		b.Fatal(err)
	}
	if small.Modality != "video" {
		b.Fatalf("stored as %+v", small)
	}
	id := ""
	measure := func(b *testing.B, do func() error) {
		b.SetBytes(gigabyte)
		most := 0.0
		for b.Loop() {
			most = max(most, s.growth(b, func() {
				if err := do(); err != nil {
					b.Error(err)
				}
			}))
		}
		b.ReportMetric(most, "growth-MiB")
	}
	upload := func() error {
		m, err := s.Media.StoreMedia(context.WithoutCancel(b.Context()), film(gigabyte), api.Upload{FileName: "film.mp4"})
		id = m.ID
		return err
	}
	b.Run("upload", func(b *testing.B) { measure(b, upload) })
	if id == "" {
		if err := upload(); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("download", func(b *testing.B) {
		measure(b, func() error {
			c, err := s.Media.OpenMedia(context.WithoutCancel(b.Context()), id, 0)
			if err != nil {
				return err
			}
			in, err := c.Open(context.WithoutCancel(b.Context()), 0, -1)
			if err != nil {
				return err
			}
			defer in.Close()
			if n, err := io.Copy(io.Discard, in); err != nil || n != gigabyte {
				return fmt.Errorf("%d bytes: %w", n, err)
			}
			return nil
		})
	})
}

// nginx serves a folder with the program found, using sendfile.
func nginx(b *testing.B, found, dir string) (url string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	conf := filepath.Join(b.TempDir(), "nginx.conf")
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n"
	}
	text := fmt.Sprintf("%sdaemon off;\npid %s.pid;\nerror_log stderr crit;\nworker_processes auto;\nevents { worker_connections 768; }\nhttp { sendfile on; tcp_nopush on; access_log off; server { listen %s; root %s; } }\n", user, conf, address, dir)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(found, "-c", conf)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // a fast stop
		_ = cmd.Wait()                       // how it ends is not measured
	})
	return "http://" + address
}

// BenchmarkGet measures downloads of media files from the server and from nginx over 16 connections.
func BenchmarkGet(b *testing.B) {
	dir := b.TempDir()
	s := serve(b, b.TempDir())
	found, missing := exec.LookPath("nginx")
	for _, size := range []int64{20 << 10, 2 << 20} {
		var ours, theirs []string
		for i := range 20 {
			name := fmt.Sprintf("%d-%d.mp4", size, i)
			body, err := io.ReadAll(film(size + int64(i)))
			if err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), body, 0o644); err != nil { //nolint:gosec // nginx reads it
				b.Fatal(err)
			}
			m, err := s.Media.StoreMedia(b.Context(), bytes.NewReader(body), api.Upload{FileName: name})
			if err != nil {
				b.Fatal(err)
			}
			ours, theirs = append(ours, s.url+m.URL), append(theirs, "/"+name)
		}
		name := fmt.Sprintf("%dKB", size>>10)
		b.Run(name+"/atelier", func(b *testing.B) {
			before := s.worked(b)
			fetch(b, ours)
			b.ReportMetric((s.worked(b)-before).Seconds()*1e6/float64(b.N), "cpu-us/file")
		})
		b.Run(name+"/nginx", func(b *testing.B) {
			if missing != nil {
				b.Log("nginx is not installed (apt-get install nginx-light): nothing is measured")
				return
			}
			other := nginx(b, found, dir)
			var urls []string
			for _, path := range theirs {
				urls = append(urls, other+path)
			}
			fetch(b, urls)
		})
	}
}

// fetch gets files, one per request, with 16 requests in progress.
func fetch(b *testing.B, urls []string) {
	b.Helper()
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	get := func(n int64) error {
		res, err := c.Get(urls[n%int64(len(urls))])
		if err != nil {
			return err
		}
		defer res.Body.Close()
		size, err := io.Copy(io.Discard, res.Body)
		if err != nil || res.StatusCode != http.StatusOK || size != res.ContentLength {
			return fmt.Errorf("%s: %s, %d bytes: %w", urls[0], res.Status, size, err)
		}
		return nil
	}
	for try := 0; ; try++ {
		err := get(0)
		if err == nil {
			break
		}
		if try > 500 {
			b.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	var next atomic.Int64
	b.ResetTimer()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := get(n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "files/s")
}

// BenchmarkFirstLoad measures the JavaScript that the first page loads, compressed as it is on the wire.
func BenchmarkFirstLoad(b *testing.B) {
	s := serve(b, b.TempDir())
	get := func(path string) string {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.url+path, nil)
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "gzip")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			b.Fatalf("%s: %s, %v", path, res.Status, err)
		}
		return string(text)
	}
	index, err := os.ReadFile("../../web/dist/index.html")
	if err != nil {
		b.Fatal(err)
	}
	scripts := regexp.MustCompile(`(?:src|href)="([^"]+\.js)"`).FindAllStringSubmatch(string(index), -1)
	if len(scripts) == 0 || !strings.Contains(string(index), "<script") {
		b.Fatal("the first page loads no script")
	}
	total := 0
	for b.Loop() {
		total = 0
		get("/")
		for _, script := range scripts {
			total += len(get(script[1]))
		}
	}
	b.ReportMetric(float64(total)/1024, "gzip-KB")
}

package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"atelier/web"
)

// maxFirstLoad is how much JavaScript the first page may load, compressed.
const maxFirstLoad = 300 << 10

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := fs.ReadFile(web.Pages(), name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sent is how many bytes a browser gets of a file: its gzip form, where it is large enough to have one.
func sent(t *testing.T, name string) int {
	t.Helper()
	if info, err := fs.Stat(web.Pages(), name+".gz"); err == nil {
		return int(info.Size())
	}
	return len(read(t, name))
}

func TestThePageHasWhatItLoads(t *testing.T) {
	t.Parallel()
	index := string(read(t, "index.html"))
	size := 0
	for _, m := range regexp.MustCompile(`(?:src|href)="/([^"]+)"`).FindAllStringSubmatch(index, -1) {
		read(t, m[1])
		if strings.HasSuffix(m[1], ".js") {
			size += sent(t, m[1])
		}
	}
	if size == 0 || size > maxFirstLoad {
		t.Errorf("the first page loads %d bytes of compressed JavaScript, at most %d", size, maxFirstLoad)
	}
	if strings.Contains(index, "<script>") || strings.Contains(index, "http://") || strings.Contains(index, "https://") {
		t.Error("index.html has an inline script or another host, which its policy forbids")
	}
}

func TestCompressedFormsHoldTheirFiles(t *testing.T) {
	t.Parallel()
	found := 0
	err := fs.WalkDir(web.Pages(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".gz") {
			return err
		}
		found++
		r, err := gzip.NewReader(bytes.NewReader(read(t, path)))
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r)
		if err == nil && !bytes.Equal(b, read(t, strings.TrimSuffix(path, ".gz"))) {
			t.Errorf("%s differs from its file", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if found == 0 {
		t.Error("nothing is compressed")
	}
}

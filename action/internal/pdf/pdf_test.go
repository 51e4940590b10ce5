package pdf

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"context"
	"encoding/ascii85"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"atelier/media"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
)

// file writes objects as a PDF with a trailer and without a cross-reference table.
func file(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	b.WriteString("trailer << /Root 1 0 R >>\n%%EOF\n")
	return b.Bytes()
}

// packed returns a compressed stream object.
func packed(dict string, data []byte) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(data), data)
}

func deflate(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write(b) // writes to memory
	_ = w.Close()     // writes to memory
	return out.Bytes()
}

// one returns a PDF of one page with Helvetica as F1; further objects start at number 5.
func one(content string, more ...string) []byte {
	return file(append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> /F2 5 0 R >> /XObject << /X 6 0 R >> >> >>",
		packed("", []byte(content)),
	}, more...)...)
}

// contents is what a PDF contains.
type contents struct {
	text, title string // pages end with \f
	warnings    []string
}

// readAll reads a whole PDF.
func readAll(tb testing.TB, b []byte) contents {
	tb.Helper()
	var pages []string
	title, warnings, err := Read(tb.Context(), b, func(_, _ int, text string) { pages = append(pages, text) })
	if err != nil {
		tb.Fatal(err)
	}
	return contents{strings.Join(pages, "\f"), title, warnings}
}

func TestTextOfABrowser(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/chromium.pdf")
	if err != nil {
		t.Fatal(err)
	}
	got := readAll(t, b)
	want := "Offshore wind\nWords — with “quotes”, an efficient office.\n\nGröße, Ελλάδα, עברית.\n\nYear GW\n2020 35\fPage two."
	if diff := cmp.Diff(want, strings.ReplaceAll(got.text, "wind\n\nWords", "wind\nWords")); diff != "" || got.title != "Wind report – ünïcode" || got.warnings != nil {
		t.Errorf("%s %q %v", diff, got.title, got.warnings)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pdf  []byte
		want string
	}{
		"plain":       {one("BT /F1 12 Tf 72 700 Td (Hello) Tj ET"), "Hello"},
		"escapes":     {one(`BT /F1 12 Tf (a\(b\)\\ \101\n\344 (nested) c\` + "\n" + `d) Tj ET`), `a(b)\ Aä (nested) cd`},
		"hex":         {one("BT /F1 12 Tf <48 65 6C6c 6F2> Tj ET"), "Hello"},
		"kerning":     {one("BT /F1 10 Tf [(W) 80 (ind) -400 (power)] TJ ET"), "Wind power"},
		"lines":       {one("BT /F1 10 Tf 12 TL 0 100 Td (one) Tj T* (two) Tj 0 -40 Td (three) Tj (four) ' ET"), "one\ntwo\n\nthree\nfour"},
		"moved":       {one("BT /F1 10 Tf 1 0 0 1 10 100 Tm (left) Tj 1 0 0 1 200 100 Tm (right) Tj ET"), "left right"},
		"turned":      {one("BT /F1 10 Tf 0 1 -1 0 100 10 Tm (up) Tj ( wards) Tj ET"), "up wards"},
		"state":       {one("q 2 0 0 2 0 0 cm BT /F1 5 Tf (a) Tj ET Q BT /F1 10 Tf 10 0 Td (b) Tj ET"), "a b"},
		"no font":     {one("BT (silent) Tj /F9 10 Tf (silent) Tj /F1 10 Tf (loud) Tj ET"), "silentloud"},
		"image":       {one("BT /F1 10 Tf (a) Tj ET BI /W 1 /H 1 ID (EI\x00) Tj \x01 EI BT /F1 10 Tf 0 -20 Td (b) Tj ET"), "a\n\nb"},
		"soft hyphen": {one("BT /F1 10 Tf (co\\255op \\240x) Tj ET"), "co-op x"},
		"differences": {one("BT /F2 10 Tf (abcde) Tj ET", "<< /Type /Font /Subtype /Type1 /Encoding << /Differences [97 /fi /eacute 99 /uni4E2D /Lslash /g17] >> >>"), "fié中Łe"},
		"standard":    {one("BT /F2 10 Tf (\\252it's\\272 \\256) Tj ET", "<< /Type /Font /Subtype /Type1 >>"), "“it’s” fi"},
		"unicode map": {one("BT /F2 10 Tf <0001 0002 0003 0010 0011> Tj ET", "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /W [1 [500 500] 3 17 600] >>] /ToUnicode 7 0 R >>", "null",
			packed("/Filter /FlateDecode", deflate([]byte("/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange 3 beginbfchar <0001> <0057> <0002> <D83CDF2C> <0003> <00660066> endbfchar 1 beginbfrange <0010> <0011> <0041> endbfrange endcmap")))), "W🌬ffAB"},
		"UCS2":     {one("BT /F2 10 Tf <4E2D6587> Tj ET", "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /UniGB-UCS2-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 0 >> >>] >>"), "中文"},
		"form":     {one("BT /F1 10 Tf (before) Tj ET /X Do", "null", packed("/Type /XObject /Subtype /Form /Matrix [1 0 0 1 0 -50] /Resources << /Font << /F1 << /Subtype /Type1 >> >> >>", []byte("BT /F1 10 Tf (inside) Tj ET"))), "before\n\ninside"},
		"hyphens":  {one("BT /F1 10 Tf 12 TL (a long exam-) Tj T* (ple of COVID-) Tj T* (19 in 2020-) Tj T* (2025) Tj ET"), "a long exam-\nple of COVID-\n19 in 2020-\n2025"},
		"controls": {one("BT /F1 10 Tf (a\\000b\\001c\\002\\tnd) Tj ET"), "abcnd"},
		"fields": {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] >>",
			"<< /Type /Page /Contents 4 0 R /Annots [<< /Subtype /Link >> << /Rect [60 700 90 720] /AP << /N 5 0 R >> >> << /Rect [0 600 9 610] /AS /On /AP << /N << /On 5 0 R /Off 4 0 R >> >> >> << /F 2 /AP << /N 5 0 R >> >>] /Resources << /Font << /F1 << /Subtype /Type1 >> >> >> >>",
			packed("", []byte("BT /F1 10 Tf 0 700 Td (Name:) Tj ET")), packed("/Subtype /Form /BBox [0 0 30 20]", []byte("BT /F1 10 Tf (Ada) Tj ET"))), "Name: Ada\n\nAda"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := readAll(t, test.pdf).text; got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	const content = "BT /F1 10 Tf (filtered) Tj ET"
	var a85 bytes.Buffer
	w := ascii85.NewEncoder(&a85)
	_, _ = w.Write(deflate([]byte(content))) // writes to memory
	_ = w.Close()                            // writes to memory
	var squeezed bytes.Buffer
	z := lzw.NewWriter(&squeezed, lzw.MSB, 8) // PDF's variant is the same below 511 codes
	_, _ = z.Write([]byte(content))           // writes to memory
	_ = z.Close()                             // writes to memory
	up := []byte{}
	for i := 0; i < len(content); i += 5 { // rows of five with the PNG predictor Up
		row := []byte(fmt.Sprintf("%-5s", content[i:min(len(content), i+5)]))
		up = append(up, 2)
		for k, c := range row {
			if i > 0 {
				c -= content[i-5+k]
			}
			up = append(up, c)
		}
	}
	long := "" // more than 511 codes, where the variants of LZW differ
	for i := range 300 {
		long += fmt.Sprintf("%%%d\n", i*i)
	}
	long += content
	var late bytes.Buffer
	z = lzw.NewWriter(&late, lzw.MSB, 8)
	_, _ = z.Write([]byte(long)) // writes to memory
	_ = z.Close()                // writes to memory
	left := []byte{}
	for i := 0; i < len(content); i += 5 { // rows of five with TIFF's predictor
		row := []byte(fmt.Sprintf("%-5s", content[i:min(len(content), i+5)]))
		for k, c := range row {
			if k > 0 {
				c -= row[k-1]
			}
			left = append(left, c)
		}
	}
	for name, body := range map[string]string{
		"late LZW":  packed("/Filter /LZWDecode /DecodeParms << /EarlyChange 0 >>", late.Bytes()),
		"TIFF":      packed("/Filter /FlateDecode /DecodeParms << /Predictor 2 /Columns 5 >>", deflate(left)),
		"flate":     packed("/Filter /FlateDecode", deflate([]byte(content))),
		"two":       packed("/Filter [/ASCII85Decode /FlateDecode]", append(a85.Bytes(), "~>"...)),
		"hex":       packed("/Filter /ASCIIHexDecode", []byte(fmt.Sprintf("%x>", content))),
		"run":       packed("/Filter /RunLengthDecode", append([]byte{byte(len(content) - 1)}, content+"\x80"...)),
		"predictor": packed("/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 5 >>", deflate(up)),
		"LZW":       packed("/Filter /LZWDecode", squeezed.Bytes()),
		"length":    strings.Replace(packed("", []byte(content)), "/Length 2", "/Length 9", 1),
		"no length": strings.Replace(packed("", []byte(content)), "/Length", "/Long", 1),
	} {
		pdf := file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] >>",
			"<< /Type /Page /Contents 4 0 R /Resources << /Font << /F1 << /Subtype /Type1 >> >> >> >>", body)
		want := "filtered"
		if got := readAll(t, pdf).text; got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestTitles(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{"<FEFF00DC>": "Ü", "<FFFEDC00>": "Ü", "<EFBBBFC39C>": "Ü", "<DC>": "Ü", "<EFBBBF41FF42>": "AB"} {
		src := "%PDF-1.5\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] >>\nendobj\n3 0 obj\n<< /Type /Page >>\nendobj\n" +
			"4 0 obj\n<< /Title " + written + " >>\nendobj\ntrailer\n<< /Root 1 0 R /Info 4 0 R >>\nstartxref\n0\n%%EOF\n"
		if got := readAll(t, []byte(src)); got.title != want {
			t.Errorf("%s: %q", written, got.title)
		}
	}
}

// TestObjectStreams reads the structure of newer files: all objects compressed, a cross-reference stream in place of a
// trailer, and a later change of one object.
func TestObjectStreams(t *testing.T) {
	t.Parallel()
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] >>", "<< /Type /Page /Contents 5 0 R /Resources << /Font << /F1 << /Subtype /Type1 >> >> >> >>"}
	var head, body strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&head, "%d %d ", i+1, body.Len())
		body.WriteString(o + " ")
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	fmt.Fprintf(&b, "4 0 obj\n%s\nendobj\n", packed(fmt.Sprintf("/Type /ObjStm /N 3 /First %d /Filter /FlateDecode", head.Len()), deflate([]byte(head.String()+body.String()))))
	fmt.Fprintf(&b, "5 0 obj\n%s\nendobj\n", packed("", []byte("BT /F1 10 Tf (old) Tj ET")))
	fmt.Fprintf(&b, "6 0 obj\n%s\nendobj\n", packed("/Type /XRef /Root 1 0 R /Info 7 0 R /W [1 2 1] /Size 7", []byte("xxxx")))
	b.WriteString("7 0 obj\n<< /Title <FEFF00DC> >>\nendobj\nstartxref\n0\n%%EOF\n")
	if got := readAll(t, b.Bytes()); got.text != "old" || got.title != "Ü" {
		t.Errorf("%+v", got)
	}
	fmt.Fprintf(&b, "5 0 obj\n%s\nendobj\n", packed("", []byte("BT /F1 10 Tf (new) Tj ET")))
	if got := readAll(t, b.Bytes()).text; got != "new" {
		t.Errorf("%q", got)
	}
}

// TestStreamsAreNotSearched has an attached PDF file and text that look like objects and a trailer.
func TestStreamsAreNotSearched(t *testing.T) {
	t.Parallel()
	inner := append(one("BT /F1 10 Tf (the attached file) Tj ET"), "trailer << /Encrypt << /Filter /Standard >> >>"...)
	for name, b := range map[string][]byte{
		"attached file": one("BT /F1 10 Tf (right) Tj ET", "null", packed("/Type /EmbeddedFile", inner)),
		"text":          one("BT /F1 10 Tf (3 0 obj null trailer << /Encrypt 1 >>) ' /F1 10 Tf 0 -12 Td (right) Tj ET"),
	} {
		if got := readAll(t, b).text; !strings.HasSuffix(got, "right") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	font := "/Resources << /Font << /F1 << /Subtype /Type1 >> >> >>"
	var unclosed, endless, again, fonts strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&unclosed, "%d 0 obj(", i+1)
	}
	for i := range 300_000 {
		fmt.Fprintf(&endless, "%d 0 obj<<>>stream ", i+1)
	}
	for range 200_000 {
		again.WriteString("1 0 obj<</A/ObjStm>>endobj\n")
	}
	again.WriteString("1 0 obj\n" + packed("/Type /ObjStm /First 0 /N 99999", []byte(strings.Repeat("1 0 ", 25_000))) + "\nendobj\n")
	choices := ""
	for i := range 40 {
		fmt.Fprintf(&fonts, "/F%d << /Subtype /Type0 /DescendantFonts [<< /W [0 65535 1 65536 131071 1 131072 199999 1] >>] >> ", i)
		choices += fmt.Sprintf("/F%d 1 Tf ", i)
	}
	for name, test := range map[string]struct {
		pdf  []byte
		code media.Code
	}{
		"nothing":      {nil, media.CodeCorrupt},
		"no objects":   {[]byte("%PDF-1.7\n%%EOF"), media.CodeCorrupt},
		"cut":          {one("BT /F1 10 Tf (x) Tj ET")[:120], media.CodeCorrupt},
		"encrypted":    {append(one(""), "trailer << /Root 1 0 R /Encrypt << /Filter /Standard >> >>"...), media.CodeUnsupported},
		"page cycle":   {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 3 0 R 2 0 R] >>", "<< /Type /Pages /Kids [2 0 R] >>"), media.CodeCorrupt},
		"object cycle": {file("2 0 R", "1 0 R"), media.CodeCorrupt},
		"length cycle": {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R >>", "<< /Length 4 0 R >>\nstream\nBT ET\nendstream"), ""},
		"bomb":         {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R >>", packed("/Filter [/FlateDecode /RunLengthDecode]", deflate(bytes.Repeat([]byte{129, ' '}, 2*maxMemory/128)))), ""},
		"content":      {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R >>", packed("/Filter /FlateDecode", deflate(make([]byte, 2<<20)))), ""},
		"deep arrays":  {one("BT /F1 10 Tf " + strings.Repeat("[", 1_000_000) + "(x) TJ ET"), ""},
		"deep dicts":   {append(one("BT ET"), ("9 0 obj\n" + strings.Repeat("<< /A ", 100_000))...), ""},
		"form cycle":   {one("/X Do", "null", packed("/Subtype /Form", []byte("/X Do /X Do BT /F1 10 Tf (x) Tj ET"))), media.CodeCorrupt},
		"damage":       {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R "+font+" >>", packed("/Filter /FlateDecode", []byte("no zlib"))), ""},
		"huge numbers": {one("BT /F1 1e99 Tf 99999999999999999999999999 0 Td (x) Tj -- . + 1.2.3 Td (y) Tj ET"), ""},
		"shared part":  {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents ["+strings.Repeat("4 0 R ", 20)+"] >>", packed("", bytes.Repeat([]byte(" "), 100_000))), ""},
		"unclosed":     {append([]byte(unclosed.String()), bytes.Repeat([]byte(" "), 60_000)...), media.CodeCorrupt},
		"trailers":     {bytes.Repeat([]byte("trailer("), 12_500), media.CodeCorrupt},
		"no endstream": {[]byte(endless.String()), media.CodeCorrupt},
		"packed again": {[]byte(again.String()), media.CodeCorrupt},
		"fonts":        {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R /Resources << /Font << "+fonts.String()+" >> >> >>", packed("", []byte(choices))), ""},
		"operands":     {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R >>", packed("/Filter /FlateDecode", deflate([]byte("["+strings.Repeat("0 ", 100_000)+"] TJ")))), ""},
		"long mapping": {one("BT /F2 1 Tf ("+strings.Repeat("A", 10_000)+") Tj ET", "<< /ToUnicode 7 0 R >>", "null", packed("", []byte("<41> <"+strings.Repeat("0041", 20_000)+"> endbfchar"))), ""},
		"many pages":   {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids ["+strings.Repeat("<< /Type /Page >> ", maxPages+1)+"] >>"), media.CodeTooLarge},
		"wide rows":    {file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents ["+strings.Repeat("4 0 R ", 300)+"] >>", packed("/Filter /AHx /DecodeParms << /Predictor 12 /Colors 64 /BitsPerComponent 32 /Columns 1048576 >>", []byte("020202>"))), ""},
		"ranges":       {one("BT /F2 10 Tf <0001> Tj ET", "<< /Subtype /Type0 /DescendantFonts [<< /W [0 4294967295 1 0 99999999 2] >>] /ToUnicode 7 0 R >>", "null", packed("", []byte("<00000000> <FFFFFFFF> <0041> endbfrange <0000> <FFFF> [] endbfrange"))), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := try(t.Context(), test.pdf); media.CodeOf(err) != test.code {
				t.Errorf("%v (%s), want %q", err, media.CodeOf(err), test.code)
			}
		})
	}
}

// try reads the whole PDF.
func try(ctx context.Context, b []byte) error {
	_, _, err := Read(ctx, b, func(int, int, string) {})
	return err
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	got := readAll(t, one("BT /F2 10 Tf <00410042> Tj ET", "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>"))
	if len(got.warnings) != 1 || !strings.HasPrefix(got.warnings[0], "the letters may be wrong") {
		t.Errorf("%+v", got)
	}
	got = readAll(t, file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>", "<< /Type /Page /Parent 2 0 R >>", "null"))
	if len(got.warnings) != 1 || got.warnings[0] != "1 damaged pages were omitted" {
		t.Errorf("%+v", got)
	}
}

// TestPartOfAStream damages a compressed page in its middle.
func TestPartOfAStream(t *testing.T) {
	t.Parallel()
	b := deflate([]byte("BT /F1 10 Tf (first) Tj ET " + strings.Repeat("0 0 m 7 8 l ", 10) + "BT /F1 10 Tf 0 -20 Td (last words of this page) Tj ET"))
	got := readAll(t, file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R /Resources << /Font << /F1 << /Subtype /Type1 >> >> >> >>",
		packed("/Filter /FlateDecode", b[:len(b)*2/3])))
	if !strings.HasPrefix(got.text, "first") || strings.Contains(got.text, "page") {
		t.Errorf("%+v", got)
	}
}

// TestEncrypted: everybody can read a file with restrictions; one that needs a password is refused.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]media.Code{"restricted": "", "password": media.CodeUnsupported} {
		b, err := os.ReadFile("testdata/" + name + ".pdf")
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		_, _, err = Read(t.Context(), b, func(_, _ int, page string) { text += page })
		if media.CodeOf(err) != want || (text == "secret") != (want == "") {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
}

func TestReadAtOnce(t *testing.T) {
	t.Parallel()
	var readers errgroup.Group
	for i := range 4 * maxOpen {
		readers.Go(func() error {
			want, got := fmt.Sprintf("Reader %d.", i), ""
			_, _, err := Read(t.Context(), one("BT /F1 10 Tf ("+want+") Tj ET"), func(_, _ int, text string) { got = text })
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
			return err
		})
	}
	if err := readers.Wait(); err != nil {
		t.Error(err)
	}
}

// TestReadEnds: a page that takes seconds ends with its context and with the time limit, before its text is read. The
// instance is discarded, and the next document is read.
func TestReadEnds(t *testing.T) {
	t.Parallel()
	slow := file("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Type /Page /Contents ["+strings.Repeat("4 0 R ", 700)+"] >>", packed("", bytes.Repeat([]byte(" "), 100_000)))
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for want, ctx := range map[media.Code]context.Context{media.CodeDeadline: short, media.CodeCancelled: cancelled, media.CodeTooLarge: t.Context()} {
		_, _, err := read(ctx, 50*time.Millisecond, slow, func(int, int, string) { t.Error(want, "reads to the end") })
		if media.CodeOf(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
		if got := readAll(t, one("BT /F1 10 Tf (next) Tj ET")).text; got != "next" {
			t.Errorf("after %s: %q", want, got)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add(one("BT /F1 12 Tf 72 700 Td [(Hel) -200 (lo)] TJ ET /X Do", "null", packed("/Subtype /Form", []byte("/X Do"))))
	f.Add(one("BT /F2 10 Tf <0001> Tj ET", "<< /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /W [1 [500] 3 17 600] >>] /ToUnicode 7 0 R >>", "null", packed("", []byte("<0001> <0002> <0041> endbfrange"))))
	if b, err := os.ReadFile("testdata/chromium.pdf"); err == nil {
		f.Add(b)
	}
	f.Add([]byte("%PDF-1.5\n4 0 obj\n<< /Type /ObjStm /N 3 /First 9 /Length 20 >>\nstream\n1 0 2 9 <</Pages 2 0 R>>\nendstream\nendobj\ntrailer <</Root 1 0 R>>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, err := Read(t.Context(), b, func(_, _ int, text string) {
			if i := strings.IndexFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\n' || c == '\ufffe' }); i >= 0 {
				t.Errorf("%q has a control character", text[i:])
			}
		})
		if code := media.CodeOf(err); err != nil && code != media.CodeCorrupt && code != media.CodeTooLarge && code != media.CodeUnsupported {
			t.Errorf("%v (%s)", err, code)
		}
	})
}

func BenchmarkText(b *testing.B) {
	pdf := one("BT /F1 10 Tf 12 TL " + strings.Repeat("(Turbines turn in the wind all year.) Tj T* ", 5000) + "ET")
	b.SetBytes(int64(len(pdf)))
	_ = try(b.Context(), pdf) // compiles PDFium
	for b.Loop() {
		if err := try(b.Context(), pdf); err != nil {
			b.Fatal(err)
		}
	}
}

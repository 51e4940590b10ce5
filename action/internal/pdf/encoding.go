package pdf

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// simpleEncoding returns the characters of the 256 codes of a simple font.
func (d *Document) simpleEncoding(f dict) *[256]string {
	base, _ := d.resolve(f["Encoding"]).(name)
	enc := d.dict(f["Encoding"])
	if b, ok := d.resolve(enc["BaseEncoding"]).(name); ok {
		base = b
	}
	out := baseEncoding(base)
	list, _ := d.resolve(enc["Differences"]).(array)
	code := 0
	for _, v := range list {
		switch v := d.resolve(v).(type) {
		case float64:
			code = int(v)
		case name:
			if code >= 0 && code < 256 {
				out[code] = glyphText(string(v))
			}
			code++
		}
	}
	return out
}

func baseEncoding(n name) *[256]string {
	var out [256]string
	table := charmap.Windows1252
	if n == "MacRomanEncoding" {
		table = charmap.Macintosh
	}
	for i := 32; i < 256; i++ {
		if r := table.DecodeByte(byte(i)); r != utf8.RuneError && r >= 32 {
			out[i] = string(r)
		}
	}
	if n == "WinAnsiEncoding" || n == "MacRomanEncoding" {
		return &out
	}
	out['\''], out['`'] = "’", "‘"
	for i := 128; i < 256; i++ {
		out[i] = ""
	}
	for hex, char := range pairs(standardUpper) {
		if i, err := strconv.ParseUint(hex, 16, 8); err == nil {
			out[i] = char
		}
	}
	return &out
}

// standardUpper is the upper half of Adobe's StandardEncoding (PDF 1.7, annex D).
const standardUpper = `a1=¡ a2=¢ a3=£ a4=⁄ a5=¥ a6=ƒ a7=§ a8=¤ a9=' aa=“ ab=« ac=‹ ad=› ae=fi af=fl b1=– b2=† b3=‡ b4=· b6=¶
b7=• b8=‚ b9=„ ba=” bb=» bc=… bd=‰ bf=¿ c1=` + "`" + ` c2=´ c3=ˆ c4=˜ c5=¯ c6=˘ c7=˙ c8=¨ ca=˚ cb=¸ cd=˝ ce=˛ cf=ˇ d0=—
e1=Æ e3=ª e8=Ł e9=Ø ea=Œ eb=º f1=æ f5=ı f8=ł f9=ø fa=œ fb=ß`

// glyphText returns the characters of a glyph name: Adobe's names for Latin, Greek and common signs, uniXXXX and
// uXXXXX, without a suffix such as .sc.
func glyphText(n string) string {
	n, _, _ = strings.Cut(n, ".")
	if utf8.RuneCountInString(n) == 1 {
		return n
	}
	if s := glyphs[n]; s != "" {
		return s
	}
	if len(n) > 1 && accents[n[1:]] != "" { // eacute, Scaron
		return norm.NFC.String(n[:1] + accents[n[1:]])
	}
	for _, prefix := range []string{"uni", "u"} {
		hex, ok := strings.CutPrefix(n, prefix)
		if !ok || len(hex) < 4 || len(hex) > 6 {
			continue
		}
		if v, err := strconv.ParseUint(hex, 16, 32); err == nil && utf8.ValidRune(rune(v)) { //nolint:gosec // checked
			return string(rune(v)) //nolint:gosec // checked
		}
	}
	return ""
}

// accents maps the ends of names of accented letters to combining characters.
var accents = pairs("acute=\u0301 grave=\u0300 circumflex=\u0302 dieresis=\u0308 tilde=\u0303 ring=\u030a cedilla=\u0327 caron=\u030c macron=\u0304 " +
	"ogonek=\u0328 breve=\u0306 dotaccent=\u0307 hungarumlaut=\u030b commaaccent=\u0326")

// pairs reads name=value pairs separated by spaces.
func pairs(text string) map[string]string {
	m := map[string]string{}
	for _, pair := range strings.Fields(text) {
		name, value, _ := strings.Cut(pair, "=")
		m[name] = strings.ReplaceAll(value, `\x20`, " ")
	}
	return m
}

// glyphs maps names to characters, except for accented letters.
var glyphs = pairs(`space=\x20 exclam=! quotedbl=" numbersign=# dollar=$ percent=% ampersand=& quotesingle=' parenleft=( parenright=)
asterisk=* plus=+ comma=, hyphen=- period=. slash=/ zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 colon=:
semicolon=; less=< equal== greater=> question=? at=@ bracketleft=[ backslash=\ bracketright=] asciicircum=^ underscore=_ grave=` + "`" + `
braceleft={ bar=| braceright=} asciitilde=~ exclamdown=¡ cent=¢ sterling=£ currency=¤ yen=¥ brokenbar=¦ section=§ dieresis=¨
copyright=© ordfeminine=ª guillemotleft=« logicalnot=¬ registered=® macron=¯ degree=° plusminus=± twosuperior=² threesuperior=³
acute=´ mu=µ paragraph=¶ periodcentered=· cedilla=¸ onesuperior=¹ ordmasculine=º guillemotright=» onequarter=¼ onehalf=½
threequarters=¾ questiondown=¿ AE=Æ Eth=Ð multiply=× Oslash=Ø Thorn=Þ germandbls=ß ae=æ eth=ð divide=÷ oslash=ø thorn=þ dotlessi=ı
Lslash=Ł lslash=ł OE=Œ oe=œ Dcroat=Đ dcroat=đ florin=ƒ circumflex=ˆ caron=ˇ tilde=˜ breve=˘ dotaccent=˙ ring=˚ ogonek=˛ hungarumlaut=˝
endash=– emdash=— quoteleft=‘ quoteright=’ quotesinglbase=‚ quotedblleft=“ quotedblright=” quotedblbase=„ dagger=† daggerdbl=‡ bullet=•
ellipsis=… perthousand=‰ guilsinglleft=‹ guilsinglright=› fraction=⁄ Euro=€ trademark=™ minus=− infinity=∞ partialdiff=∂ summation=∑
product=∏ radical=√ integral=∫ approxequal=≈ notequal=≠ lessequal=≤ greaterequal=≥ lozenge=◊ Delta=Δ Omega=Ω pi=π fi=fi fl=fl ff=ff ffi=ffi
ffl=ffl nbspace=\x20 sfthyphen=- arrowright=→ arrowleft=← arrowup=↑ arrowdown=↓ alpha=α beta=β gamma=γ delta=δ epsilon=ε zeta=ζ eta=η
theta=θ iota=ι kappa=κ lambda=λ nu=ν xi=ξ rho=ρ sigma=σ tau=τ upsilon=υ phi=φ chi=χ psi=ψ omega=ω Gamma=Γ Theta=Θ Lambda=Λ Xi=Ξ Pi=Π
Sigma=Σ Phi=Φ Psi=Ψ nonbreakingspace=\x20 middot=·`)

package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// ID derives an id from that of a workflow, a UUIDv7, so that a replay gives the same record the same id. The derived
// id is a UUIDv7 too. Ids of one workflow sort after the workflow's own id, by major and then by minor, each below
// 4096; name distinguishes ids with the same major and minor. ok is false if root is not a UUIDv7.
func ID(root, name string, major, minor int) (id string, ok bool) {
	var b [16]byte
	digits := strings.ReplaceAll(root, "-", "")
	if len(digits) != hex.EncodedLen(len(b)) {
		return "", false
	}
	if _, err := hex.Decode(b[:], []byte(digits)); err != nil || b[6]>>4 != 7 {
		return "", false
	}
	for i := 5; i >= 0; i-- { // one millisecond later than the workflow
		b[i]++
		if b[i] != 0 {
			break
		}
	}
	sum := sha256.Sum256([]byte(root + "\x00" + name))
	copy(b[10:], sum[:])
	major, minor = max(0, min(major, 4095)), max(0, min(minor, 4095))
	binary.BigEndian.PutUint16(b[6:], 0x7000|uint16(major))
	binary.BigEndian.PutUint16(b[8:], 0x8000|uint16(minor)<<2|uint16(sum[31]&3))
	text := make([]byte, 0, len("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"))
	text = append(hex.AppendEncode(text, b[:4]), '-')
	text = append(hex.AppendEncode(text, b[4:6]), '-')
	text = append(hex.AppendEncode(text, b[6:8]), '-')
	text = append(hex.AppendEncode(text, b[8:10]), '-')
	return string(hex.AppendEncode(text, b[10:])), true
}

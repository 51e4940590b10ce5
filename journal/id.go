package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// ID derives an id from that of a workflow, a UUIDv7, so that a replay gives the same
// record the same id. It is a UUIDv7 itself. Among those of one workflow, ids sort by
// major and then by minor, each below 4096, and behind the workflow's own; name tells apart what
// has the same place. ok is false where root is no UUIDv7.
func ID(root, name string, major, minor int) (id string, ok bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(root, "-", ""))
	if err != nil || len(b) != 16 || b[6]>>4 != 7 {
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
	text := hex.EncodeToString(b)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:], true
}

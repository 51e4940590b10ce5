package journal

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"
)

// ID derives an id from that of a workflow, so that a replay gives the same record the same id. The derived id is a
// UUIDv7. Ids of one workflow sort by major and then by minor, each below 4096, and after the workflow's own id if that
// is a UUIDv7; name distinguishes ids with the same major and minor.
func ID(root, name string, major, minor int) string {
	sum := sha256.Sum256([]byte(root + "\x00" + name))
	b, err := uuid.Parse(root)
	if err != nil || b.Version() != 7 { // an id that the caller of the workflow chose
		own := sha256.Sum256([]byte(root))
		b = uuid.UUID(own[:16])
	}
	for i := 5; i >= 0; i-- { // one millisecond later than the workflow
		b[i]++
		if b[i] != 0 {
			break
		}
	}
	copy(b[10:], sum[:])
	major, minor = max(0, min(major, 4095)), max(0, min(minor, 4095))
	binary.BigEndian.PutUint16(b[6:], 0x7000|uint16(major))
	binary.BigEndian.PutUint16(b[8:], 0x8000|uint16(minor)<<2|uint16(sum[31]&3))
	return b.String()
}

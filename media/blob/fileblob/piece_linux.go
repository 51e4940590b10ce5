package fileblob

import "golang.org/x/sys/unix"

// pool hands out memory that direct writes take: whole pages. It lies outside of the Go
// heap, whose collector would let as much again be kept.
type pool struct {
	size int
	free chan []byte
}

func (p *pool) get() []byte {
	select {
	case b := <-p.free:
		return b
	default:
	}
	b, err := unix.Mmap(-1, 0, p.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return make([]byte, p.size) // the kernel's limit of mappings: a write of it may go through the cache
	}
	return b
}

// give takes a piece back; one too many goes back to the kernel.
func (p *pool) give(b []byte) {
	select {
	case p.free <- b:
	default:
		_ = unix.Munmap(b) // an error says that it is of the Go heap, which needs none
	}
}

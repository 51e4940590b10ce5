package fileblob

import "golang.org/x/sys/unix"

// pool provides memory for direct writes, which must be whole pages. The memory is outside the Go heap, because the
// garbage collector would otherwise let the heap grow by as much again.
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
		return make([]byte, p.size) // the kernel limits mappings: a write of this slice may go through the page cache
	}
	return b
}

// give returns a piece to the pool, or to the kernel if the pool is full.
func (p *pool) give(b []byte) {
	select {
	case p.free <- b:
	default:
		_ = unix.Munmap(b) // it fails for memory of the Go heap, which is not mapped
	}
}

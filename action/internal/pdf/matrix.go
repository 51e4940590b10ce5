package pdf

// matrix is a b c d e f of PDF.
type matrix [6]float64

func identity() matrix { return matrix{1, 0, 0, 1, 0, 0} }

// times returns m applied before n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func (d *Document) matrix(v any) (matrix, bool) {
	a, ok := d.resolve(v).(array)
	if !ok || len(a) != 6 {
		return matrix{}, false
	}
	var m matrix
	for i := range m {
		m[i], ok = d.resolve(a[i]).(float64)
		if !ok {
			return m, false
		}
	}
	return m, true
}

func matrixOf(args []any) matrix {
	if len(args) != 6 {
		return identity()
	}
	var m matrix
	for i := range m {
		m[i] = num(args, i)
	}
	return m
}

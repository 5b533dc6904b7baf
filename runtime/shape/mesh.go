package shape

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Mesh is devices in a grid with named axes; the last axis varies fastest.
type Mesh struct {
	Names []string
	Dims  []int
}

// Devices is how many there are.
func (m Mesh) Devices() int { return Size(m.Dims) }

// String is dp=2,tp=4, which ParseMesh reads.
func (m Mesh) String() string {
	s := make([]string, len(m.Dims))
	for i, n := range m.Names {
		s[i] = n + "=" + strconv.Itoa(m.Dims[i])
	}
	return strings.Join(s, ",")
}

// A MeshError says that a grid of devices, or what is put on it, cannot be.
type MeshError struct{ Why string }

// Error gives the reason.
func (e *MeshError) Error() string { return "mesh: " + e.Why }

// MaxDevices bounds a mesh: a placement lists every device.
const MaxDevices = 1 << 20

// NewMesh makes a mesh; axes without a name are called x, y, z, …. The error is *MeshError.
func NewMesh(dims []int, names ...string) (Mesh, error) {
	m := Mesh{Dims: slices.Clone(dims), Names: slices.Clone(names)}
	if len(dims) == 0 || len(names) > len(dims) {
		return m, &MeshError{fmt.Sprintf("%d axes and %d names", len(dims), len(names))}
	}
	for i := len(names); i < len(dims); i++ {
		m.Names = append(m.Names, string(rune('x'+i%3))+strings.Repeat("_", i/3))
	}
	devices := 1
	for i, n := range m.Names {
		switch {
		case dims[i] < 1:
			return m, &MeshError{fmt.Sprintf("axis %s has size %d", n, dims[i])}
		case n == "" || strings.ContainsAny(n, "=, "):
			return m, &MeshError{fmt.Sprintf("%q is no name of an axis", n)}
		case slices.Index(m.Names, n) < i:
			return m, &MeshError{fmt.Sprintf("two axes are named %s", n)}
		case dims[i] > MaxDevices/devices:
			return m, &MeshError{fmt.Sprintf("more than %d devices", MaxDevices)}
		}
		devices *= dims[i]
	}
	return m, nil
}

// ParseMesh reads what String wrote.
func ParseMesh(s string) (Mesh, error) {
	var m Mesh
	for _, part := range strings.Split(s, ",") {
		name, size, ok := strings.Cut(part, "=")
		n, err := strconv.Atoi(size)
		if !ok || err != nil {
			return m, &MeshError{fmt.Sprintf("%q is no mesh", s)}
		}
		m.Names, m.Dims = append(m.Names, name), append(m.Dims, n)
	}
	return NewMesh(m.Dims, m.Names...)
}

// A Placement is what one axis of a mesh does with a tensor: it cuts the
// tensor's axis of this number, or holds a copy everywhere.
type Placement int

// The placements that cut nothing.
const (
	Replicated Placement = -1 // a copy everywhere
	PartialSum Placement = -2 // a part of a sum everywhere: what a tensor is made of, never where it is
)

// String is PyTorch's short form: S(0), R or P.
func (p Placement) String() string {
	switch p {
	case Replicated:
		return "R"
	case PartialSum:
		return "P"
	}
	return "S(" + strconv.Itoa(int(p)) + ")"
}

// ParsePlacements reads S(0),R.
func ParsePlacements(s string) ([]Placement, error) {
	var all []Placement
	for _, part := range strings.Split(s, ",") {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(part, "S("), ")"))
		switch {
		case part == "R":
			all = append(all, Replicated)
		case part == "P":
			return nil, &MeshError{"a sum in parts is no place of a tensor"}
		case err == nil && n >= 0:
			all = append(all, Placement(n))
		default:
			return nil, &MeshError{fmt.Sprintf("%q is no placement", part)}
		}
	}
	return all, nil
}

// A Sharding says which part of a tensor each device holds: the tensor is cut
// into a grid of equal tiles, and each tile is held by as many devices. When an
// axis does not divide, the last tiles reach over its end or lie behind it, as
// those of XLA do; what is there is nobody's.
type Sharding struct {
	Tiles   []int // along each axis of the tensor
	Devices []int // the holders of the first tile in row-major order, then of the next, …
}

// Place cuts a tensor of the given dimensions over a mesh, a placement for each
// axis of it. The error is *MeshError.
func (m Mesh) Place(dims []int, ps []Placement) (*Sharding, error) {
	if len(ps) != len(m.Dims) {
		return nil, &MeshError{fmt.Sprintf("%d placements for a mesh of %d axes", len(ps), len(m.Dims))}
	}
	s := &Sharding{Tiles: make([]int, len(dims))}
	for i := range s.Tiles {
		s.Tiles[i] = 1
	}
	for a, p := range ps {
		if int(p) >= len(dims) {
			return nil, &MeshError{fmt.Sprintf("%v of a tensor of rank %d", p, len(dims))}
		}
		if p >= 0 {
			s.Tiles[p] *= m.Dims[a]
		}
	}
	holders := make([][]int, Size(s.Tiles))
	at := make([]int, len(m.Dims))
	for d := range m.Devices() {
		for rest, a := d, len(at)-1; a >= 0; a-- {
			at[a], rest = rest%m.Dims[a], rest/m.Dims[a]
		}
		tile := make([]int, len(dims))
		for a, p := range ps {
			if p >= 0 {
				tile[p] = tile[p]*m.Dims[a] + at[a]
			}
		}
		k := 0
		for i, t := range s.Tiles {
			k = k*t + tile[i]
		}
		holders[k] = append(holders[k], d)
	}
	s.Devices = slices.Concat(holders...)
	return s, nil
}

// Placements is the reverse of Place; no when the mesh cannot say it.
func (m Mesh) Placements(dims []int, s *Sharding) ([]Placement, bool) {
	ps := make([]Placement, len(m.Dims))
	stride := m.Devices()
	first := s.TileOf(0)
	for a, n := range m.Dims {
		stride /= n
		ps[a] = Replicated
		if n == 1 {
			continue
		}
		for i, t := range s.TileOf(stride) { // the next device along the axis
			if t != first[i] {
				ps[a] = Placement(i)
			}
		}
	}
	got, err := m.Place(dims, ps)
	return ps, err == nil && slices.Equal(got.Tiles, s.Tiles) && slices.Equal(got.Devices, s.Devices)
}

// Whole says whether every device holds all of the tensor.
func (s *Sharding) Whole() bool { return Size(s.Tiles) == 1 }

// Equal compares.
func (s *Sharding) Equal(o *Sharding) bool {
	return slices.Equal(s.Tiles, o.Tiles) && slices.Equal(s.Devices, o.Devices)
}

// Part gives the dimensions of a tile: the last ones may reach over the end.
func (s *Sharding) Part(dims []int) []int {
	part := make([]int, len(dims))
	for i, d := range dims {
		part[i] = (d + s.Tiles[i] - 1) / s.Tiles[i]
	}
	return part
}

// TileOf gives the position of the tile that a device holds.
func (s *Sharding) TileOf(device int) []int {
	k := slices.Index(s.Devices, device) * Size(s.Tiles) / max(len(s.Devices), 1)
	at := make([]int, len(s.Tiles))
	for i := len(at) - 1; i >= 0; i-- {
		at[i], k = k%s.Tiles[i], k/s.Tiles[i]
	}
	return at
}

// String is XLA's text: {devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}.
func (s *Sharding) String() string {
	if s.Whole() {
		return "{replicated}"
	}
	dims, end := slices.Clone(s.Tiles), "}"
	if copies := len(s.Devices) / Size(s.Tiles); copies > 1 {
		dims, end = append(dims, copies), " last_tile_dim_replicate}"
	}
	return "{devices=[" + comma(dims) + "]" + comma(s.Devices) + end
}

func comma(xs []int) string {
	s := make([]string, len(xs))
	for i, x := range xs {
		s[i] = strconv.Itoa(x)
	}
	return strings.Join(s, ",")
}

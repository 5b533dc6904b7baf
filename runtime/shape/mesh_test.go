package shape

import (
	"slices"
	"testing"
)

func TestPlace(t *testing.T) {
	mesh, err := NewMesh([]int{2, 2}, "dp", "tp")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		placements string
		text       string
		part       []int
		tile       []int // of device 2
	}{
		{"R,R", "{replicated}", []int{4, 6}, []int{0, 0}},
		{"S(0),R", "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}", []int{2, 6}, []int{1, 0}},
		{"R,S(0)", "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", []int{2, 6}, []int{0, 0}},
		{"S(0),S(1)", "{devices=[2,2]0,1,2,3}", []int{2, 3}, []int{1, 0}},
		{"S(0),S(0)", "{devices=[4,1]0,1,2,3}", []int{1, 6}, []int{2, 0}},
		{"S(1),S(1)", "{devices=[1,4]0,1,2,3}", []int{4, 2}, []int{0, 2}},
	} {
		ps, err := ParsePlacements(tt.placements)
		if err != nil {
			t.Fatal(err)
		}
		s, err := mesh.Place([]int{4, 6}, ps)
		if err != nil {
			t.Fatal(err)
		}
		if s.String() != tt.text || !slices.Equal(s.Part([]int{4, 6}), tt.part) || !slices.Equal(s.TileOf(2), tt.tile) {
			t.Errorf("%s: %v, part %v, device 2 holds %v", tt.placements, s, s.Part([]int{4, 6}), s.TileOf(2))
		}
		if back, ok := mesh.Placements([]int{4, 6}, s); !ok || !slices.Equal(back, ps) {
			t.Errorf("%s: came back as %v", tt.placements, back)
		}
	}
	for _, bad := range []string{"S(0)", "S(2),R"} {
		ps, err := ParsePlacements(bad)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := mesh.Place([]int{4, 6}, ps); err == nil {
			t.Errorf("%s: %v, want an error", bad, s)
		}
	}
}

func TestParseMesh(t *testing.T) {
	for _, s := range []string{"dp=2,tp=4", "x=1"} {
		if m, err := ParseMesh(s); err != nil || m.String() != s {
			t.Errorf("%s: %v, %v", s, m, err)
		}
	}
	for _, s := range []string{"", "x", "x=0", "x=2,x=2", "x=two", "a b=2"} {
		if m, err := ParseMesh(s); err == nil {
			t.Errorf("%q: %v, want an error", s, m)
		}
	}
}

func TestMeshErrors(t *testing.T) {
	for _, tt := range []struct {
		dims  []int
		names []string
		want  string // "" when it is a mesh
	}{
		{[]int{1 << 10, 1 << 10}, nil, ""},
		{nil, nil, "mesh: 0 axes and 0 names"},
		{[]int{2, 0}, nil, "mesh: axis y has size 0"},
		{[]int{2, 2}, []string{"a", "a"}, "mesh: two axes are named a"},
		{[]int{2, 2}, []string{"a b"}, `mesh: "a b" is no name of an axis`},
		{[]int{1 << 10, 1 << 11}, nil, "mesh: more than 1048576 devices"},
		{[]int{1 << 32, 1 << 32}, nil, "mesh: more than 1048576 devices"},
	} {
		got := ""
		if _, err := NewMesh(tt.dims, tt.names...); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%v %q: %q, want %q", tt.dims, tt.names, got, tt.want)
		}
	}
}

package capi

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"unsafe"
)

// TestSizes compares the structures with the sizes that a C compiler gives
// those of pjrt_c_api.h on a 64-bit machine.
func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  uintptr
		want uintptr
	}{
		{"PJRT_NamedValue", unsafe.Sizeof(namedValue{}), 56},
		{"PJRT_Client_Create_Args", unsafe.Sizeof(clientCreateArgs{}), 88},
		{"PJRT_Program", unsafe.Sizeof(programArgs{}), 48},
		{"PJRT_Client_Compile_Args", unsafe.Sizeof(compileArgs{}), 56},
		{"PJRT_Client_BufferFromHostBuffer_Args", unsafe.Sizeof(fromHostArgs{}), 120},
		{"PJRT_Buffer_ToHostBuffer_Args", unsafe.Sizeof(toHostArgs{}), 56},
		{"PJRT_Buffer_MemoryLayout_Tiled", unsafe.Sizeof(tiledLayout{}), 56},
		{"PJRT_ExecuteOptions", unsafe.Sizeof(executeOptions{}), 120},
		{"PJRT_LoadedExecutable_Execute_Args", unsafe.Sizeof(executeArgs{}), 80},
		{"PJRT_Executable_Serialize_Args", unsafe.Sizeof(serializeArgs{}), 56},
		{"PJRT_Executable_DeserializeAndLoad_Args", unsafe.Sizeof(deserializeArgs{}), 64},
		{"PJRT_Executable_GetCompiledMemoryStats_Args", unsafe.Sizeof(compiledMemoryArgs{}), 144},
		{"PJRT_Executable_GetCostAnalysis_Args", unsafe.Sizeof(inSpanRevArgs{}), 40},
		{"PJRT_Executable_OutputDimensions_Args", unsafe.Sizeof(in2SpanArgs{}), 48},
		{"PJRT_Error_GetCode_Args", unsafe.Sizeof(wordArgs{}), 32},
		{"PJRT_Error_Message_Args", unsafe.Sizeof(inSpanArgs{}), 40},
		{"of the TPU executable extension, bytes to bytes", unsafe.Sizeof(tpuBytesArgs{}), 56},
		{"of the TPU executable extension, cost analysis", unsafe.Sizeof(tpuCostArgs{}), 80},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %d bytes, want %d", tt.name, tt.got, tt.want)
		}
	}
}

// TestOptions compares the bytes with those XLA was given when they were found.
func TestOptions(t *testing.T) {
	const ordinal = "08 ff ff ff ff ff ff ff ff ff 01"
	for _, tt := range []struct {
		o    CompileOptions
		want string
	}{
		{CompileOptions{}, "1a 0f " + ordinal + " 20 01 28 01"},
		{CompileOptions{Replicas: 2}, "1a 20 " + ordinal + " 20 02 28 01 30 01 98 01 01 4a 0a 08 02 10 01 1a 04 0a 02 00 01"},
		{CompileOptions{Partitions: 2}, "1a 24 " + ordinal + " 20 01 28 02 30 01 98 01 01 4a 0e 08 01 10 02 1a 03 0a 01 00 1a 03 0a 01 01"},
		{CompileOptions{Flags: map[string]any{"a": true}}, "1a 0f " + ordinal + " 20 01 28 01 3a 07 0a 01 61 12 02 10 01"},
	} {
		if got := fmt.Sprintf("% x", tt.o.Encode()); got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.o, got, tt.want)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, path := range []string{"/no/such/library.so", os.Args[0]} {
		var le *LoadError
		if _, err := Load(path); !errors.As(err, &le) {
			t.Errorf("%s: got %v, want a LoadError", path, err)
		}
	}
}

func TestTypes(t *testing.T) {
	for i := range types {
		if types[i].hostBytes == 0 {
			continue
		}
		if got, err := ParseType(types[i].name); err != nil || got != Type(i) {
			t.Errorf("%s: %v %v", types[i].name, got, err)
		}
	}
	var te *TypeError
	if _, err := ParseType("token"); !errors.As(err, &te) {
		t.Errorf("token: %v", err)
	}
	if Type(99).HostBytes() != 0 || Type(-1).String() == "" {
		t.Error("a type out of range")
	}
}

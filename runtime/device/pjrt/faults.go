package pjrt

// What is a fault of the device, and not of the program.

// DeviceFault implements device.Fault.
func (*LostError) DeviceFault() {}

// DeviceFault implements device.Fault.
func (*CompileError) DeviceFault() {}

// DeviceFault implements device.Fault.
func (*NoDeviceError) DeviceFault() {}

// DeviceFault implements device.Fault.
func (*MeshSizeError) DeviceFault() {}

// DeviceFault implements device.Fault.
func (*MixedMeshError) DeviceFault() {}

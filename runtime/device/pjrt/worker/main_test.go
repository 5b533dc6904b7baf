package worker_test

import (
	"testing"

	"github.com/tpush/tpush/runtime/device/pjrt/plugintest"
)

// TestMain is the plug-in process too.
func TestMain(m *testing.M) { plugintest.Main(m) }

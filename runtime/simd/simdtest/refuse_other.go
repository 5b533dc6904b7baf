//go:build !linux

package simdtest

import "testing"

func canRefuse() bool { return false }

func refuse(*testing.T) {}

package dap

import (
	"fmt"

	"github.com/google/go-dap"

	"github.com/tpush/tpush/repl/kernel"
)

// capabilities are what initialize promises.
var capabilities = dap.Capabilities{
	SupportsConfigurationDoneRequest:  true,
	SupportsFunctionBreakpoints:       true,
	SupportsConditionalBreakpoints:    true,
	SupportsHitConditionalBreakpoints: true,
	SupportsLogPoints:                 true,
	SupportsDataBreakpoints:           true,
	SupportsEvaluateForHovers:         true,
	SupportsSetVariable:               true,
	SupportsSetExpression:             true,
	SupportsStepBack:                  true,
	SupportsCompletionsRequest:        true,
	CompletionTriggerCharacters:       []string{".", ":"},
	SupportsExceptionInfoRequest:      true,
	SupportsDelayedStackTraceLoading:  true,
	SupportsLoadedSourcesRequest:      true,
	SupportsTerminateRequest:          true,
	SupportsRestartRequest:            true,
	SupportsCancelRequest:             true,
	SupportTerminateDebuggee:          true,
	ExceptionBreakpointFilters: []dap.ExceptionBreakpointsFilter{
		{Filter: "all", Label: "All errors", Description: "every error that ends a cell"},
		{Filter: "panic", Label: "Panics", Description: "a panic of the program", Default: true},
		{Filter: "bounds", Label: "Bounds", Description: "an index outside its tensor", Default: true},
		{Filter: "oom", Label: "Out of memory", Description: "HBM or host memory is full", Default: true},
		{Filter: "nan", Label: "NaN and Inf", Description: "an operation makes NaN or Inf of finite operands"},
	},
}

// outText is how a shown value reads in the console.
func outText(c kernel.ResultContent) string {
	return fmt.Sprintf("Out[%d] %s\n", c.ExecutionCount, c.Data["text/plain"])
}

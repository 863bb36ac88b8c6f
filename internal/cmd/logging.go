package cmd

import (
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// logging are the flags for logs.
type logging struct {
	format string
	level  string
}

func (l *logging) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&l.format, "log-format", "json", "log format: json or console")
	flags.StringVar(&l.level, "log-level", "info", "minimum severity of log messages: debug, info or error")
}

// setUp configures all loggers of the process.
func (l *logging) setUp() (logr.Logger, error) {
	level, err := zapcore.ParseLevel(l.level)
	if err != nil || !slices.Contains([]string{"debug", "info", "error"}, l.level) {
		return logr.Logger{}, fmt.Errorf("--log-level=%s: must be debug, info or error", l.level)
	}
	encoder, found := map[string]zap.Opts{"json": zap.JSONEncoder(), "console": zap.ConsoleEncoder()}[l.format]
	if !found {
		return logr.Logger{}, fmt.Errorf("--log-format=%s: must be json or console", l.format)
	}
	logger := zap.New(zap.Level(level), zap.StacktraceLevel(zapcore.PanicLevel), encoder,
		func(o *zap.Options) { o.TimeEncoder = zapcore.RFC3339NanoTimeEncoder })
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	return logger, nil
}

package cmd

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"github.com/spf13/pflag"
	uberzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
)

// logging contains the flags for logging.
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
	var encoder zapcore.Encoder
	switch l.format {
	case "json":
		encoder = zapcore.NewJSONEncoder(readable(uberzap.NewProductionEncoderConfig()))
	case "console":
		encoder = zapcore.NewConsoleEncoder(readable(uberzap.NewDevelopmentEncoderConfig()))
	default:
		return logr.Logger{}, fmt.Errorf("--log-format=%s: must be json or console", l.format)
	}
	logger := newLogger(encoder, zapcore.Lock(os.Stderr), level)
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	return logger, nil
}

// readable makes an encoder write times in the format of Kubernetes.
func readable(config zapcore.EncoderConfig) zapcore.EncoderConfig {
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	return config
}

func newLogger(encoder zapcore.Encoder, to zapcore.WriteSyncer, level zapcore.Level) logr.Logger {
	all := zapcore.NewCore(&zap.KubeAwareEncoder{Encoder: encoder}, to, level)
	core := &core{Core: all, sampled: zapcore.NewSamplerWithOptions(all, time.Second, 100, 100)}
	return zapr.NewLogger(uberzap.New(core, uberzap.AddStacktrace(zapcore.PanicLevel), uberzap.ErrorOutput(to)))
}

// core samples repeated messages, so that a flood of requests does not fill the disk. All writes by authenticated callers
// are logged, because they record who changed what.
type core struct {
	zapcore.Core
	sampled zapcore.Core
}

// With implements zapcore.Core.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	return &core{Core: c.Core.With(fields), sampled: c.sampled.With(fields)}
}

// Check implements zapcore.Core.
func (c *core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Message == middleware.WriteLogged {
		return c.Core.Check(entry, checked)
	}
	// controller-runtime logs this message for each watched kind.
	if entry.Message == "Starting EventSource" {
		entry.Level = zapcore.DebugLevel
	}
	if !c.Enabled(entry.Level) {
		return checked
	}
	return c.sampled.Check(entry, checked)
}

// Package cmd holds the subcommands of darkroom-operator.
package cmd

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	uberzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// Main runs the command that the arguments name until it ends or a signal asks
// it to, and returns its exit code.
func Main() int {
	ctx := ctrl.SetupSignalHandler()
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return 0
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "darkroom-operator",
		Short:         "Runs Darkroom image proxies on Kubernetes",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		PersistentPreRunE: func(command *cobra.Command, _ []string) error {
			return setFromEnvironment(command.Flags())
		},
	}
	root.SetContext(context.Background())
	root.AddCommand(newManager(), newTemplate(), newSign(), newAPIServer())
	for _, command := range root.Commands() {
		nameEnvironment(command.Flags())
	}
	return root
}

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
	encoder, found := map[string]zap.Opts{"json": zap.JSONEncoder(readableTime), "console": zap.ConsoleEncoder(readableTime)}[l.format]
	if !found {
		return logr.Logger{}, fmt.Errorf("--log-format=%s: must be json or console", l.format)
	}
	logger := zap.New(zap.Level(level), zap.StacktraceLevel(zapcore.PanicLevel), encoder, zap.RawZapOpts(uberzap.WrapCore(quieter)))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	return logger, nil
}

// readableTime encodes times as Kubernetes does.
func readableTime(config *zapcore.EncoderConfig) { config.EncodeTime = zapcore.RFC3339NanoTimeEncoder }

// quieter logs at the level debug what controller-runtime repeats for each kind that is watched.
func quieter(core zapcore.Core) zapcore.Core { return &quietCore{core} }

type quietCore struct{ zapcore.Core }

// With implements zapcore.Core.
func (c *quietCore) With(fields []zapcore.Field) zapcore.Core { return &quietCore{c.Core.With(fields)} }

// Check implements zapcore.Core.
func (c *quietCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Message == "Starting EventSource" {
		entry.Level = zapcore.DebugLevel
	}
	if !c.Enabled(entry.Level) {
		return checked
	}
	return c.Core.Check(entry, checked)
}

// buildVersion is set by the linker (-X) in releases.
var buildVersion string

// version returns the version of this build: the one set by the linker, or else the module
// version that Go recorded, which names the commit.
func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}

package cmd

import (
	"bytes"
	"strings"
	"testing"

	uberzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
)

func TestWritesAreLoggedInAFlood(t *testing.T) {
	var written bytes.Buffer
	log := newLogger(zapcore.NewJSONEncoder(uberzap.NewProductionEncoderConfig()), zapcore.AddSync(&written),
		zapcore.InfoLevel).WithName("api")
	const flood = 2000
	for range flood {
		log.Info("Request", "status", 401)
		log.Info(middleware.WriteLogged, "user", "ada")
	}
	if got := strings.Count(written.String(), `"user":"ada"`); got != flood {
		t.Errorf("%d of %d writes are logged", got, flood)
	}
	// The sampler passes the first messages of each second, and then only a fraction.
	if got := strings.Count(written.String(), `"status":401`); got == 0 || got > flood/2 {
		t.Errorf("%d of %d other requests are logged", got, flood)
	}
}

// Package config reads the environment. Variables of the source have the same names as in Darkroom (SOURCE_…,
// DEFAULTPARAMS, CACHE_TIME, LOG_LEVEL), so that both can share a ConfigMap. Variables of the gate begin with GATE_.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/pipeline"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/signing"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// Config is the configuration of a gate.
type Config struct {
	// Address serves clients, Inner serves Darkroom, and Metrics serves health checks and metrics.
	Address, Inner, Metrics string
	Darkroom                *url.URL
	// Sources configure the source and the additional sources. Options.Source is not set.
	Sources []source.Config
	pipeline.Options
	// Signing.File is empty if URLs are not signed. Its functions are nil.
	Signing signing.Options
	// CacheTTL is the max-age of responses.
	CacheTTL time.Duration
	// CacheDisk is the capacity of CacheFolder, in bytes.
	CacheDisk int64
	// CacheFolder is the directory of the disk cache; empty disables it.
	CacheFolder             string
	ServerTiming, AccessLog bool
	CrossOrigin             bool
	LogLevel                slog.Level
}

// Read returns the configuration, or an error that names every invalid variable.
func Read(getenv func(string) string) (Config, error) {
	e := &environment{getenv: getenv}
	c := Config{
		Address:  e.text("GATE_ADDRESS", ":3000"),
		Inner:    e.text("GATE_INNER_ADDRESS", "127.0.0.1:3002"),
		Metrics:  e.text("GATE_METRICS_ADDRESS", ":3003"),
		Darkroom: parse(e, "GATE_DARKROOM_URL", "http://127.0.0.1:3001", base),
		Sources:  readSources(e),
		Options: pipeline.Options{
			Rules: request.Rules{
				MaxWidth:    int(e.integer("GATE_MAX_WIDTH", 4096, 1)),
				MaxHeight:   int(e.integer("GATE_MAX_HEIGHT", 4096, 1)),
				Parameters:  e.list("GATE_PARAMETERS", request.Parameters),
				Defaults:    e.pairs("DEFAULTPARAMS"),
				Presets:     e.presets("GATE_PRESETS"),
				OnlyPresets: e.boolean("GATE_ONLY_PRESETS", false),
			},
			MaxSourcePixels: e.integer("GATE_MAX_SOURCE_PIXELS", 50_000_000, 1),
			MaxSourceBytes:  e.integer("GATE_MAX_SOURCE_BYTES", 64<<20, 1),
			Revalidate:      e.seconds("GATE_REVALIDATE_SECONDS", 300),
			StaleIfError:    e.seconds("GATE_STALE_IF_ERROR_SECONDS", 86400),
			OnlyDarkroom:    e.choice("GATE_RESIZER", "Gate", "Darkroom") == "Darkroom",
			Memory:          e.integer("GATE_MEMORY_LIMIT", 512<<20, 1),
			DarkroomMemory:  e.integer("GATE_DARKROOM_MEMORY_LIMIT", 2<<30, 1),
		},
		Signing: signing.Options{
			File:   e.text("GATE_SIGNING_KEYS_FILE", ""),
			Mode:   e.choice("GATE_SIGNING_MODE", signing.Require, signing.Report),
			Scheme: e.choice("GATE_SIGNING_SCHEME", signing.SHA256, signing.Imgix),
			Public: e.text("GATE_PUBLIC_REQUEST", ""),
		},
		CacheTTL:     e.seconds("CACHE_TIME", 31536000),
		CacheFolder:  e.text("GATE_CACHE_FOLDER", ""),
		CacheDisk:    e.integer("GATE_CACHE_DISK_BYTES", 1<<30, 1),
		ServerTiming: e.boolean("GATE_SERVER_TIMING", true),
		CrossOrigin:  e.boolean("GATE_CROSS_ORIGIN", true),
		AccessLog:    e.boolean("GATE_ACCESS_LOG", false),
		LogLevel:     parse(e, "LOG_LEVEL", "info", level),
	}
	if err := c.Rules.Validate(c.Rules.Defaults); err != nil {
		e.fail("DEFAULTPARAMS", err.Error())
	}
	for name, parameters := range c.Rules.Presets {
		if err := c.Rules.Validate(parameters); err != nil {
			e.fail("GATE_PRESETS", fmt.Sprintf("preset %q: %v", name, err))
		}
	}
	return c, errors.Join(e.errors...)
}

// readSources reads the source and the additional sources. Names of their variables have a number after SOURCE.
func readSources(e *environment) []source.Config {
	sources := []source.Config{readSource(e, "SOURCE_")}
	sources[0].WorkloadIdentity = e.boolean("GATE_WORKLOAD_IDENTITY", false)
	for i, name := range e.names("GATE_ADDITIONAL_SOURCES") {
		variable := fmt.Sprintf("SOURCE_%d_", i+1)
		c := readSource(e, variable)
		c.Name = name
		c.Path, c.StripPath = e.text("GATE_"+variable+"PATH", ""), e.boolean("GATE_"+variable+"STRIP_PATH", false)
		c.Fallback = e.boolean("GATE_"+variable+"FALLBACK", false)
		c.WorkloadIdentity = e.boolean("GATE_"+variable+"WORKLOAD_IDENTITY", false)
		sources = append(sources, c)
	}
	gate := source.GateOf(sources)
	for i := range sources {
		sources[i].Gate = gate
	}
	return sources
}

// readSource reads the source whose variables begin with a prefix.
func readSource(e *environment, prefix string) source.Config {
	c := source.Config{
		Variables:       prefix,
		Kind:            strings.ToLower(e.text(prefix+"KIND", "webfolder")),
		BaseURL:         e.text(prefix+"BASEURL", ""),
		Bucket:          e.text(prefix+"BUCKET_NAME", ""),
		Region:          e.text(prefix+"BUCKET_REGION", ""),
		Endpoint:        e.text(prefix+"BUCKET_ENDPOINT", ""),
		PathPrefix:      e.text(prefix+"PATHPREFIX", ""),
		AccessKey:       e.text(prefix+"BUCKET_ACCESSKEY", ""),
		SecretKey:       e.text(prefix+"BUCKET_SECRETKEY", ""),
		CredentialsJSON: e.text(prefix+"BUCKET_CREDENTIALSJSON", ""),
		Authorities:     parse(e, "GATE_"+prefix+"CA_FILE", "", authorities),
	}
	if host := e.text(prefix+"HOST", ""); c.Kind == "cloudfront" && host != "" {
		c.BaseURL = map[bool]string{false: "http://", true: "https://"}[e.boolean(prefix+"SECUREPROTOCOL", false)] + host
	}
	return c
}

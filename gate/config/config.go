// Package config reads the environment. The source has the variables that Darkroom reads
// (SOURCE_…, DEFAULTPARAMS, CACHE_TIME, LOG_LEVEL), so that both can share a ConfigMap; those
// of the gate begin with GATE_.
package config

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// Config is the configuration of a gate.
type Config struct {
	// Address is that of the public face, Inner that of the face for Darkroom, and Metrics
	// that of health and metrics.
	Address, Inner, Metrics string
	// Darkroom is the URL of Darkroom.
	Darkroom *url.URL
	Source   source.Source
	Rules    request.Rules
	// MaxSourcePixels and MaxSourceBytes bound originals.
	MaxSourcePixels, MaxSourceBytes int64
	// CacheTTL is the max-age of images; Revalidate and StaleIfError are ages of entries.
	CacheTTL, Revalidate, StaleIfError time.Duration
	// Memory is the memory limit of the gate, DarkroomMemory that of Darkroom, in bytes.
	Memory, DarkroomMemory int64
	// CacheMemory bounds results in memory, and CacheDisk those in CacheFolder, in bytes.
	CacheMemory, CacheDisk int64
	// CacheFolder is empty if there is no disk cache.
	CacheFolder string
	ShrinkFirst bool
	AccessLog   bool
	LogLevel    slog.Level
}

// Read returns the configuration, or an error that names every invalid variable.
func Read(lookup func(string) (string, bool)) (Config, error) {
	e := &environment{lookup: lookup}
	c := Config{
		Address:         e.text("GATE_ADDRESS", ":3000"),
		Inner:           e.text("GATE_INNER_ADDRESS", "127.0.0.1:3002"),
		Metrics:         e.text("GATE_METRICS_ADDRESS", ":3003"),
		Darkroom:        e.url("GATE_DARKROOM_URL", "http://127.0.0.1:3001"),
		Rules:           rules(e),
		MaxSourcePixels: e.integer("GATE_MAX_SOURCE_PIXELS", 50_000_000),
		MaxSourceBytes:  e.integer("GATE_MAX_SOURCE_BYTES", 64<<20),
		CacheTTL:        e.seconds("CACHE_TIME", 31536000),
		Revalidate:      e.seconds("GATE_REVALIDATE_SECONDS", 300),
		StaleIfError:    e.seconds("GATE_STALE_IF_ERROR_SECONDS", 86400),
		Memory:          e.integer("GATE_MEMORY_LIMIT", 512<<20),
		DarkroomMemory:  e.integer("GATE_DARKROOM_MEMORY_LIMIT", 2<<30),
		CacheFolder:     e.text("GATE_CACHE_FOLDER", ""),
		CacheDisk:       e.integer("GATE_CACHE_DISK_BYTES", 1<<30),
		ShrinkFirst:     e.boolean("GATE_SHRINK_FIRST", true),
		AccessLog:       e.boolean("GATE_ACCESS_LOG", false),
		LogLevel:        e.level("LOG_LEVEL"),
	}
	c.CacheMemory = e.integer("GATE_CACHE_MEMORY_BYTES", c.Memory/4)
	if c.CacheMemory > c.Memory/2 {
		e.fail("GATE_CACHE_MEMORY_BYTES", "must be at most half of GATE_MEMORY_LIMIT")
	}
	c.Source = readSource(e)
	return c, e.err()
}

func rules(e *environment) request.Rules {
	return request.Rules{
		MaxWidth:    int(e.integer("GATE_MAX_WIDTH", 4096)),
		MaxHeight:   int(e.integer("GATE_MAX_HEIGHT", 4096)),
		Parameters:  e.list("GATE_PARAMETERS", request.Parameters),
		Defaults:    e.pairs("DEFAULTPARAMS"),
		Presets:     e.object("GATE_PRESETS"),
		OnlyPresets: e.boolean("GATE_ONLY_PRESETS", false),
		PathPrefix:  e.text("SOURCE_PATHPREFIX", ""),
	}
}

// readSource knows the names of kinds that Darkroom documents.
func readSource(e *environment) source.Source {
	var made source.Source
	var err error
	kind := e.text("SOURCE_KIND", "webfolder")
	bucket := e.text("SOURCE_BUCKET_NAME", "")
	endpoint := e.text("SOURCE_BUCKET_ENDPOINT", "")
	switch strings.ToLower(kind) {
	case "webfolder":
		made, err = source.NewWebFolder(e.text("SOURCE_BASEURL", ""))
	case "cloudfront":
		made, err = source.NewCloudFront(e.text("SOURCE_HOST", ""), e.boolean("SOURCE_SECUREPROTOCOL", false))
	case "s3":
		made, err = source.NewS3(source.S3{
			Bucket: bucket, Region: e.text("SOURCE_BUCKET_REGION", ""), Endpoint: endpoint,
			AccessKey: e.text("SOURCE_BUCKET_ACCESSKEY", ""), SecretKey: e.text("SOURCE_BUCKET_SECRETKEY", ""),
		})
	case "gcs", "googlecloudstorage":
		made, err = source.NewGCS(source.GCS{
			Bucket: bucket, Endpoint: endpoint, CredentialsJSON: e.text("SOURCE_BUCKET_CREDENTIALSJSON", ""),
		})
	default:
		err = fmt.Errorf("unknown kind %q", kind)
	}
	if err != nil {
		e.fail("SOURCE_KIND", err.Error())
	}
	return made
}

package main

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// config is Darkroom's configuration, as read from its environment variables.
type config struct {
	kind           string // in lower case
	baseURL        string
	pathPrefix     string
	bucket         bucketConfig
	host           string
	secureProtocol bool
	hystrix        hystrixConfig
	// cacheTime is the max-age of served images, in seconds.
	cacheTime     int
	defaultParams map[string]string
	logLevel      string
	metrics       bool
}

type bucketConfig struct {
	name, region, accessKey, secretKey, endpoint string
	// credentialsJSON is a Google service account key; empty means anonymous.
	credentialsJSON string
}

// hystrixConfig contains the settings of requests to the source.
type hystrixConfig struct {
	// timeout of one request. If it is zero, see newLimiter.
	timeout time.Duration
	// maxConcurrent requests; the next one fails.
	maxConcurrent int
	// volume, errorPercent and sleepWindow: see breaker.
	volume, errorPercent int
	sleepWindow          time.Duration
}

// readConfig never fails, like Darkroom's own code: a number that cannot be parsed is zero, and a boolean that cannot
// be parsed is false. Mistakes become visible only when images are requested.
func readConfig(lookup func(string) (string, bool)) config {
	text := func(name string) string { v, _ := lookup(name); return v }
	number := func(name string) int { n, _ := strconv.Atoi(text(name)); return n }
	milliseconds := func(name string) time.Duration { return time.Duration(number(name)) * time.Millisecond }
	on := func(name string) bool { b, _ := strconv.ParseBool(text(name)); return b }
	return config{
		kind:       strings.ToLower(text("SOURCE_KIND")),
		baseURL:    text("SOURCE_BASEURL"),
		pathPrefix: text("SOURCE_PATHPREFIX"),
		bucket: bucketConfig{
			name:            text("SOURCE_BUCKET_NAME"),
			region:          text("SOURCE_BUCKET_REGION"),
			accessKey:       text("SOURCE_BUCKET_ACCESSKEY"),
			secretKey:       text("SOURCE_BUCKET_SECRETKEY"),
			endpoint:        text("SOURCE_BUCKET_ENDPOINT"),
			credentialsJSON: text("SOURCE_BUCKET_CREDENTIALSJSON"),
		},
		host:           text("SOURCE_HOST"),
		secureProtocol: on("SOURCE_SECUREPROTOCOL"),
		hystrix: hystrixConfig{
			// These are the defaults of hystrix.
			timeout:       milliseconds("SOURCE_HYSTRIX_TIMEOUT"),
			maxConcurrent: cmp.Or(number("SOURCE_HYSTRIX_MAXCONCURRENTREQUESTS"), 10),
			volume:        cmp.Or(number("SOURCE_HYSTRIX_REQUESTVOLUMETHRESHOLD"), 20),
			errorPercent:  cmp.Or(number("SOURCE_HYSTRIX_ERRORPERCENTTHRESHOLD"), 50),
			sleepWindow:   cmp.Or(milliseconds("SOURCE_HYSTRIX_SLEEPWINDOW"), 5*time.Second),
		},
		cacheTime:     number("CACHE_TIME"),
		defaultParams: parseDefaultParams(text("DEFAULTPARAMS")),
		logLevel:      text("LOG_LEVEL"),
		metrics:       strings.EqualFold(text("METRICS_SYSTEM"), "prometheus"),
	}
}

// restrictsPaths reports whether SOURCE_PATHPREFIX has an effect, which is only the case for buckets on AWS. A
// WebFolder and Google Cloud Storage ignore it.
func (c config) restrictsPaths() bool {
	return c.pathPrefix != "" && (c.isS3() || c.kind == "cloudfront")
}

func (c config) isS3() bool { return c.kind == "s3" || c.kind == "aws" }

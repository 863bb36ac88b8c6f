package cmd

import (
	"errors"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// baseDomains is the value of --base-domain: a list, of which the last one given counts.
type baseDomains values.Options

// String implements pflag.Value.
func (d *baseDomains) String() string { return strings.Join(d.GetSlice(), ",") }

// Set implements pflag.Value.
func (d *baseDomains) Set(text string) error { return d.Replace(split(text)) }

// Type implements pflag.Value.
func (*baseDomains) Type() string { return "stringSlice" }

// GetSlice implements pflag.SliceValue.
func (d *baseDomains) GetSlice() []string {
	return append([]string{d.BaseDomain}, d.OtherBaseDomains...)
}

// Replace implements pflag.SliceValue.
func (d *baseDomains) Replace(domains []string) error {
	if len(domains) == 0 {
		return errors.New("name at least one domain")
	}
	d.BaseDomain, d.OtherBaseDomains = domains[0], domains[1:]
	return nil
}

// Append implements pflag.SliceValue.
func (d *baseDomains) Append(domain string) error {
	d.OtherBaseDomains = append(d.OtherBaseDomains, domain)
	return nil
}

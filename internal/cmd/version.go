package cmd

import "runtime/debug"

// buildVersion is set by the linker (-X) in releases.
var buildVersion string

// version returns the version of this build: the one set by the linker, or else the module
// version or commit recorded by Go.
func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return "0.0.0-" + setting.Value
		}
	}
	return info.Main.Version
}

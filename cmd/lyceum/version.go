package main

import (
	"fmt"
	"runtime/debug"
)

// release is set when a release is built: -ldflags "-X main.release=1.2.3".
var release string

// version returns the release, or else the version that the build info has.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "development"
	}
	return info.Main.Version
}

type versionCommand struct{}

// Help implements kong's help for the command.
func (versionCommand) Help() string { return "Example: lyceum version" }

// Run prints the version.
func (versionCommand) Run(p *program) error {
	info, _ := debug.ReadBuildInfo()
	goVersion := "unknown"
	if info != nil {
		goVersion = info.GoVersion
	}
	_, err := fmt.Fprintf(p.stdout, "lyceum %s, built with %s\n", version(), goVersion)
	return err
}

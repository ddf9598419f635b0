package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"
)

// showConfigCommand accepts the settings of serve and prints them.
type showConfigCommand struct {
	serveCommand `embed:""`
}

// Help implements kong's help for the command.
func (showConfigCommand) Help() string {
	return "Example: LYCEUM_ADDR=127.0.0.1:9000 lyceum config --config settings.json\n\nSecrets are shown as [set]. " +
		"A settings file is one JSON object with flag names as keys: {\"addr\": \"127.0.0.1:9000\"}."
}

// Run prints the settings with their sources.
func (c *showConfigCommand) Run(p *program) error {
	if err := c.valid(); err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "SETTING\tVALUE\tFROM\tVARIABLE")
	for _, flag := range p.kong.Flags() {
		if flag.Name == "help" || flag.Name == "config" {
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", flag.Name, shownSetting(flag), sourceOf(p, flag), strings.Join(flag.Envs, " "))
	}
	return table.Flush()
}

func shownSetting(flag *kong.Flag) string {
	value := fmt.Sprint(flag.Target.Interface())
	switch {
	case value == "", value == "[]":
		return "-"
	case slices.Contains([]string{"metrics-token", "database-url", "smtp-url", "files-url"}, flag.Name):
		return "[set]"
	}
	return value
}

func sourceOf(p *program, flag *kong.Flag) string {
	for _, step := range p.kong.Path {
		if step.Flag == nil || step.Flag.Name != flag.Name {
			continue
		}
		if step.Resolved {
			return "file"
		}
		return "flag"
	}
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return "environment"
		}
	}
	return "default"
}

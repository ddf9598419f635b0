// Command contract processes the sources in contract/ and the code generated from them.
//
//	contract bundle DIR...  writes DIR.yaml and DIR.json from the files in DIR
//	contract prune ROOT     removes unused declarations from ROOT/internal/gen
//	contract unused ROOT    fails if ROOT/internal/gen has unused types
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) > 1 && args[0] == "bundle":
		for _, dir := range args[1:] {
			if err := write(filepath.Clean(dir)); err != nil {
				return err
			}
		}
		return nil
	case len(args) == 2 && args[0] == "prune":
		return prune(args[1])
	case len(args) == 2 && args[0] == "unused":
		return unused(args[1], os.Stdout)
	}
	return errors.New("usage: contract bundle DIR... | prune ROOT | unused ROOT")
}

// write bundles the files of a directory into one document and writes it in both formats.
func write(dir string) error {
	document, err := bundle(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	text, err := yamlText(dir, document)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	twin, err := jsonText(document)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if err := os.WriteFile(dir+".yaml", text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(dir+".json", twin, 0o644)
}

package main

import (
	"testing"

	"github.com/lyceum-school/lyceum/internal/storage/storetest"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the scripts in testdata/script, each in an empty folder with the whole
// program.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Setup: setUpScript, Cmds: scriptCommands(),
		RequireExplicitExec: true, RequireUniqueNames: true,
	})
}

// TestPostgresScripts runs the scripts in testdata/postgres; DATABASE_URL and OTHER_URL are
// empty databases.
func TestPostgresScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/postgres", Cmds: scriptCommands(),
		RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("DATABASE_URL", storetest.EmptyPostgres(env.T().(testing.TB)))
			env.Setenv("OTHER_URL", storetest.EmptyPostgres(env.T().(testing.TB)))
			return setUpScript(env)
		},
	})
}

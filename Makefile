# Everything a change is held to. CI runs `make check test`.

.PHONY: test check verify lint contract-lint contract-clients bench fuzz histories kills generate fmt build

# The race detector does not watch what only computes, for its own caller: SQLite's
# translated C, the hash of passwords, what reads schemas, and text and compression of
# the standard library. Under it they take three to six times as long. None of these has
# a sync.Map, or atomics but those of a sync.Pool: the linker keeps one copy of those,
# which must be watched.
computing = modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory golang.org/x/crypto/argon2 \
	github.com/getkin/kin-openapi/... bufio bytes compress/... encoding/base64 encoding/csv encoding/hex fmt math/big \
	net/textproto net/url regexp/... sort strconv strings text/template/parse unicode/...
# With -trimpath, another clone of the same sources has nothing to compile. Nobody debugs what
# is compiled here: without DWARF, compiling takes a sixth less.
race = -race -trimpath -gcflags=all=-dwarf=false \
	$(foreach package,$(computing),'-gcflags=$(package)=-race=false -d=checkptr=0 -dwarf=false')

# All tests, under the race detector, on SQLite and PostgreSQL, with Chromium.
# Installs what is missing where it can; CI=true fails instead of skipping.
# Tests that run beside each other mostly wait, for programs, disks and
# receivers: hence more packages and tests at a time than processors. Those that take
# longest start first, so that none of them is left alone at the end. A package that takes 7
# minutes on one machine took 24 on another. `make check` vets. CI runs what passed before, too.
longest = ./internal/inbound/console ./cmd/lyceum ./internal/storage/... ./internal/inbound/server \
	./internal/inbound/oauth ./internal/rules/sales ./internal/rules/access ./internal/inbound/demo
test:
	@scripts/prepare
	@scripts/in-memory scripts/with-postgres scripts/with-schema go test $(race) -vet=off $(if $(CI),-count=1) -timeout 40m -p 3 -parallel 6 $(longest) ./...

# What a machine can see in the source. The linters read packages as the tests compile
# them, so that each is compiled once.
check: verify lint contract-lint contract-clients

lint: verify bin/golangci-lint
	@GOFLAGS="$(race)" bin/golangci-lint run ./...

contract-lint contract-clients: verify
	tools/$@/run

# Generated files are what their sources say.
verify:
	@cd tools && go test ./contract && go run ./contract unused ..
	@tools/generate
	@git diff --exit-code -- contract internal/gen || { echo "generated files differ from what is committed: commit them"; exit 1; }

generate:
	@tools/generate

# Requests a second beside a constant answer, at 10,000 to 1,000,000 sales;
# import and write rates. Takes about an hour; see docs/performance.md.
bench:
	@scripts/with-postgres go run ./cmd/lyceum-bench $(BENCH)

# Every fuzz target for a while: make fuzz FUZZTIME=10m
FUZZTIME ?= 20s
fuzz:
	@scripts/fuzz $(FUZZTIME)

# Random histories of what gives access, beside a model: 1,000 on SQLite, 200 on
# PostgreSQL and 200 on two processes that share it.
histories:
	@scripts/histories

# kill -9 of a server 20 times while 2,000 subscriptions lapse, on SQLite and on
# PostgreSQL, compared with a server that was not killed; and while files come.
kills:
	@scripts/kills

fmt: bin/golangci-lint
	bin/golangci-lint fmt

build:
	CGO_ENABLED=0 go build -trimpath -o bin/lyceum ./cmd/lyceum

bin/golangci-lint: tools/go.mod
	cd tools && go build -o ../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

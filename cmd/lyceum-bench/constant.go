package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/lyceum-school/lyceum"
	inbound "github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// constantPath is the path under which the constant server responds with a given number of
// bytes.
const constantPath = "/v1/constant/"

// serveConstant runs the upper limit for comparisons: the real server with one operation, whose
// response is already in memory. It prints its address and key in one line and runs until it is
// told to stop.
func serveConstant(ctx context.Context, lengths []string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	face, err := newConstantFace(lengths)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lyceum-constant-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := sqlstore.Open(ctx, dir, sqlstore.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	school, err := store.CreateSchool(ctx, lyceum.School{Name: "Constant", CreatedAt: time.Now()}, "bench")
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	// Everything that cmd/lyceum gives a server for requests with API keys.
	books := &access.Bookkeeper{
		Store: store, Keys: access.NewKeys(store, time.Now), OAuth: access.NewOAuth(store, time.Now),
		Limiter: access.NewLimiter(0, time.Now), Log: log,
	}
	handler := inbound.Handler(inbound.Options{
		Faces: []wire.Face{face}, Keys: books.Keys, OAuth: books.OAuth, Limiter: books.Limiter,
		Reference: http.NotFoundHandler(), Ready: store.Ping, Metrics: inbound.NewMetrics("bench"), Log: log,
	})
	_, key, err := books.Keys.Create(ctx, lyceum.By{School: school.ID, Actor: "bench"}, "bench", lyceum.Read,
		access.NewEntropy())
	if err != nil {
		return err
	}
	return announceAndServe(ctx, handler, key, books)
}

func announceAndServe(ctx context.Context, handler http.Handler, key string, books *access.Bookkeeper) error {
	listener, err := inbound.Listen(ctx, "--addr", "127.0.0.1:0")
	if err != nil {
		return err
	}
	background, stop := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { books.Run(background) })
	debug.SetGCPercent(400) // like the real server
	fmt.Printf("{\"base_url\":\"http://%s\",\"api_key\":%q}\n", listener.Addr(), key)
	err = inbound.Serve(ctx, listener, handler, nil, books.Log)
	stop()
	keeping.Wait()
	return err
}

// constantFace has one operation, which requires the same of its caller as a list.
type constantFace map[string]constantBody

// constantBody is a prepared response whose tag costs no more than that of a list.
type constantBody []byte

var _ wire.Versioned = constantBody{}

func (constantBody) State() lyceum.Version { return lyceum.Version{Number: 1, At: time.Unix(1, 0)} }

func (c constantBody) AppendJSON(b []byte) ([]byte, error) { return append(b, c...), nil }

// maxConstant is the maximum length of a response, in bytes.
const maxConstant = 1 << 24

// jsonLike are the characters of the responses.
const jsonLike = `abcdefghijklmnopqrstuvwxyz0123456789_-:.,{}[] `

func newConstantFace(lengths []string) (constantFace, error) {
	face := constantFace{}
	chance := rand.New(rand.NewPCG(1, 1))
	for _, length := range lengths {
		n, err := strconv.Atoi(length)
		if err != nil || n < 2 || n > maxConstant {
			return nil, fmt.Errorf("constant takes lengths from 2 to %d bytes, not %q", maxConstant, length)
		}
		text := make([]byte, n)
		for i := range text {
			text[i] = jsonLike[chance.IntN(len(jsonLike))]
		}
		text[0], text[n-1] = '"', '"'
		face[length] = text
	}
	return face, nil
}

func (constantFace) Name() string { return "v1" }

func (f constantFace) Operations() []wire.Operation {
	return []wire.Operation{{
		ID: "constant", Method: http.MethodGet, Path: constantPath + "{bytes}", Needs: lyceum.Read,
		Serve: func(_ context.Context, _ wire.Principal, r *http.Request) (wire.Body, error) {
			body, ok := f[r.PathValue("bytes")]
			if !ok {
				return nil, lyceum.Errorf(lyceum.NotFound, "there is no answer of this length")
			}
			return body, nil
		},
	}}
}

func (constantFace) Failure(e *lyceum.Error, _ string) (status int, body wire.Body) {
	return http.StatusInternalServerError, wire.JSON{Value: map[string]string{"message": e.Detail}}
}

package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
)

// serveConstant is the ceiling: net/http answering /N with N bytes that it has
// ready.
func serveConstant() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	bodies := map[string][]byte{}
	for _, size := range os.Args[2:] {
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 || n > 1<<20 {
			fmt.Fprintln(os.Stderr, "constant takes sizes in bytes")
			os.Exit(1)
		}
		bodies["/"+size] = bytes.Repeat([]byte("x"), n)
	}
	fmt.Printf("{\"base_url\":\"http://%s\"}\n", listener.Addr())
	err = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := bodies[r.URL.Path]
		header := w.Header()
		header["Content-Type"] = []string{"application/json; charset=utf-8"}
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
		_, _ = w.Write(body)
	}))
	fmt.Fprintln(os.Stderr, err)
}

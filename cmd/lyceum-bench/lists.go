package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

const listsMethod = "" +
	"GET /v1/transactions is compared with GET /v1/constant/{bytes}, which has its bytes ready. That one is a " +
	"process of its own with the same server: connections, routing, API key, permission, no rate limit, ETag, " +
	"metrics and log. Its requests have the headers and the query of the real ones, and its responses their " +
	"lengths. What a list does in addition is to bind its query, find its rows and write them out. Each row is the " +
	"median of %d rounds of %v for each of the two in turn.\n\n" +
	"First, middle and last page are the 16 pages there. A class has 32 requests, half of them oldest first, and " +
	"every total was compared with one counted in memory before. A fresh request is sent once; 32 of them were " +
	"compared."

// measureLists measures every class of requests in schools of each size.
func measureLists(ctx context.Context, s settings) error {
	fmt.Printf("## Lists\n\n"+listsMethod+"\n\n| sales | %s\n", s.rounds, s.duration, contestHead)
	for _, size := range s.sizes {
		if err := measureSize(ctx, s, size); err != nil {
			return fmt.Errorf("%d sales: %w", size, err)
		}
	}
	fmt.Println()
	return nil
}

func measureSize(ctx context.Context, s settings, size int) error {
	dir, err := s.school(ctx, size)
	if err != nil {
		return err
	}
	classes := s.book(size)
	ours, err := s.serve(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { _ = ours.stop() }()
	if _, err := ours.indexed(ctx); err != nil {
		return err
	}
	lengths := make([][]int, len(classes))
	for i := range classes {
		if lengths[i], err = verify(ours, classes[i].requests); err != nil {
			return fmt.Errorf("%s: %w", classes[i].name, err)
		}
	}
	constant, err := startConstant(ctx, slices.Concat(lengths...))
	if err != nil {
		return err
	}
	defer func() { _ = constant.stop() }()
	for i := range classes {
		c := contest{size: size, name: classes[i].name, ours: ours, constant: constant, turn: func() []pair {
			return pairs(ours, constant, classes[i].paths(), lengths[i])
		}}
		if err := c.run(s); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "resident memory of the server at %d sales: %d MB\n",
		size, memory(ours.command.Process.Pid)>>20)
	return nil
}

// verify sends every request once, compares the totals, and returns the lengths of the
// responses.
func verify(s *server, requests []listRequest) (lengths []int, err error) {
	conn, err := dial(s.address)
	if err != nil {
		return nil, err
	}
	defer conn.conn.Close()
	for _, q := range requests {
		status, body, err := conn.do(request(q.path(), s.key), true)
		if err != nil {
			return nil, err
		}
		var response struct {
			Meta struct{ Total int }
		}
		if err := json.Unmarshal(body, &response); err != nil {
			return nil, err
		}
		if status != 200 || response.Meta.Total != q.total {
			return nil, fmt.Errorf("%s: status %d with a total of %d, want %d", q.path(), status, response.Meta.Total, q.total)
		}
		lengths = append(lengths, len(body))
	}
	return lengths, nil
}

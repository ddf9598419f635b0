package sqlstore

import (
	"errors"
	"slices"
	"testing"
)

// TestBehind checks that statements run in order up to the first that fails, and that later
// ones run after someone has waited.
func TestBehind(t *testing.T) {
	t.Parallel()
	var b behind
	if err := b.wait(); err != nil {
		t.Errorf("without statements: %v", err)
	}
	var ran []int
	add := func(n int, err error) {
		b.add(func() error { ran = append(ran, n); return err })
	}
	for n := range 3 * maxQueued {
		add(n, nil)
	}
	if err := b.wait(); err != nil || len(ran) != 3*maxQueued || !slices.IsSorted(ran) {
		t.Errorf("%d ran: %v, %v", 3*maxQueued, ran, err)
	}
	ran = nil
	refused := errors.New("refused")
	add(1, nil)
	add(2, refused)
	add(3, nil)
	var queued *queuedError
	if err := b.wait(); !errors.Is(err, refused) || !errors.As(err, &queued) || !slices.Equal(ran, []int{1, 2}) {
		t.Errorf("after one that was refused: %v, %v", ran, err)
	}
	add(4, nil)
	if err := b.wait(); err != nil || !slices.Equal(ran, []int{1, 2, 4}) {
		t.Errorf("after waiting: %v, %v", ran, err)
	}
}

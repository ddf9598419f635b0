package storetest

import "time"

// Patience is far longer than anything that a test waits for takes, even on a busy machine.
const Patience = time.Minute

// Await calls done until it returns true, and reports whether it did. Tests use it, and nothing
// else, to wait for background work.
func Await(done func() bool) bool {
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if done() {
			return true
		}
	}
	return done()
}

package storetest

import "time"

// Patience is far more than anything takes that a test waits for, also on a
// machine that is busy with something else.
const Patience = time.Minute

// Await asks until the answer is yes, and tells whether it was. What happens in
// the background is waited for with it, and with nothing else.
func Await(done func() bool) bool {
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if done() {
			return true
		}
	}
	return done()
}

package sqlstore

// behind runs statements on one connection, one after the other, while the change that issued
// them continues. Its zero value runs none. Nothing else may use the connection between add
// and wait.
type behind struct {
	statements chan func() error
	failed     chan error
}

// maxQueued is how many statements may wait.
const maxQueued = 8

// add queues a statement that runs after those before it, unless one of them fails.
func (b *behind) add(run func() error) {
	if b.statements == nil {
		b.statements, b.failed = make(chan func() error, maxQueued), make(chan error, 1)
		go b.work(b.statements, b.failed)
	}
	b.statements <- run
}

func (*behind) work(statements <-chan func() error, failed chan<- error) {
	var err error
	for run := range statements {
		if err == nil {
			err = run()
		}
	}
	failed <- err
}

// wait waits for all statements. An error is that of an earlier statement, and not the fault
// of the caller's own.
func (b *behind) wait() error {
	if b.statements == nil {
		return nil
	}
	close(b.statements)
	b.statements = nil
	if err := <-b.failed; err != nil {
		return &queuedError{0, err}
	}
	return nil
}

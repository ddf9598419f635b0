package main

import (
	"fmt"
	"os"
)

// busyRates holds the rates of rounds, and the share of the processors' time that each used.
type busyRates struct{ rates, busy []float64 }

// add runs a round and records its rate.
func (b *busyRates) add(round func() (float64, error)) (rate float64, err error) {
	workedBefore, idleBefore := processors()
	rate, err = round()
	worked, idle := processors()
	worked, idle = worked-workedBefore, idle-idleBefore
	if worked+idle > 0 {
		b.busy = append(b.busy, worked/(worked+idle))
	}
	b.rates = append(b.rates, rate)
	return rate, err
}

// String returns the medians as two cells of a table.
func (b *busyRates) String() string {
	if len(b.busy) == 0 {
		return fmt.Sprintf("%.0f | unknown", median(b.rates))
	}
	return fmt.Sprintf("%.0f | %.0f %%", median(b.rates), median(b.busy)*100)
}

// processors returns how long all processors of the machine have worked and been idle since it
// started, in ticks of the system's clock. Both are 0 where the system is not Linux.
func processors() (worked, idle float64) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	var user, nice, system, unused, waiting, hard, soft, stolen float64
	_, err = fmt.Sscanf(string(text), "cpu %f %f %f %f %f %f %f %f",
		&user, &nice, &system, &unused, &waiting, &hard, &soft, &stolen)
	if err != nil {
		return 0, 0
	}
	return user + nice + system + hard + soft + stolen, unused + waiting
}

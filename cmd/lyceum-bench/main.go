// Command lyceum-bench measures lyceum in comparison with a constant response: requests per
// second for each class of requests, import, durable writes and start-up. The constant response
// goes through the same server, so that the ratio shows the cost of a request itself.
//
// Client and servers share the machine, so only ratios measured in the same run are meaningful;
// each class drives both servers in alternating rounds. Everything talks to 127.0.0.1 and is
// limited in count and time.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/lyceum-school/lyceum"
)

type settings struct {
	sizes       []int
	connections []int
	delays      []int // milliseconds that distant databases add to each round trip, in the part sales
	rounds      int
	duration    time.Duration
	parts       []string
	receipts    bool
	seed        uint64
	users       int             // of the school of the part learning
	work        string          // folder for everything the run creates
	keep        string          // folder for the schools, which may be a different one
	binary      string          // the lyceum that is measured
	books       map[int][]class // by size
	from        string          // the commit of the older lyceum that the part upgrade starts with
	fileSize    int64           // bytes of the file of the part files
	fixtures    string          // folder in which the part upgrade stores its database, for a test
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "constant" {
		if err := serveConstant(context.Background(), os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "lyceum-bench:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "plain" {
		if err := servePlain(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "lyceum-bench:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lyceum-bench:", err)
		os.Exit(1)
	}
}

const usage = `Usage: lyceum-bench [flags]

Examples:
  lyceum-bench -sizes 10000 -connections 1,16,64 -parts lists
  lyceum-bench -sizes 10000000 -parts lists,index -keep /var/tmp/schools
  lyceum-bench -sizes 100000 -parts upgrade
  lyceum-bench -sizes 100000 -parts kept -rounds 3
  lyceum-bench -sizes 10000000 -parts reports -keep /var/tmp/schools
  lyceum-bench -parts sales -connections 16,64 -rounds 7
  lyceum-bench -parts sales -receipts -connections 16
  lyceum-bench -parts sales -connections 16 -delays 1,4,16
  lyceum-bench -parts changes -connections 16,64 -rounds 3
  lyceum-bench -parts files -file-size 20480 -rounds 1

Ten million sales take a while to make: -keep makes them once. They take some
gigabytes there, and the part index as many again while it runs. The part files
takes the size of its file and 6 GB in the folder TMPDIR.

`

func run(ctx context.Context) error {
	s := settings{books: map[int][]class{}}
	sizes := flag.String("sizes", "10000,100000,1000000", "sales in the school, one table for each")
	connections := flag.String("connections", "1,16,64", "connections that ask at once, one row for each")
	delays := flag.String("delays", "1", "`milliseconds` that a proxy adds to each round trip, one row for each")
	flag.IntVar(&s.rounds, "rounds", 5, "alternating rounds; the median counts")
	flag.DurationVar(&s.duration, "duration", time.Second, "time for each class, server and round")
	parts := flag.String("parts", "start,lists,index,import,writes,oauth,learning,journal,turns,memory", "what to measure")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of the school")
	flag.IntVar(&s.users, "users", crowdUsers, "users of the school of the part learning")
	flag.StringVar(&s.keep, "keep", "", "keep the schools in this `folder` and take those that are "+
		"there, of the same -seed")
	flag.StringVar(&s.from, "from", "089ba15", "`commit` of the older lyceum, for the part upgrade")
	flag.StringVar(&s.fixtures, "fixtures", "", "keep the older database of the part upgrade in this `folder`")
	flag.BoolVar(&s.receipts, "receipts", false, "schools of the part sales issue receipts, and payments have references")
	fileSize := flag.Int64("file-size", 1024, "`MiB` of the file of the part files, at most 20480")
	flag.StringVar(&s.binary, "binary", "", "measure this lyceum `file` instead of building one")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	var err error
	if s.sizes, err = numbers(*sizes, 100, 10_000_000); err != nil {
		return fmt.Errorf("-sizes %w", err)
	}
	if s.connections, err = numbers(*connections, 1, 512); err != nil {
		return fmt.Errorf("-connections %w", err)
	}
	if s.delays, err = numbers(*delays, 1, 1000); err != nil {
		return fmt.Errorf("-delays %w", err)
	}
	if s.rounds < 1 || s.rounds > 100 || s.duration > time.Minute {
		return fmt.Errorf("-rounds takes 1 to 100 and -duration at most 1m")
	}
	if s.users < crowdUsers || s.users > 10_000_000 {
		return fmt.Errorf("-users takes %d to 10000000", crowdUsers)
	}
	if s.fileSize = *fileSize << 20; *fileSize < 1 || *fileSize > lyceum.MaxUpload>>20 {
		return fmt.Errorf("-file-size takes 1 to %d", lyceum.MaxUpload>>20)
	}
	s.parts = strings.Split(*parts, ",")
	if s.work, err = os.MkdirTemp("", "lyceum-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.work)
	if s.keep == "" {
		s.keep = s.work
	}
	if s.binary == "" {
		if s.binary, err = build(ctx, s.work); err != nil {
			return err
		}
	}
	fmt.Printf("%s %s/%s, %d processors, %s\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.Join(os.Args[1:], " "))
	measures := map[string]func(context.Context, settings) error{
		"start": measureStart, "lists": measureLists, "index": measureIndex, "import": measureImport,
		"writes": measureWrites, "oauth": measureOAuth, "learning": measureLearning, "journal": measureJournal,
		"turns": measureTurns, "memory": measureMemory, "kept": measureKept, "files": measureFiles, "upgrade": measureUpgrade,
		"bundle": measureBundle, "reports": measureReports, "sales": measureSelling, "listindex": measureListIndex,
		"changes": measureChanges,
	}
	for _, part := range s.parts {
		measure, ok := measures[part]
		if !ok {
			return fmt.Errorf("-parts takes start, lists, index, import, writes, oauth, learning, journal, "+
				"turns, memory, kept, files, upgrade, bundle, reports, sales, changes and listindex, not %q", part)
		}
		if err := measure(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

func numbers(list string, least, most int) ([]int, error) {
	var all []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return nil, fmt.Errorf("takes numbers from %d to %d, separated by commas", least, most)
		}
		all = append(all, n)
	}
	return all, nil
}

package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts requests and holds everything else that the process exports to Prometheus.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// observed has the metrics labels of one operation, and its histogram.
type observed struct {
	seconds prometheus.Observer
	face    string
	id      string
}

// NewMetrics returns a set with only the metrics of the Go runtime, the process and the build.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lyceum_requests_total", Help: "Requests answered, by face, operation and status.",
		}, []string{"face", "operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "lyceum_request_seconds", Help: "Time from a request to its answer.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"face", "operation"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lyceum_build_info", Help: "1, labelled with the version.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.seconds, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Count adds a counter whose value is kept elsewhere.
func (m *Metrics) Count(name, help string, value func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 {
		return float64(value())
	}))
}

// CountLabelled is Count for one value of a label.
func (m *Metrics) CountLabelled(name, help, label, of string, value func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: name, Help: help, ConstLabels: prometheus.Labels{label: of},
	}, func() float64 { return float64(value()) }))
}

// Figure is one number of a state S that is kept elsewhere.
type Figure[S any] struct {
	Name, Help string
	Rises      bool // it is a counter
	Value      func(S) int64
}

// Measure adds the figures of a state. The state is read once per scrape, so that all figures
// are of the same moment.
func Measure[S any](m *Metrics, state func() S, figures []Figure[S]) {
	c := &measured[S]{state: state, figures: figures}
	for _, f := range figures {
		c.about = append(c.about, prometheus.NewDesc(f.Name, f.Help, nil, nil))
	}
	m.registry.MustRegister(c)
}

// measured collects the figures of a state.
type measured[S any] struct {
	state   func() S
	figures []Figure[S]
	about   []*prometheus.Desc // for each figure
}

// Describe implements prometheus.Collector.
func (c *measured[S]) Describe(to chan<- *prometheus.Desc) {
	for _, about := range c.about {
		to <- about
	}
}

// Collect implements prometheus.Collector.
func (c *measured[S]) Collect(to chan<- prometheus.Metric) {
	state := c.state()
	for i, f := range c.figures {
		kind := prometheus.GaugeValue
		if f.Rises {
			kind = prometheus.CounterValue
		}
		to <- prometheus.MustNewConstMetric(c.about[i], kind, float64(f.Value(state)))
	}
}

// Handler serves the metrics in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *Metrics) observe(face, id string) observed {
	return observed{seconds: m.seconds.WithLabelValues(face, id), face: face, id: id}
}

func (m *Metrics) count(x *exchange, took time.Duration) {
	o := observed{face: "none", id: "none"}
	switch {
	case x.op != nil:
		o = x.op.observed
		o.seconds.Observe(took.Seconds())
	case x.route != nil && x.route.face != nil:
		o.face = x.route.face.Name()
	case x.route != nil:
		o.face, o.id = "pages", x.route.pattern
	}
	m.requests.WithLabelValues(o.face, o.id, strconv.Itoa(x.status)).Inc()
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/lyceum-school/lyceum"
	"github.com/lyceum-school/lyceum/contract"
	"github.com/lyceum-school/lyceum/internal/inbound/apilyceum"
	"github.com/lyceum-school/lyceum/internal/inbound/apiv1"
	"github.com/lyceum-school/lyceum/internal/inbound/apiv2"
	"github.com/lyceum-school/lyceum/internal/inbound/console"
	"github.com/lyceum-school/lyceum/internal/inbound/files"
	"github.com/lyceum-school/lyceum/internal/inbound/front"
	"github.com/lyceum-school/lyceum/internal/inbound/oauth"
	"github.com/lyceum-school/lyceum/internal/inbound/reference"
	"github.com/lyceum-school/lyceum/internal/inbound/server"
	"github.com/lyceum-school/lyceum/internal/inbound/web"
	"github.com/lyceum-school/lyceum/internal/inbound/wire"
	"github.com/lyceum-school/lyceum/internal/outbound/mail"
	"github.com/lyceum-school/lyceum/internal/outbound/webhook"
	"github.com/lyceum-school/lyceum/internal/rules/access"
	"github.com/lyceum-school/lyceum/internal/rules/bulk"
	"github.com/lyceum-school/lyceum/internal/rules/clock"
	"github.com/lyceum-school/lyceum/internal/rules/events"
	"github.com/lyceum-school/lyceum/internal/rules/learning"
	"github.com/lyceum-school/lyceum/internal/rules/people"
	"github.com/lyceum-school/lyceum/internal/rules/reports"
	"github.com/lyceum-school/lyceum/internal/rules/sales"
	"github.com/lyceum-school/lyceum/internal/rules/templates"
	"github.com/lyceum-school/lyceum/internal/storage/salesindex"
	"github.com/lyceum-school/lyceum/internal/storage/sqlstore"
)

// serveCommand serves the schools of a database.
type serveCommand struct {
	database           `embed:""`
	mailSettings       `embed:""`
	indexSettings      `embed:""`
	responseSettings   `embed:""`
	connectionSettings `embed:""`
	fileSettings       `embed:""`

	Addr             string `help:"Address to listen on; port 0 picks a free port." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	BaseURL          string `help:"Public URL of this server; needed behind a proxy." placeholder:"https://…"`
	AuthURL          string `help:"Public URL of the sign-in and authorization pages. Default: --base-url." placeholder:"https://…"`
	TLSCert          string `help:"TLS certificate, as a PEM file." placeholder:"FILE"`
	TLSKey           string `help:"TLS key, as a PEM file." placeholder:"FILE"`
	RateLimit        int64  `help:"Requests per minute and school; 0 for no limit." default:"6000"`
	MetricsAddr      string `help:"Serve /metrics on a separate address, without a token." placeholder:"HOST:PORT"`
	MetricsToken     string `help:"Serve /metrics on the main address, protected by this token." placeholder:"TOKEN" xor:"token"`
	MetricsTokenFile string `help:"File with the token." placeholder:"FILE" xor:"token"`
	AccessLog        bool   `help:"Log every request."`
	SecretKeyFile    string `help:"File with the secret keys that sign webhooks: one per line, 32 bytes in hexadecimal, newest first. Default: secret.key in the data folder. All processes of a database need the same keys." placeholder:"FILE"`

	TrustedProxies []string `help:"Networks and addresses of proxies whose forwarding headers are trusted. Default: none." placeholder:"CIDR"`

	WebhookNetworks []netip.Prefix `help:"Internal networks that webhooks may be sent to, such as 10.1.0.0/16. Default: only the internet." placeholder:"CIDR"`
}

// Help implements kong's help for the command.
func (serveCommand) Help() string {
	return `Example: lyceum serve --data /var/lib/lyceum --addr 127.0.0.1:8080 --base-url https://school.example.com

Every flag can be set in the environment (LYCEUM_ADDR) and in a JSON file (--config). SIGTERM stops the server
after requests in progress.`
}

// Run serves until the program is told to stop.
func (c *serveCommand) Run(p *program) (err error) {
	if err := c.valid(); err != nil {
		return err
	}
	proxies, err := server.ParseProxies("--trusted-proxies", c.TrustedProxies)
	if err != nil {
		return err
	}
	secure, err := server.LoadTLS(c.TLSCert, c.TLSKey)
	if err != nil {
		return err
	}
	token := c.MetricsToken
	if c.MetricsTokenFile != "" {
		if token, err = secretFile("--metrics-token-file", c.MetricsTokenFile); err != nil {
			return err
		}
	}
	listener, err := server.Listen(p.ctx, "--addr", c.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	var scraped net.Listener
	if c.MetricsAddr != "" {
		if scraped, err = server.Listen(p.ctx, "--metrics-addr", c.MetricsAddr); err != nil {
			return err
		}
		defer scraped.Close()
	}
	uploads, err := c.store(&c.database)
	if err != nil {
		return err
	}
	release, err := c.lock(c.SecretKeyFile)
	if err != nil {
		return err
	}
	defer release()
	keys, err := secretKeys(c.SecretKeyFile, c.folder())
	if err != nil {
		return err
	}
	send, err := c.sender(p, keys.ring)
	if err != nil {
		return err
	}
	kept, err := c.openWith(p, sqlstore.Options{Log: p.log, Primary: true})
	if err != nil {
		return err
	}
	room := &heapRoom{}
	store := indexed(p, kept, c.memory(), c.snapshots(c.folder()), room)
	defer closing(store, &err)
	schools, err := store.FindSchools(p.ctx)
	if err != nil {
		return err
	}
	base := c.BaseURL
	if base == "" {
		base = addressOf(listener, secure != nil)
	}
	go keys.watch(p.ctx, p.log)
	files, leased := uploads, (*leasedFiles)(nil)
	if uploads != nil && c.folder() == "" {
		leased = leaseFiles(uploads)
		files = leased
	}
	service := newService(p, store, serviceOptions{
		perMinute: c.RateLimit, responses: c.limits(), cache: c.ResponseCache.bytes, room: room, ring: keys.ring,
		sender: webhook.New(webhook.Options{Allow: c.WebhookNetworks}), site: siteOf(base, c.AuthURL), files: files,
		send: send,
	})
	service.folder, service.leased = c.folder(), leased
	measureStorage(service.metrics, kept)
	measureLists(service.metrics, kept)
	connections := c.limit(p, service.metrics, listener)
	pages, err := reference.Handler(reference.Options{Documents: contract.All(), BaseURL: c.BaseURL, Log: p.log})
	if err != nil {
		return err
	}
	handler, err := service.handler(handlerOptions{
		site: siteOf(base, c.AuthURL), metricsToken: token, https: strings.HasPrefix(base, "https://"),
		accessLog: c.AccessLog,
		reference: pages, proxies: proxies,
	})
	if err != nil {
		return err
	}
	store.Resume()
	if len(schools) == 0 {
		p.log.Info("there is no school yet; create one with: lyceum school create --name NAME --owner-email ADDRESS")
	}
	if scraped != nil {
		go serveMetrics(p, scraped, service.metrics)
	}
	if c.BaseURL == "" && everywhere(listener) {
		p.log.Warn("links in emails, pages and answers will begin with an address that works only on this machine; "+
			"set the public URL with --base-url", "address", base)
	}
	logFiles(p, uploads, c.folder() == "")
	p.log.Info("serving", "address", base, "schools", len(schools), "engine", kept.Engine())
	return service.run(p.ctx, func(ctx context.Context) error {
		return server.Serve(ctx, connections, handler, secure, p.log)
	})
}

func (c *serveCommand) valid() error {
	var wrong []lyceum.FieldError
	if c.BaseURL != "" {
		wrong = append(wrong, webAddress("--base-url", c.BaseURL)...)
	}
	switch {
	case c.AuthURL != "":
		wrong = append(wrong, pagesAddress("--auth-url", c.AuthURL)...)
	case len(wrong) == 0 && c.BaseURL != "" && pagesAddress("", c.BaseURL) != nil:
		wrong = append(wrong, lyceum.FieldError{
			Field: "--auth-url", Message: "must be set when --base-url has a path: the pages are at the root of their address",
		})
	}
	if c.RateLimit < 0 {
		wrong = append(wrong, lyceum.FieldError{Field: "--rate-limit", Message: "must be 0 (no limit) or more"})
	}
	wrong = append(append(wrong, c.responseSettings.wrong()...), c.connectionSettings.wrong()...)
	if len(wrong) > 0 {
		return lyceum.InvalidFields(wrong...)
	}
	_, err := server.ParseProxies("--trusted-proxies", c.TrustedProxies)
	return err
}

func serveMetrics(p *program, listener net.Listener, metrics *server.Metrics) {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler())
	if err := server.Serve(p.ctx, listener, mux, nil, p.log); err != nil {
		p.log.Error("metrics are no longer served", "err", err)
	}
}

// addressOf returns the address of a listener for links. If it listens on all addresses of the
// machine, that is one which only works on this machine.
func addressOf(listener net.Listener, secure bool) string {
	address := listener.Addr().String()
	if everywhere(listener) {
		_, port, _ := net.SplitHostPort(address)
		address = net.JoinHostPort("127.0.0.1", port)
	}
	if secure {
		return "https://" + address
	}
	return "http://" + address
}

func everywhere(listener net.Listener) bool {
	at, ok := listener.Addr().(*net.TCPAddr)
	return ok && at.IP.IsUnspecified()
}

// service is what serve and sandbox run: the rules for a store.
type service struct {
	store    lyceum.Store
	keys     *access.Keys
	oauth    *access.OAuth
	accounts *access.Accounts
	apps     *access.Apps
	limiter  *access.Limiter
	failures *access.Failures
	load     *access.Load
	sales    *sales.Service
	learning *learning.Service
	people   *people.Service
	bulk     *bulk.Service
	events   *events.Service
	feed     *events.Feed
	courier  *webhook.Courier
	moves    *clock.Service // only of a sandbox; otherwise nil
	folder   string         // of a SQLite database
	leased   *leasedFiles   // only of a PostgreSQL database; otherwise nil
	turn     sync.RWMutex   // read-locked by background work; locked to pause it
	emails   *templates.Service
	postman  *mail.Courier
	reports  *reports.Service
	cache    *server.Cache
	metrics  *server.Metrics
	log      *slog.Logger
	clock    func() time.Time
}

// serviceOptions are the options of a service. If loopback is true, apps may be registered with
// a Redirect URL that uses http on the local machine.
type serviceOptions struct {
	perMinute int64
	responses access.LoadLimits
	cache     int64 // bytes
	room      *heapRoom
	loopback  bool
	ring      *lyceum.Keyring
	sender    *webhook.Sender
	site      web.Site // as named in what is sent to others
	files     lyceum.FileStore
	send      templates.Send // nil if the server sends no emails
}

// newService creates the rules and their metrics.
func newService(p *program, store *salesindex.Store, o serviceOptions) *service {
	oauth := access.NewOAuth(store, p.clock)
	oauth.Traces.Log = p.log
	metrics := server.NewMetrics(version())
	for _, kind := range access.TraceKinds() {
		metrics.CountLabelled("lyceum_security_events_total", "Suspicious events, by kind.", "kind", kind.String(),
			func() int64 { return oauth.Traces.Count(kind) })
	}
	metrics.Count("lyceum_oauth_reused_challenges_total", "Codes made for a code_challenge that its app had sent before: "+
		"the app does not make a new one each time.", oauth.ReusedChallenges)
	measureIndex(metrics, store)
	o.responses.Resized = o.room.forResponses
	load := access.NewLoad(o.responses)
	measureLoad(metrics, load)
	cache := server.NewCache(store, o.cache, p.clock)
	measureCache(metrics, cache)
	lessons := learning.New(store, p.clock).SignLinks(o.ring, o.site.BaseURL).KeepFiles(o.files)
	users := people.New(store, p.clock)
	feed := events.New(store, p.clock, events.Options{
		Ring: o.ring, CheckURL: o.sender.CheckURL, BaseURL: o.site.BaseURL,
	})
	emails := templates.New(store, p.clock, templates.Options{Ring: o.ring, Log: p.log, Send: o.send, Name: web.Plain})
	failures := access.NewFailures(store, p.clock)
	metrics.Count("lyceum_failed_requests_dropped_total", "Failed requests that are not kept, because there "+
		"were too many.", failures.Dropped)
	keys := access.NewKeys(store, p.clock)
	accounts := access.NewAccounts(store, p.clock, oauth, o.ring)
	accounts.Keys = keys
	return &service{
		store: store, log: p.log, clock: p.clock,
		keys:     keys,
		oauth:    oauth,
		accounts: accounts,
		apps:     access.NewApps(store, p.clock, oauth, o.loopback),
		limiter:  access.NewLimiter(o.perMinute, p.clock).Share(store.Tallies()),
		failures: failures,
		load:     load,
		cache:    cache,
		sales:    sales.New(store, p.clock, lessons, users).Notifying(emails.Notify),
		learning: lessons,
		people:   users,
		bulk:     bulk.New(store, p.clock, lessons, users, access.StillStartsBulk),
		emails:   emails,
		postman: &mail.Courier{
			Emails: emails, Send: o.send, Log: p.log, Changed: func() <-chan struct{} { return store.Changed(0) },
		},
		events:  feed,
		feed:    events.NewFeed(store, feed, p.ctx.Done()),
		reports: &reports.Service{Store: store, Clock: p.clock},
		courier: &webhook.Courier{
			Events: feed, Sender: o.sender, Log: p.log, Traces: oauth.Traces,
			Changed: func() <-chan struct{} { return store.Changed(0) },
		},
		metrics: metrics,
	}
}

// siteOf returns the addresses at which people and programs reach the server.
func siteOf(base, auth string) web.Site {
	base = strings.TrimRight(base, "/")
	if auth = strings.TrimRight(auth, "/"); auth == "" {
		auth = base
	}
	return web.Site{BaseURL: base, AuthURL: auth}
}

type handlerOptions struct {
	site             web.Site
	metricsToken     string
	https, accessLog bool
	proxies          server.Proxies
	local            *server.Local
	reference        http.Handler
}

func (s *service) school(ctx context.Context, id lyceum.SchoolID) (lyceum.School, error) {
	return s.store.In(ctx, id).GetSchool()
}

// leaving returns what must be done to end the access of a person who is erased.
func (s *service) leaving() people.Doors {
	return people.Doors{Left: s.accounts.EndedAccess, Close: s.learning.Close, StillErases: access.StillErases}
}

// doors returns what the rules of people need to admit and remove users.
func (s *service) doors(o handlerOptions) people.Doors {
	letters := &oauth.Notices{Emails: s.emails, Site: o.site}
	d := s.leaving()
	d.Hash, d.NotifyChange = s.accounts.HashForProgram, letters.NotifyChange
	d.Forget, d.Offer = s.accounts.Forget, s.accounts.OfferEmail
	d.PermitPartners = access.PermitPartners
	d.Backups = backupsIn(s.folder)
	if s.emails.Sends() {
		d.SendConfirmation = letters.SendConfirmation
	}
	return d
}

func (s *service) staff() *access.Staff {
	return &access.Staff{Store: s.store, Clock: s.clock, Accounts: s.accounts, People: s.people}
}

func (s *service) handler(o handlerOptions) (http.Handler, error) {
	signIn, err := oauth.Pages(oauth.Options{
		Site: o.site, School: s.school, OnlySchool: s.onlySchool,
		OAuth: s.oauth, Accounts: s.accounts, Apps: s.apps, Emails: s.emails, Log: s.log,
		Readdress: s.people.Readdress, Learning: s.learning, Sales: s.sales, People: s.people, Doors: s.doors(o),
	})
	if err != nil {
		return nil, fmt.Errorf("parse the pages: %w", err)
	}
	owner, err := console.New(console.Options{
		Site: o.site, School: s.school,
		Accounts: s.accounts, Staff: s.staff(), Apps: s.apps, Keys: s.keys, Sales: s.sales, Names: s.store, Log: s.log,
		Learning: s.learning, People: s.people, Doors: s.doors(o), Bulk: s.bulk, Patience: 5 * time.Second,
		Clock: s.clock, Moves: s.moves, Events: s.events, Emails: s.emails, Reports: s.reports, Failures: s.failures,
	})
	if err != nil {
		return nil, fmt.Errorf("parse the console: %w", err)
	}
	first, nothing, err := front.Pages()
	if err != nil {
		return nil, err
	}
	rooms := map[string]http.Handler{"/assets/": web.Assets(), "/admin": owner, "/admin/": owner}
	for pattern := range console.LargeForms() { // also without its slash, or it would be redirected there
		rooms[pattern], rooms[strings.TrimSuffix(pattern, "/")] = owner, owner
	}
	maps.Copy(rooms, signIn)
	maps.Copy(rooms, first)
	return server.Handler(server.Options{
		Faces: []wire.Face{
			apiv1.New(apiv1.Rules{
				Sales: s.sales, Learning: s.learning, People: s.people, Events: s.events, Doors: s.doors(o),
			}, oauth.Endpoints(s.oauth, lyceum.V1)),
			apiv2.New(apiv2.Rules{
				Learning: s.learning, Sales: s.sales, People: s.people, Accounts: s.accounts, Doors: s.doors(o),
				BaseURL: o.site.BaseURL,
			}, oauth.Endpoints(s.oauth, lyceum.V2)),
			apilyceum.New(apilyceum.Rules{
				Sales: s.sales, People: s.people, Learning: s.learning, Events: s.events, Accounts: s.accounts, Feed: s.feed,
				Bulk: s.bulk, Clock: s.moves, School: s.school,
				Templates: s.emails, Reports: s.reports, Failures: s.failures,
			}),
		},
		Keys:         s.keys,
		OAuth:        s.oauth,
		Pages:        rooms,
		Uploads:      console.LargeForms(),
		Files:        files.Handlers(files.Options{Learning: s.learning, Log: s.log}),
		Nothing:      nothing,
		Limiter:      s.limiter,
		Failures:     s.failures,
		Load:         s.load,
		Cache:        s.cache,
		Reference:    o.reference,
		Journal:      s.store,
		Ready:        s.store.Ping,
		Metrics:      s.metrics,
		MetricsToken: o.metricsToken,
		HTTPS:        o.https,
		Local:        o.local,
		AccessLog:    o.accessLog,
		Proxies:      o.proxies,
		Log:          s.log,
	}), nil
}

// onlySchool returns the school of a server that has just one.
func (s *service) onlySchool(ctx context.Context) (lyceum.SchoolID, bool) {
	schools, err := s.store.FindSchools(ctx)
	if err != nil || len(schools) != 1 {
		return 0, false
	}
	return schools[0].ID, true
}

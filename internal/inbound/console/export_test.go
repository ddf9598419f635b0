package console

// Routes gives every path of the console with its methods, from the table that
// the console is made of.
func Routes() map[string][]string {
	routes := map[string][]string{}
	for path, actions := range new(console).routes() {
		for method := range actions {
			routes[path] = append(routes[path], method)
		}
	}
	return routes
}

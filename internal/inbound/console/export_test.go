package console

import "github.com/lyceum-school/lyceum"

// Routes returns every path of the console with its methods, from the table that the console is
// built from.
func Routes() map[string][]string {
	routes := map[string][]string{}
	for path, actions := range new(console).routes() {
		for method := range actions {
			routes[path] = append(routes[path], method)
		}
	}
	return routes
}

// EventsOffered returns the events that the form of a webhook offers.
func EventsOffered() (names []lyceum.EventName) {
	for _, group := range eventGroups(nil) {
		for i := range group.Events {
			names = append(names, group.Events[i].Name)
		}
	}
	return names
}

package templates

// FilterNames are the filters of a template.
var FilterNames = filterNames

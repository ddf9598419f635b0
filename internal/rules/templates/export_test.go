package templates

// FilterNames are the filters that templates can use.
var FilterNames = filterNames

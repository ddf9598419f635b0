// Package lyceum is the vocabulary of an online school's back end: its nouns,
// typed ids, money, times, errors with a kind, and the store they are kept in.
//
// It owns what the words mean and the rules that need neither a clock nor a
// store. It must not know HTTP, SQL, a file format or who is asking, and it
// imports the standard library alone.
package lyceum

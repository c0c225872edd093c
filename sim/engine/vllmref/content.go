package vllmref

import "fmt"

// token is the identity of one token.
type token struct {
	kind  byte  // 'g' given, 'p' of a group's prefix, 'o' the request's own
	owner int   // the group or the request; 0 for a given one
	id    int64 // the number given, or the place in the group's or request's text
}

// tokens returns the identities of request number i's tokens, the prompt's and
// then the output's.
func tokens(i int, r Request) []token {
	var all []token
	for k := range r.PromptTokens {
		switch {
		case r.Content != nil:
			all = append(all, token{'g', 0, r.Content[k]})
		case r.PrefixGroup >= 0 && k < r.PrefixTokens:
			all = append(all, token{'p', r.PrefixGroup, int64(k)})
		default:
			all = append(all, token{'o', i, int64(k)})
		}
	}
	for k := range r.OutputTokens {
		if r.OutputContent != nil {
			all = append(all, token{'g', 0, r.OutputContent[k]})
		} else {
			all = append(all, token{'o', i, int64(r.PromptTokens + k)})
		}
	}
	return all
}

// contentID stands for the exact list of tokens from the start of a request to
// the end of one of its blocks. Two are equal if and only if the lists are.
type contentID int

// none is the content of a block that is not registered, and of no tokens.
const none contentID = 0

// contents numbers the lists: a list is the list up to the block before and
// the tokens of its last block, spelt out. It is a hash without collisions.
type contents map[ending]contentID

type ending struct {
	before contentID
	last   string
}

// ofBlocks returns the content of each full block of a list of tokens.
func (c contents) ofBlocks(all []token, blockSize int) []contentID {
	var ids []contentID
	before := none
	for from := 0; from+blockSize <= len(all); from += blockSize {
		var last []byte
		for _, t := range all[from : from+blockSize] {
			last = fmt.Appendf(last, "%c%d.%d ", t.kind, t.owner, t.id)
		}
		key := ending{before, string(last)}
		if _, known := c[key]; !known {
			c[key] = contentID(len(c) + 1)
		}
		before = c[key]
		ids = append(ids, before)
	}
	return ids
}

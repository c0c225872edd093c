package router

import (
	"switchyard/sim/rng"
	"switchyard/sim/workload"
)

// prefixKeys gives the key of the first tokens of a prompt: of all prompts that
// begin with the same so many tokens the same one, whatever the numbering of
// nodes. A prompt whose first tokens reach into its private rest has a key of
// its own. A shorter prompt without a private rest has that of its whole text.
//
// The node in which the first tokens end is looked up once a node, from the
// root on, so that a key costs one read, however deep the prompt's path.
type prefixKeys struct {
	work   *workload.Workload
	tokens int32
	cover  []int32 // by node: the node of its path in which the first tokens end, or None where the path is shorter
}

func newPrefixKeys(w *workload.Workload, tokens int32) prefixKeys {
	f := &w.Forest
	k := prefixKeys{w, tokens, make([]int32, f.Nodes())}
	for n, parent := range f.Parent {
		switch {
		case parent != workload.None && k.cover[parent] != workload.None:
			k.cover[n] = k.cover[parent]
		case f.End[n] >= tokens:
			k.cover[n] = int32(n)
		default:
			k.cover[n] = workload.None
		}
	}
	return k
}

// node returns the node in which the first tokens of a prompt end; None where
// they are not all shared.
func (k *prefixKeys) node(id int32) int32 {
	leaf := k.work.Leaf[id]
	if leaf == workload.None {
		return workload.None
	}
	return k.cover[leaf]
}

func (k *prefixKeys) of(id int32) uint64 {
	f := &k.work.Forest
	if n := k.node(id); n != workload.None {
		return rng.Mix(f.Hash[n])
	}
	if leaf := k.work.Leaf[id]; leaf != workload.None && f.End[leaf] == k.work.Prompt[id] {
		return rng.Mix(f.Hash[leaf])
	}
	return ownKey(id)
}

// ownKey is the key of a request that shares none.
func ownKey(id int32) uint64 { return rng.Mix(^uint64(id)) }

// Keyed says what of a request is hashed.
type Keyed struct {
	Key      string `yaml:"key" default:"key-portion" enum:"key-portion|segments|tokens|session" doc:"what is hashed: the prompt up to the end of its key portion (the deepest segment longer than all before it together), its first segments, its first tokens, or its session"`
	Segments int32  `yaml:"segments" default:"1" min:"1" unit:"segments" doc:"with key: segments, how many; chains that never branch count as one"`
	Tokens   int32  `yaml:"tokens" default:"256" min:"1" unit:"tokens" doc:"with key: tokens, how many; a shorter prompt is hashed whole"`
}

// keys returns the keys that p asks for.
func (p *Keyed) keys(w *workload.Workload) keys {
	k := keys{kind: p.Key, segments: p.Segments}
	if p.Key == "tokens" {
		k.prefix = newPrefixKeys(w, p.Tokens)
	}
	return k
}

type keys struct {
	kind     string
	segments int32
	prefix   prefixKeys
}

// of returns what is hashed of a request; one without such a thing is a key of
// its own.
func (k *keys) of(id int32, w *workload.Workload) uint64 {
	n := int32(workload.None)
	switch k.kind {
	case "key-portion":
		n = w.Key[id]
	case "segments":
		n = w.Leaf[id]
		for n != workload.None && w.Forest.Level[n] > k.segments {
			n = w.Forest.Parent[n]
		}
	case "tokens":
		return k.prefix.of(id)
	case "session":
		return sessionKey(id, w)
	}
	if n == workload.None {
		return ownKey(id)
	}
	return rng.Mix(w.Forest.Hash[n])
}

// sessionKey is the hash of a request's session; a request without one is a key
// of its own. It is hashed twice since once would put the sessions numbered
// from 0 on the very points of the ring's first replica.
func sessionKey(id int32, w *workload.Workload) uint64 {
	if w.Session == nil || w.Session[id] == workload.None {
		return ownKey(id)
	}
	return rng.Mix(rng.Mix(uint64(w.Session[id])))
}

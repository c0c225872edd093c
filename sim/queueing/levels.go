package queueing

// levels holds servers by how many requests they have: for each number, the set
// of servers that have it.
type levels struct {
	words int
	sets  []uint64 // words for each level
	size  []int    // servers at each level
	of    []int32  // level of each server
	low   int      // least level that has a server
}

func newLevels(servers int) levels {
	l := levels{words: words(servers), of: make([]int32, servers)}
	l.reach(0)
	l.size[0] = servers
	for i := range servers {
		l.set(0).add(i)
	}
	return l
}

func (l *levels) set(level int) bitset {
	return bitset(l.sets[level*l.words : (level+1)*l.words])
}

// reach makes levels up to this one.
func (l *levels) reach(level int) {
	for len(l.size) <= level {
		l.size = append(l.size, 0)
		for range l.words {
			l.sets = append(l.sets, 0)
		}
	}
}

// up moves server i to the next level.
func (l *levels) up(i int) {
	from := int(l.of[i])
	if from+1 == len(l.size) {
		l.reach(from + 1)
	}
	l.move(i, from, from+1)
	if from == l.low && l.size[from] == 0 {
		l.low++
	}
}

// down moves server i, which has a request, to the level before.
func (l *levels) down(i int) {
	from := int(l.of[i])
	l.move(i, from, from-1)
	l.low = min(l.low, from-1)
}

func (l *levels) move(i, from, to int) {
	word, bit := i>>6, uint64(1)<<(i&63)
	l.sets[from*l.words+word] &^= bit
	l.sets[to*l.words+word] |= bit
	l.size[from]--
	l.size[to]++
	l.of[i] = int32(to)
}

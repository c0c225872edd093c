package compound

import "math/bits"

// evaluate sets the output of every module under an allocation. An output is
// an answer a question, in bit planes: bit q of plane b is bit b of the answer
// to question q, and answer 0 is the right one. A critic's verdict is plane 0.
// Beyond the last question no answer is right and none is flagged, since no
// model succeeds there or sees an error.
func (w *World) evaluate(alloc []int32) {
	for i := range w.graph.modules {
		c := int32(-1)
		if d := w.graph.decision[i]; d >= 0 {
			c = alloc[d]
			if w.first[i] != nil {
				w.views[i] = w.first[i][c]
				continue
			}
		}
		w.step(i, c, alloc, w.outs[i])
		w.views[i] = w.outs[i]
	}
}

// step computes the output of module i with candidate c from those that it
// reads. Of alloc it uses earlier decisions alone.
func (w *World) step(i int, c int32, alloc []int32, dst []uint64) {
	reads := w.graph.reads[i]
	switch w.graph.modules[i].Rule {
	case Answer:
		w.stepAnswer(i, c, reads, dst)
	case Critic:
		w.stepCritic(i, c, alloc, reads[0], dst)
	case Refine:
		answer, verdict := w.refined(i)
		w.stepRefine(i, c, answer, verdict, dst)
	case Judge:
		w.stepJudge(i, c, reads, dst)
	case Vote:
		w.vote(reads, dst)
	case All, Any:
		w.merge(w.graph.modules[i].Rule, reads, dst)
	}
}

// refined returns the two modules that a refine module reads.
func (w *World) refined(i int) (answer, verdict int) {
	reads := w.graph.reads[i]
	if w.graph.modules[reads[0]].Rule == Critic {
		return reads[1], reads[0]
	}
	return reads[0], reads[1]
}

// candidate returns the pool's number of candidate c of module i, and its
// model.
func (w *World) candidate(i int, c int32) (id, model int32) {
	id = w.lists[w.graph.decision[i]][c]
	return id, w.sample.candidates[id].Model
}

// wrongWord returns a word of the questions to which module i's answer is wrong.
func (w *World) wrongWord(i, k int) uint64 {
	out := w.views[i]
	word := out[k]
	for at := k + w.words; at < len(out); at += w.words {
		word |= out[at]
	}
	return word
}

func (w *World) stepAnswer(i int, c int32, reads []int, dst []uint64) {
	id, model := w.candidate(i, c)
	succeeds, wrong := w.skills[i].succeeds[id], w.sample.wrong[model]
	for k := range w.words {
		fails := ^succeeds[k]
		for _, r := range reads {
			fails |= w.wrongWord(r, k)
		}
		for at := k; at < len(dst); at += w.words {
			dst[at] = fails & wrong[at]
		}
	}
}

// finds returns the wrong answers that a critic finds and the right ones that
// it would flag.
func (w *World) finds(i int, c int32, alloc []int32) (found, alarms []uint64) {
	id, model := w.candidate(i, c)
	t := w.skills[i]
	if author := w.authors[i]; author >= 0 {
		if w.Candidate(author, alloc[author]).Model == model {
			return t.alone[id], t.alarms[model]
		}
	}
	return t.succeeds[id], t.alarms[model]
}

func (w *World) stepCritic(i int, c int32, alloc []int32, read int, dst []uint64) {
	found, alarms := w.finds(i, c, alloc)
	clear(dst[w.words:])
	for k := range w.words {
		wrong := w.wrongWord(read, k)
		dst[k] = wrong&found[k] | ^wrong&alarms[k]
	}
}

func (w *World) stepRefine(i int, c int32, answer, verdict int, dst []uint64) {
	id, model := w.candidate(i, c)
	succeeds, wrong := w.skills[i].succeeds[id], w.sample.wrong[model]
	before, flagged := w.views[answer], w.views[verdict]
	for k := range w.words {
		f := flagged[k]
		spoils := f &^ succeeds[k]
		for at := k; at < len(dst); at += w.words {
			dst[at] = before[at]&^f | spoils&wrong[at]
		}
	}
}

func (w *World) stepJudge(i int, c int32, reads []int, dst []uint64) {
	id, _ := w.candidate(i, c)
	succeeds := w.skills[i].succeeds[id]
	own := w.graph.modules[i].Own
	kept := w.views[reads[0]]
	for k := range w.words {
		right := succeeds[k]
		if !own {
			right &^= w.allWrong(reads, k)
		}
		for at := k; at < len(dst); at += w.words {
			dst[at] = kept[at] &^ right
		}
	}
}

// allWrong returns a word of the questions to which all answers are wrong.
func (w *World) allWrong(reads []int, k int) uint64 {
	word := ^uint64(0)
	for _, r := range reads {
		word &= w.wrongWord(r, k)
	}
	return word
}

// merge joins answers: the first wrong one of all, or right where any is.
func (w *World) merge(rule Rule, reads []int, dst []uint64) {
	for k := range w.words {
		if rule == Any {
			wrong := w.allWrong(reads, k)
			for at := k; at < len(dst); at += w.words {
				dst[at] = w.views[reads[0]][at] & wrong
			}
			continue
		}
		var done uint64
		for at := k; at < len(dst); at += w.words {
			dst[at] = 0
		}
		for _, r := range reads {
			wrong := w.wrongWord(r, k) &^ done
			for at := k; at < len(dst); at += w.words {
				dst[at] |= w.views[r][at] & wrong
			}
			done |= wrong
		}
	}
}

// rights writes the questions to which module i's answer is right.
func (w *World) rights(i int, dst []uint64) {
	for k := range w.words {
		dst[k] = ^w.wrongWord(i, k)
	}
}

// count returns how many questions module i answers right.
func (w *World) count(i int) int32 {
	out := w.views[i]
	wrong := 0
	if w.planes == 2 {
		low, high := out[:w.words], out[w.words:2*w.words]
		for k, word := range low {
			wrong += bits.OnesCount64(word | high[k])
		}
	} else {
		for k := range w.words {
			wrong += bits.OnesCount64(w.wrongWord(i, k))
		}
	}
	return int32(w.words*64 - wrong)
}

// fail writes where module i failed itself, with the outputs of evaluate.
func (w *World) fail(i int, alloc []int32, dst []uint64) {
	c := alloc[w.graph.decision[i]]
	id, _ := w.candidate(i, c)
	succeeds := w.skills[i].succeeds[id]
	reads := w.graph.reads[i]
	switch m := w.graph.modules[i]; m.Rule {
	case Answer, Refine:
		for k := range dst {
			dst[k] = ^succeeds[k]
		}
	case Critic:
		found, alarms := w.finds(i, c, alloc)
		for k := range dst {
			wrong := w.wrongWord(reads[0], k)
			dst[k] = wrong&^found[k] | ^wrong&alarms[k]
		}
	case Judge:
		for k := range dst {
			dst[k] = ^succeeds[k]
			if !m.Own {
				dst[k] &^= w.allWrong(reads, k)
			}
		}
	}
}

package compound

// Kind is one entry of the table of worlds that this package makes.
type Kind struct {
	Name, Summary string
	Source        string
	New           func() WorldParams // parameters, without defaults set
}

// WorldParams are the parameters of a kind of world: a pointer to a tagged
// struct.
type WorldParams interface {
	// Build makes the questions that a system is chosen on and those that it is
	// tested on, with the same models.
	Build(g *Graph, env Env) (Split, error)
	// Many returns the number of pools of models, numbered from 0.
	Many() int
}

// Env names a world among those of the same parameters.
type Env struct {
	Seed        uint64
	Replication int // other questions
	Pool        int // other models too
}

// Split is one pool of models with two sets of questions.
type Split struct{ Train, Test *World }

// Kinds lists the worlds by name.
func Kinds() []Kind {
	return []Kind{toyKind, caseStudyKind, caseStudyRandomKind}
}

// FindKind returns the kind of world of that name.
func FindKind(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

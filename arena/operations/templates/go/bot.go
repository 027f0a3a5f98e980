// A bot for arena. It plays a legal action at random, in any game; the rest is up to you, in `choose`.
//
// arena_kit.go beside this file tells what `choose` gets and what you may use.
//
// Try it from the folder above this one:  arena check ./<this folder>

package main

func choose(view map[string]any, legal []any, clock Clock) any {
	// The actions cannot be listed: the page of the game has their form; in riffraff this passes.
	if legal == nil {
		return map[string]any{"pass": true}
	}
	return legal[random.Intn(len(legal))]
}

func main() { play(choose) }

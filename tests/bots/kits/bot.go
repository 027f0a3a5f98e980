package main

import "fmt"

func choose(view map[string]any, legal []any, clock Clock) any {
	fmt.Println("stray", view["say"], clock.MoveMs)
	note(view["say"].(string))
	if legal == nil {
		return map[string]any{"twice": 2 * view["number"].(float64), "items": len(view["items"].([]any))}
	}
	return legal[int(view["pick"].(float64))]
}

func main() { play(choose) }

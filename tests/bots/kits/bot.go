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

func evaluate(view map[string]any, legal []any, budgetMs float64) (values, errors []float64) {
	for _, each := range legal {
		action := each.(map[string]any)
		sum := 0
		for index, heap := range view["heaps"].([]any) {
			left := heap.(float64)
			if index == int(action["heap"].(float64)) {
				left -= action["count"].(float64)
			}
			sum ^= int(left)
		}
		value := 0.0
		if sum == 0 {
			value = 1
		}
		values = append(values, value)
	}
	return values, make([]float64, len(values))
}

func main() {
	kit.evaluate = evaluate
	play(choose)
}

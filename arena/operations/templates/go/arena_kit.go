// arena_kit: the protocol arena/1 for bots in Go, with the standard library only.
//
// You write one function and call `play`:
//
//	func choose(view map[string]any, legal []any, clock Clock) any {
//		return legal[0]
//	}
//
//	func main() { play(choose) }
//
//	view      all that your seat may know; the page of the game describes it
//	legal     the legal actions; nil where they cannot be listed
//	clock     milliseconds: clock.MoveMs for this move, clock.BankMs in the bank
//	returns   one of `legal`, its index, or an action of your own: map[string]any{"pass": true}
//
// Values are map[string]any, []any, string, float64, bool and nil.
//
// You may use:
//
//	kit.request           the whole message as JSON text, for json.Unmarshal: events, refused...
//	note("I am ahead")    a note that stands at this step in `arena show`
//	random.Intn(6)        0 to 5; `random` is seeded for each match, so that it can be repeated
//	fmt.Println           goes to stderr, and `arena match --steps` shows it; stdout is the referee's
//	kit.hello, kit.match  the messages `hello` and `match_start` as JSON text
//	kit.start, kit.end    set them before `play`: they get `match_start` and `match_end`
//	kit.evaluate          set it to a function (view, legal, budgetMs) that judges every action for `arena coach --by`:
//	                      it returns values from 0 to 1 in the order of `legal`, and their standard errors or nil
//
// A panic ends the process with its text; the match is lost, and its story has the text.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
)

type Clock struct {
	MoveMs float64 `json:"move_ms"`
	BankMs float64 `json:"bank_ms"`
}

var kit struct {
	hello, match, request json.RawMessage
	start, end            func(message json.RawMessage)
	evaluate              func(view map[string]any, legal []any, budgetMs float64) (values, errors []float64)
	note                  string
}

var random = rand.New(rand.NewSource(0))

type message struct {
	Type     string
	Match    string
	ID       json.RawMessage
	View     map[string]any
	Legal    []any
	Clock    Clock
	BudgetMs float64 `json:"budget_ms"`
	BotSeed  int64   `json:"bot_seed"`
	Code     string
	Message  string
	Hint     string
}

// A note for the story of the match; several are joined. The opponent never sees it.
func note(text string) {
	if kit.note != "" {
		text = kit.note + "\n" + text
	}
	kit.note = text
}

// Plays until the referee says quit or goes away.
func play(choose func(view map[string]any, legal []any, clock Clock) any) {
	referee := os.Stdout
	os.Stdout = os.Stderr
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var received message
			if trouble := json.Unmarshal(line, &received); trouble != nil {
				panic(trouble)
			}
			if received.Type == "quit" {
				return
			}
			if reply := answer(received, line, choose); reply != nil {
				say(referee, reply)
			}
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(err)
		}
	}
}

// Unknown types get no answer, so that the protocol can grow.
func answer(received message, line []byte, choose func(map[string]any, []any, Clock) any) map[string]any {
	switch received.Type {
	case "hello":
		kit.hello = line
		capabilities := []string{}
		if kit.evaluate != nil {
			capabilities = append(capabilities, "evaluate")
		}
		return map[string]any{"type": "hello", "protocols": []int{1}, "capabilities": capabilities}
	case "match_start":
		kit.match = line
		random = rand.New(rand.NewSource(received.BotSeed))
		if kit.start != nil {
			kit.start(line)
		}
		return map[string]any{"type": "ready", "match": received.Match}
	case "request":
		kit.request, kit.note = line, ""
		action := choose(received.View, received.Legal, received.Clock)
		switch action.(type) {
		case int, map[string]any:
		default:
			panic(fmt.Sprintf("choose must return an action (a map[string]any) or an index in legal, not %v", action))
		}
		reply := map[string]any{"type": "action", "id": received.ID, "action": action}
		if characters := []rune(kit.note); len(characters) > 1000 {
			reply["note"] = string(characters[:1000])
		} else if len(characters) > 0 {
			reply["note"] = kit.note
		}
		return reply
	case "evaluate":
		if kit.evaluate != nil {
			kit.request = line
			values, errors := kit.evaluate(received.View, received.Legal, received.BudgetMs)
			errors = append([]float64{}, errors...) // nil would be null
			return map[string]any{"type": "evaluation", "id": received.ID, "values": values, "errors": errors}
		}
	case "match_end":
		if kit.end != nil {
			kit.end(line)
		}
	case "error":
		fmt.Fprintf(os.Stderr, "referee: %s: %s (%s)\n", received.Code, received.Message, received.Hint)
	}
	return nil
}

// One line to the referee.
func say(referee *os.File, reply map[string]any) {
	line, err := json.Marshal(reply)
	if err != nil {
		panic(err)
	}
	if _, err := referee.Write(append(line, '\n')); err != nil {
		os.Exit(0) // the referee is gone: nothing left to play for
	}
}

// A bot for arena. It plays a legal action at random, in any game; the rest is up to you, in `choose`.
//
// arena_kit.rs beside this file tells what `choose` gets and what you may use.
//
// Try it from the folder above this one:  arena check ./<this folder>

mod arena_kit;
use arena_kit::*;

fn choose(_view: &Json, legal: &Json, _clock: &Json) -> Json {
    // The actions cannot be listed: the page of the game has their form; in riffraff this passes.
    if legal.is_null() {
        return Json::parse(r#"{"pass":true}"#);
    }
    legal[random_below(legal.items().len())].clone()
}

fn main() {
    play(choose);
}

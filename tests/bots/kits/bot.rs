mod arena_kit;
use arena_kit::*;

fn choose(view: &Json, legal: &Json, clock: &Json) -> Json {
    println!("stray {} {}", view["say"].text(), clock["move_ms"].number());
    note(view["say"].text());
    if legal.is_null() {
        let (twice, items) = (2.0 * view["number"].number(), view["items"].items().len());
        return Json::parse(&format!(r#"{{"twice":{},"items":{}}}"#, twice, items));
    }
    legal[view["pick"].number() as usize].clone()
}

fn main() {
    play(choose);
}

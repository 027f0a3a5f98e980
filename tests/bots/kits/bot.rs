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

fn evaluate(view: &Json, legal: &Json, _budget_ms: f64) -> (Vec<f64>, Vec<f64>) {
    let value = |action: &Json| {
        let mut heaps: Vec<u64> = view["heaps"].items().iter().map(|heap| heap.number() as u64).collect();
        heaps[action["heap"].number() as usize] -= action["count"].number() as u64;
        if heaps.iter().fold(0, |sum, size| sum ^ size) == 0 { 1.0 } else { 0.0 }
    };
    let values: Vec<f64> = legal.items().iter().map(value).collect();
    let errors = vec![0.0; values.len()];
    (values, errors)
}

fn main() {
    set_evaluate(evaluate);
    play(choose);
}

import arena_kit as kit


def choose(view, legal, clock):
    print("stray", view["say"], clock["move_ms"])
    kit.note(view["say"])
    if legal is None:
        return {"twice": 2 * view["number"], "items": len(view["items"])}
    return legal[view["pick"]]


kit.play(choose)

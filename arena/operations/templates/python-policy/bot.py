"""A trained policy: the legal action for which the network in policy.npz gives the highest number."""

import arena_kit as kit
import policy_kit
from encoding import encode

network = policy_kit.Network("policy.npz")


def choose(view, legal, clock):
    outputs = network.outputs(encode(view))
    return max(legal, key=lambda action: outputs[policy_kit.number_of(action)])


kit.play(choose)

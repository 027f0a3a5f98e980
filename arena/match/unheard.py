"""What a bot said in vain while it owed a message, for the sentence that tells its author why none came.

Rule: it explains a timeout and decides nothing; of each kind the first is kept, the others are counted.
"""

import msgspec

from arena.errors import MalformedReply
from arena.protocol import codec
from arena.protocol.messages import Answer, Simulate


class DiscardedOutput(msgspec.Struct):
    """`wrong_id`: of what was said to another request, `wrong_kind`; `early_id`: of an answer before the request."""

    strays: int = 0
    first_stray: str = ""
    wrong_id: int | None = None
    wrong_kind: str = ""
    early_id: int | None = None
    has_early: bool = False

    def stray(self, line: bytes) -> None:
        """Note a line that is no JSON object."""
        self.strays += 1
        self.first_stray = self.first_stray or codec.excerpt(line)

    def stale(self, message: Answer | Simulate) -> None:
        """Note an answer or a question to a request that is not open."""
        if self.wrong_id is None:
            self.wrong_id = message.id
            self.wrong_kind = "an action" if isinstance(message, Answer) else "a simulate"

    def early(self, line: bytes) -> None:
        """Note a line that lay there before the request; only the first is looked at, for there may be many."""
        if self.has_early:
            return
        self.has_early = True
        try:
            message = codec.decode(line)
        except MalformedReply:
            return
        if isinstance(message, Answer):
            self.early_id = message.id

    def strays_told(self) -> str:
        """`3 lines came, none of them a JSON object; the first: blah`, or nothing."""
        if not self.strays:
            return ""
        if self.strays == 1:
            return f"1 line came, and it is not a JSON object: {self.first_stray}"
        return f"{self.strays} lines came, none of them a JSON object; the first: {self.first_stray}"

    def told(self, request_id: int) -> str:
        """The likely reason why request `request_id` has no answer; empty if nothing came."""
        if self.wrong_id is not None:
            return (
                f"{self.wrong_kind} with id {self.wrong_id} came, but the open request is {request_id}:"
                " repeat the request's id"
            )
        if self.early_id is not None:
            return (
                f"an action with id {self.early_id} came before request {request_id} was sent, and was dropped:"
                " answer each request once, after it came"
            )
        return self.strays_told()

"""What to do where bubblewrap cannot build its box: its error message -> a sentence for the person who runs arena."""

from typing import Final

_ADVICE: Final = (
    # what bwrap says, all of these in it, and what to do about it
    (("setting up uid map", "Permission denied"), "apparmor"),
    (("RTM_NEWADDR",), "apparmor"),
    (("No permissions to creat",), "container"),
    (("Can't mount proc",), "container"),
    (("nesting depth",), "count"),
    (("ENOSPC",), "count"),
    (("No space left on device",), "count"),
    (("Creating new namespace failed",), "disabled"),
    (("kernel does not allow",), "disabled"),
    (("Unknown option",), "old"),
    (("error while loading shared libraries",), "old"),
)
_SENTENCES: Final = {
    "apparmor": "AppArmor forbids it (Ubuntu 23.10 and later): give /usr/bin/bwrap a profile that allows `userns,`, as"
    " the package apparmor-profiles has it, and use the system's bwrap; one in a virtual environment is not covered",
    "container": "inside Docker or Kubernetes: run arena on the host, or give the container options that allow user"
    " namespaces and mounts of /proc",
    "count": "user namespaces are used up or switched off: `sysctl user.max_user_namespaces` must be above 0",
    "disabled": "the kernel does not let ordinary users make namespaces: `sysctl kernel.unprivileged_userns_clone=1`",
    "old": "this bwrap is too old or broken: `apt-get install bubblewrap`, or `pip install 'arena[sandbox]'`",
}


def advice_on(said: str) -> str:
    """What to do about it, to be appended to what bwrap said; empty where nobody knows."""
    known = next((key for words, key in _ADVICE if all(word in said for word in words)), None)
    return "" if known is None else f"\n{_SENTENCES[known]}"

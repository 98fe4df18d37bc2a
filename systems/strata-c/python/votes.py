"""A replicated count of votes in Python: `python3 votes.py LIBRARY` begins one, `python3 votes.py LIBRARY CONTACT` joins. Each line of the input is a vote; at its end the member leaves and
prints what it has counted. Who joins late is given the count."""

import collections
import json
import os
import select
import sys

from strata import AGAIN, LEFT, MESSAGE, NOTICE, STATE, VIEW, WANTED, Group, StrataError


def shown(text):
    """Others' text for a terminal, which would do what control characters say."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def cast(group, vote):
    """Whether the group takes it now: one that is behind takes it later."""
    try:
        group.cast(vote)
    except StrataError as error:
        if error.code != AGAIN:
            raise
        return False
    return True


def main(library, *contacts):
    group = Group(library, contacts=contacts, state=True, patience_ms=60000, suspect_ms=20000)
    print("member", group.me.address, flush=True)
    count, typed, votes, ended, leaves, left = {}, b"", collections.deque(), False, False, False
    while not left:
        for event in group.events():
            if event.kind == MESSAGE:
                vote = event.bytes.decode(errors="replace")
                count[vote] = count.get(vote, 0) + 1
                print("counted", shown(vote), flush=True)
            elif event.kind == VIEW:
                print("members", len(event.members), flush=True)
            elif event.kind == WANTED:
                group.give(json.dumps(count).encode())
            elif event.kind == STATE:
                count = json.loads(event.bytes)
                print("received", json.dumps(count, sort_keys=True), flush=True)
            elif event.kind == NOTICE:
                print(event.bytes.decode(), file=sys.stderr)
            elif event.kind == LEFT:
                left = True
        while votes and cast(group, votes[0]):
            votes.popleft()
        if ended and not votes and not leaves:
            leaves = True
            group.leave()
        if left:
            break
        # Not `selectors`: a file as the input is refused by epoll, and always readable here.
        reads = [0] if not (votes or ended) else []
        ready, _, _ = select.select([group, *reads], [], [], 0.01 if votes else None)
        if 0 in ready:
            more = os.read(0, 4096)
            ended = not more
            *lines, typed = (typed + more).split(b"\n")
            # The last line may have no end.
            votes.extend(lines if more or not typed else [*lines, typed])
    print(json.dumps(count, sort_keys=True))
    group.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

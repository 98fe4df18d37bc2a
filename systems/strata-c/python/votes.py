"""A replicated count of votes in Python: `python3 votes.py LIBRARY` begins one, `python3 votes.py LIBRARY CONTACT` joins. Each line of the input is a vote; at its end the member leaves and
prints what it has counted. Who joins late is given the count."""

import json
import os
import selectors
import sys

from strata import LEFT, MESSAGE, NOTICE, STATE, VIEW, WANTED, Group


def main(library, *contacts):
    group = Group(library, contacts=contacts, state=True, patience_ms=60000, suspect_ms=20000)
    print("member", group.me.address, flush=True)
    count, typed, left = {}, b"", False
    selector = selectors.DefaultSelector()
    selector.register(group, selectors.EVENT_READ)
    os.set_blocking(0, False)
    selector.register(0, selectors.EVENT_READ)
    while not left:
        for event in group.events():
            if event.kind == MESSAGE:
                vote = event.bytes.decode()
                count[vote] = count.get(vote, 0) + 1
                print("counted", vote, flush=True)
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
        if left:
            break
        for key, _ in selector.select():
            if key.fd == 0:
                more = os.read(0, 4096)
                typed += more
                *lines, typed = typed.split(b"\n")
                for line in lines:
                    group.cast(line)
                if not more:
                    selector.unregister(0)
                    group.leave()
    print(json.dumps(count, sort_keys=True))
    group.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

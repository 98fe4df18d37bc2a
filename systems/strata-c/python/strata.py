"""Group communication over strata's C interface (`strata.h`): a thin layer of ctypes.

    group = Group(library, contacts=["127.0.0.1:40213"], state=True)
    for event in group.events(limit=1.0): ...

The library is `libstrata_c.so` of the package strata-c. A `Group` has `fileno()`, so that `selectors` and event loops can wait for it: take `events()` until there
are none, then wait."""

import ctypes as c

MESSAGE, VIEW, NOTICE, LEFT, WANTED, STATE, COUNTED, ORPHANED = range(1, 9)
AGAIN = -1


class _Error(c.Structure):
    _fields_ = [("text", c.c_char * 512)]


class _Options(c.Structure):
    _fields_ = [
        ("group", c.c_char_p),
        ("stack", c.c_char_p),
        ("bind", c.c_char_p),
        ("contacts", c.c_char_p),
        ("multicast", c.c_char_p),
        ("key", c.c_char_p),
        ("suspect_ms", c.c_uint32),
        ("patience_ms", c.c_int32),
        ("state", c.c_int),
    ]


class Member(c.Structure):
    _fields_ = [("_address", c.c_char * 64), ("born", c.c_uint64)]

    @property
    def address(self):
        return self._address.decode()

    def __eq__(self, other):
        return (self._address, self.born) == (other._address, other.born)

    def __repr__(self):
        return f"{self.address}#{self.born & 0xFFFF:04x}"


class _Event(c.Structure):
    _fields_ = [
        ("kind", c.c_int),
        ("sender", Member),
        ("cast", c.c_int),
        ("transitional", c.c_int),
        ("bytes", c.POINTER(c.c_uint8)),
        ("len", c.c_size_t),
        ("members", c.POINTER(Member)),
        ("member_count", c.c_size_t),
        ("view", c.c_uint64),
        ("primary", c.c_int),
    ]


class Event:
    """What happened: `kind` is one of the constants above; the rest as in `struct strata_event`, copied."""

    def __init__(self, event):
        self.kind, self.sender = event.kind, Member.from_buffer_copy(event.sender)
        self.cast, self.transitional, self.primary = bool(event.cast), bool(event.transitional), bool(event.primary)
        self.bytes = c.string_at(event.bytes, event.len) if event.len else b""
        self.members = [Member.from_buffer_copy(event.members[at]) for at in range(event.member_count)]
        self.view = event.view


class StrataError(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def _load(path):
    library = c.CDLL(path)
    group, error = c.c_void_p, c.POINTER(_Error)
    for name, result, arguments in [
        ("strata_join", group, [c.POINTER(_Options), error]),
        ("strata_free", None, [group]),
        ("strata_self", c.c_int, [group, c.POINTER(Member), error]),
        ("strata_cast", c.c_int, [group, c.c_char_p, c.c_size_t, error]),
        ("strata_send", c.c_int, [group, c.POINTER(Member), c.c_char_p, c.c_size_t, error]),
        ("strata_flush", c.c_int, [group, error]),
        ("strata_next", c.c_int, [group, c.c_uint32, c.POINTER(_Event), error]),
        ("strata_fd", c.c_int, [group, error]),
        ("strata_give", c.c_int, [group, c.c_char_p, c.c_size_t, error]),
        ("strata_leave", c.c_int, [group, error]),
    ]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Group:
    """A member of a group. Options are those of `struct strata_options`; `contacts` is a list of addresses."""

    def __init__(self, library, contacts=(), key=None, **options):
        self._group, self._library, self._error = None, _load(library), _Error()
        if key is not None and len(key) != 32:
            raise ValueError("a key has 32 bytes")
        texts = {name: value.encode() if isinstance(value, str) else value for name, value in options.items()}
        given = _Options(contacts=",".join(contacts).encode() or None, key=key, **texts)
        self._group = self._library.strata_join(c.byref(given), c.byref(self._error))
        if not self._group:
            raise StrataError(None, self._error.text.decode(errors="replace"))
        self.me = Member()
        self._call("self", c.byref(self.me))

    def _call(self, name, *arguments):
        code = getattr(self._library, "strata_" + name)(self._group, *arguments, c.byref(self._error))
        if code < 0:
            raise StrataError(code, self._error.text.decode(errors="replace"))
        return code

    def cast(self, data):
        """Casts and flushes. Raises StrataError with the code AGAIN where the group is behind."""
        self._call("cast", data, len(data))
        self._call("flush")

    def send(self, member, data):
        self._call("send", c.byref(member), data, len(data))
        self._call("flush")

    def next(self, limit=0.0):
        """The next event, at the latest after so many seconds, or None."""
        event = _Event()
        return Event(event) if self._call("next", int(limit * 1000), c.byref(event)) else None

    def events(self, limit=0.0):
        while (event := self.next(limit)) is not None:
            yield event

    def fileno(self):
        return self._call("fd")

    def give(self, state):
        return bool(self._call("give", state, len(state)))

    def leave(self):
        self._call("leave")

    def close(self):
        if self._group:
            self._library.strata_free(self._group)
            self._group = None

    __del__ = close

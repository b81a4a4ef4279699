"""Random calls for the memory server: sensible ones, odd ones and wrong ones."""

import random
from collections.abc import Callable, Mapping
from typing import Any

Json = dict[str, Any]
_NAMES = [
    *(
        "Ada",
        "Ada ",
        "ada",
        "Grace",
        "Ωmega",
        "ΣΊΣΥΦΟΣ",
        "Straße",
        "STRASSE",
        "İstanbul",
        "naïve",
        "nai\u0308ve",
    ),
    *(
        "日本語",
        "🦉",
        "👩‍👩‍👧",
        "",
        " ",
        "a\nb",
        "tab\t",
        'quote"d',
        "back\\slash",
        "nul\x00",
        "\x1f\x7f\x85",
    ),
    *(
        "line\u2028sep",
        "\ufeffbom",
        "half\ud83d",
        "\udc00half",
        "__proto__",
        "constructor",
        "</script>",
        "e" * 300,
    ),
]
_KINDS = ["person", "PERSON", "ort", "", "город", "thing"]
_RELATIONS = ["knows", "lives in", "", "KNOWS", "→"]
_WRONG: list[Any] = [None, True, 0, -1.5, 1e300, "text", [], {}, [None], [[]], {"name": 1}, ["a", 2, None]]
_LIST_NAMES = {
    "create_entities": "entities",
    "create_relations": "relations",
    "add_observations": "observations",
    "delete_entities": "entityNames",
    "delete_observations": "deletions",
    "delete_relations": "relations",
    "search_nodes": "query",
    "open_nodes": "names",
}


class RandomCalls:
    """Makes parameters of `tools/call`, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._huge_left = 3  # each stays in the file, which is compared after every call
        self._makers: Mapping[str, Callable[[], Json]] = {
            "create_entities": lambda: {"entities": self._some(self._entity)},
            "create_relations": lambda: {"relations": self._some(self._relation)},
            "add_observations": lambda: {"observations": self._some(self._addition, 2)},
            "delete_entities": lambda: {"entityNames": self._some(self._name, 2)},
            "delete_observations": lambda: {"deletions": self._some(self._deletion)},
            "delete_relations": lambda: {"relations": self._some(self._relation)},
            "read_graph": dict,
            "search_nodes": lambda: {"query": self._query()},
            "open_nodes": lambda: {"names": self._some(self._name)},
        }

    def next(self) -> Json:
        """The next call; one of ten is wrong in some way."""
        name = self._random.choice(list(self._makers))
        params = {"name": name, "arguments": self._makers[name]()}
        return self._spoilt(params) if self._random.random() < 0.1 else params

    def _some(self, make: Callable[[], Any], most: int = 4) -> list[Any]:
        made = [make() for _ in range(self._random.randint(0, most))]
        if made and self._random.random() < 0.2:
            made.append(made[0])
        return made

    def _name(self) -> str:
        # Mostly names that are there already, sometimes one that never was.
        if self._random.random() < 0.1:
            return f"nobody {self._random.randint(0, 999)}"
        return self._random.choice(_NAMES)

    def _observation(self) -> str:
        if self._huge_left and self._random.random() < 0.01:
            self._huge_left -= 1
            return self._random.choice("xé🦉") * self._random.randint(60_000, 120_000)
        return f"{self._random.choice(_NAMES)} {self._random.randint(0, 3)}"

    def _entity(self) -> Json:
        observations = self._some(self._observation)
        made = {"name": self._name(), "entityType": self._random.choice(_KINDS), "observations": observations}
        return made | ({"more": observations} if self._random.random() < 0.1 else {})

    def _relation(self) -> Json:
        kind = self._random.choice(_RELATIONS)
        return {"relationType": kind, "to": self._name(), "from": self._name()}

    def _addition(self) -> Json:
        return {"entityName": self._name(), "contents": self._some(self._observation)}

    def _deletion(self) -> Json:
        return {"entityName": self._name(), "observations": self._some(self._observation)}

    def _query(self) -> str:
        whole = self._random.choice(_NAMES + _KINDS)
        query = whole[: self._random.randint(0, 6)]
        # Half of a pair is found by the reference within a whole one, by us only as a half.
        return "ort" if any("\ud800" <= sign <= "\udfff" for sign in query) else query.swapcase()

    def _spoilt(self, params: Json) -> Json:
        wrong = self._random.choice(_WRONG)
        field = _LIST_NAMES.get(params["name"], "unknown")
        match self._random.randint(0, 6):
            case 0:
                return {"name": params["name"]}
            case 1:
                return params | {"arguments": wrong}
            case 2:
                return params | {"name": self._random.choice(["no_such_tool", "", None, 5, "Read_Graph"])}
            case 3:
                return {"arguments": params["arguments"]}
            case 4:
                return params | {"arguments": {field: wrong}}
            case 5:
                return params | {"arguments": {field: [wrong, wrong]}}
        items = params["arguments"].get(field)
        if isinstance(items, list) and items and isinstance(items[0], dict):
            key = self._random.choice(list(items[0]))
            return params | {"arguments": {field: [items[0] | {key: wrong}, *items[1:]]}}
        return params | {"arguments": {}}

"""The host of a web address: as it is remembered, and as a person should read it.

Invariant: pure; an address that programs read in different ways has no host here. What is remembered is one
form of each host: names in lower case without a last dot, IPv6 addresses as RFC 5952 writes them.
"""

import re
import unicodedata
from ipaddress import AddressValueError, IPv6Address
from typing import Final

# RFC 1035, 2.3.4, as people write it: without the root's length byte.
LONGEST_HOST: Final = 253
_LONGEST_LABEL = 63
_NETWORK_PREFIX = "xn--"
_PLAIN_ADDRESS = re.compile(
    r"https?://(?:[^/?#@\\\s]*@)?(?:([a-z0-9-]+(?:\.[a-z0-9-]+)*\.?)|\[([0-9a-f:.]+)\])(?::[0-9]+)?(?:[/?#]\S*)?",
    re.IGNORECASE | re.ASCII,
)
_ANY_HOST = re.compile(
    r"https?://(?:[^/?#\\\s]*@)?([^/?#\\\s@:\[\]%]+)(?::[0-9]+)?(?:[/?#]|$)", re.IGNORECASE
)
# Scripts with letters that look like those of another one; the first words of their characters' names.
_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "FULLWIDTH"})


def host_in(address: str) -> str:
    """The host of an address, in the form that is remembered; empty if it is not plain, or too long for any
    name to be."""
    plain = _PLAIN_ADDRESS.fullmatch(address)
    if plain is None:
        return ""
    if plain[2] is not None:
        return _address_text(plain[2])
    name = plain[1].lower().rstrip(".")
    return "" if _is_too_long(name) else name


def host_named(words: str) -> str:
    """The host that a person names, by itself or in an address, as `host_in` gives it; empty if these words
    name none that it could ever give."""
    if words.lower().startswith(("http://", "https://")):
        return host_in(words)
    return _address_text(words) or host_in(f"http://{words}")


def has_too_long_host(address: str) -> bool:
    """True if no host can have the name in an address."""
    found = _ANY_HOST.match(address)
    return found is not None and _is_too_long(_in_network_letters(found[1].lower().rstrip(".")))


def words_on_host(address: str) -> str:
    """What a person should know of the host in an address: the other way to write a name that is not in plain
    letters, and that it mixes scripts. A sentence or two; empty for every other host."""
    found = _ANY_HOST.match(address)
    if found is None:
        return ""
    name = found[1].lower().rstrip(".")
    network, letters = _in_network_letters(name), _in_letters(name)
    if not any(label.startswith(_NETWORK_PREFIX) for label in network.split(".")):
        return ""
    if letters.isascii() or not all(_is_of_names(sign) for sign in letters):
        return f"Nobody can read what “{network}” stands for."
    words = f"“{letters}” is “{network}” to the network."
    scripts = sorted({script for label in letters.split(".") for script in _mixed_scripts(label)})
    if not scripts:
        return words
    return f"{words} It mixes letters that may look alike: {', '.join(scripts)}."


def _address_text(words: str) -> str:
    """An IPv6 address, in brackets or not, in its one form; empty if it is none."""
    try:
        address = IPv6Address(words[1:-1] if words.startswith("[") and words.endswith("]") else words)
    except AddressValueError:
        return ""
    if address.scope_id is not None:
        return ""  # it means another machine on each machine
    # Python wrote this form otherwise before 3.13, and what is remembered outlives that.
    return f"::ffff:{address.ipv4_mapped}" if address.ipv4_mapped is not None else address.compressed


def _is_too_long(name: str) -> bool:
    return len(name) > LONGEST_HOST or any(len(label) > _LONGEST_LABEL for label in name.split("."))


def _in_network_letters(name: str) -> str:
    """`xn--…` for each part that is not ASCII (RFC 3492); whether a registry would take it is not asked."""
    return ".".join(
        label if label.isascii() else _NETWORK_PREFIX + label.encode("punycode").decode("ascii")
        for label in name.split(".")
    )


def _in_letters(name: str) -> str:
    return ".".join(_label_in_letters(label) for label in name.split("."))


def _label_in_letters(label: str) -> str:
    if not label.startswith(_NETWORK_PREFIX) or len(label) > _LONGEST_LABEL:
        return label
    try:
        return label.removeprefix(_NETWORK_PREFIX).encode("ascii").decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        return label


def _is_of_names(sign: str) -> bool:
    """True for letters, marks and digits: nothing unseen, and nothing that turns the text around."""
    return sign in "-." or unicodedata.category(sign)[0] in "LMN"


def _mixed_scripts(label: str) -> set[str]:
    """The scripts that look alike in one part of a name, if there are several."""
    scripts = {
        unicodedata.name(sign, "").partition(" ")[0]
        for sign in label
        if unicodedata.category(sign).startswith("L")
    }
    mixed = scripts & _ALIKE
    return {script.capitalize() for script in mixed} if len(mixed) > 1 else set()

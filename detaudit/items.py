"""Lists in one line of text, whose items may hold brackets and quotes."""

from __future__ import annotations

from detaudit.errors import UsageError


def unquote(value: str) -> str:
    """Value without the quotes around all of it, which keep its commas and brackets together.

    Examples:
        >>> unquote('"a,b"'), unquote("a")
        ('a,b', 'a')

    """
    quoted = len(value) > 1 and value[0] == value[-1] == '"' and '"' not in value[1:-1]
    return value[1:-1] if quoted else value


def quote(value: str) -> str:
    """Value as it parses back, in quotes where it would fall apart without.

    Examples:
        >>> quote("a,b"), quote("a")
        ('"a,b"', 'a')

    """
    try:
        holds = not value or split(value, value) == [value]
    except UsageError:
        holds = False
    return value if holds else f'"{value}"'


def split(text: str, whole: str, known: str = "") -> list[str]:
    """Parts between the commas that stand outside brackets, braces and quotes.

    Args:
        text: the list
        whole: what the user wrote, for messages
        known: what to remind of where a part is empty

    Raises:
        UsageError: if brackets or quotes do not match, or a part is empty

    Examples:
        >>> split("cpu,cuda:0[a=1,b=2]", "")
        ['cpu', 'cuda:0[a=1,b=2]']

    """
    parts, depth, quoted, start = [], 0, False, 0
    for position, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
        if depth < 0:
            break
    if depth != 0 or quoted:
        raise UsageError(f"brackets or quotes do not match in '{whole}'")
    parts.append(text[start:])
    stripped = [part.strip() for part in parts]
    if stripped == [""]:
        return []
    if "" in stripped:
        raise UsageError(f"an item is empty in '{whole}'" + (f"; {known}" if known else ""))
    return stripped

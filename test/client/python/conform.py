"""Checks recorded answers against the types of the Python client, after its decoding. Prints a line for each fault."""

import json
import sys
import types as builtin
import typing
from decimal import Decimal

from fathom_client import _client, types
from fathom_client._core import decode

KNOWN = vars(types)


def fault(value, wanted, at):
    """The first place where a value does not have the type; None when it has it."""
    if isinstance(wanted, (str, typing.ForwardRef)):
        name = wanted if isinstance(wanted, str) else wanted.__forward_arg__
        return fault(value, eval(name, KNOWN), at)
    origin = typing.get_origin(wanted)
    arguments = typing.get_args(wanted)
    if wanted is typing.Any:
        return None
    if origin in (typing.Union, builtin.UnionType):
        faults = [fault(value, each, at) for each in arguments]
        return None if None in faults else faults[0]
    if origin is typing.Literal:
        return None if value in arguments else f"{at}: {value!r} is none of {arguments}"
    if origin is list:
        if not isinstance(value, list):
            return f"{at}: {value!r} is no list"
        return next((f for n, each in enumerate(value) if (f := fault(each, arguments[0], f"{at}.{n}"))), None)
    if origin is dict:
        if not isinstance(value, dict):
            return f"{at}: {value!r} is no dict"
        return next((f for k, each in value.items() if (f := fault(each, arguments[1], f"{at}.{k}"))), None)
    if typing.is_typeddict(wanted):
        if not isinstance(value, dict):
            return f"{at}: {value!r} is no {wanted.__name__}"
        hints = typing.get_type_hints(wanted, KNOWN)
        missing = wanted.__required_keys__ - value.keys()
        if missing:
            return f"{at}: {sorted(missing)} missing"
        unknown = value.keys() - hints.keys()
        if unknown:
            return f"{at}: {sorted(unknown)} unknown"
        return next((f for k, each in value.items() if (f := fault(each, hints[k], f"{at}.{k}"))), None)
    if wanted is type(None) or wanted is None:
        return None if value is None else f"{at}: {value!r} is not None"
    if wanted is float:
        return None if isinstance(value, (int, float)) and not isinstance(value, bool) else f"{at}: {value!r} is no number"
    if wanted is int:
        return None if isinstance(value, int) and not isinstance(value, bool) else f"{at}: {value!r} is no int"
    if wanted in (str, bool, Decimal):
        return None if isinstance(value, wanted) else f"{at}: {value!r} is no {wanted.__name__}"
    return f"{at}: the check knows no {wanted!r}"


class Recorded:
    """Stands for the service: answers every call with the recorded example."""

    def __init__(self, examples):
        self.examples = examples
        self.count = 0

    def call(self, method, path, *, shape=None, shapes, **_):
        self.count += 1
        answer = self.examples[f"{method} {path}"]
        return answer if shape is None else decode(answer, shape, shapes)

    def stream(self, *_, **__):
        raise KeyError


examples = {}
for path, methods in json.load(open(sys.argv[1]))["paths"].items():
    for method, operation in methods.items():
        for status, response in operation["responses"].items():
            content = response.get("content", {}).get("application/json", {})
            if status.startswith("2") and "example" in content:
                examples[f"{method.upper()} {path}"] = content["example"]

recorded = Recorded(examples)
for name, group in list(vars(_client).items()):
    if isinstance(group, type) and name.endswith("Calls"):
        for method, function in vars(group).items():
            if method.startswith("__"):
                continue
            hints = typing.get_type_hints(function, vars(_client))
            wanted = hints.pop("return")
            try:
                answer = getattr(group(recorded), method)(**{argument: None for argument in hints})
            except KeyError:
                continue
            found = fault(answer, wanted, f"{name}.{method}")
            if found:
                print(found)
print(f"{recorded.count} calls, {len(examples)} examples")

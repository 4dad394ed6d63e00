# SPDX-License-Identifier: Apache-2.0
"""What a client written for one OpenRPC document would notice of another.

The rules are those of PROTOCOL.md, section "Versions". What a client sends has to be taken as before,
and what it is sent has to be what it knows: so one schema has to allow all that another one does, the
new one for what is read, the old one for what is written.
"""

TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
# What says nothing about which values are allowed.
NOTES = {"title", "description", "examples", "x-open"}
LEAST = ["minimum", "minLength", "minItems", "minProperties"]
MOST = ["maximum", "maxLength", "maxItems", "maxProperties"]


def breaches(old, new):
    """All that breaks a client of the old document, a sentence each."""
    return Comparison(old, new).run()


class Comparison:
    def __init__(self, old, new):
        self.old, self.new = old, new
        self.found = []

    def run(self):
        new_methods = {method["name"]: method for method in self.new["methods"]}
        for method in self.old["methods"]:
            self.method(method["name"], method, new_methods.get(method["name"]))
        for name, store in self.old["x-stores"].items():
            self.store(f"store {name}", store, self.new["x-stores"].get(name))
        self.errors()
        return self.found

    def breach(self, place, what):
        self.found.append(f"{place}: {what}")

    def method(self, name, old, new):
        if new is None:
            return self.breach(name, "is gone")
        if old["x-sender"] != new["x-sender"]:
            return self.breach(name, "is sent by the other side")
        if new.get("x-for-tests") and not old.get("x-for-tests"):
            self.breach(name, "is there in tests only")
        is_read = old["x-sender"] == "client"
        nothing = {"type": "object"}
        pair = old.get("x-params", nothing), new.get("x-params", nothing)
        self.compare(f"{name}, params", *pair, is_read=is_read)
        if "result" in old and "result" not in new:
            return self.breach(name, "is not answered any more")
        if "result" in old:
            pair = old["result"]["schema"], new["result"]["schema"]
            self.compare(f"{name}, result", *pair, is_read=False)

    def store(self, name, old, new):
        if new is None:
            return self.breach(name, "is gone")
        for part, is_read in [
            ("config", True), ("input", True), ("viewState", False), ("event", False)
        ]:
            if part in old and part not in new:
                self.breach(f"{name}, {part}", "is gone")
            elif part in old:
                self.compare(f"{name}, {part}", old[part], new[part], is_read)

    def errors(self):
        new = self.new["components"]["errors"]
        for name, error in self.old["components"]["errors"].items():
            if new.get(name, {}).get("code") != error["code"]:
                self.breach(f"error {error['code']}", f"is not {name} any more")
            elif name in self.old["x-error-data"]:
                if name not in self.new["x-error-data"]:
                    self.breach(f"error {error['code']}, data", "is gone")
                    continue
                pair = self.old["x-error-data"][name], self.new["x-error-data"][name]
                self.compare(f"error {error['code']}, data", *pair, is_read=False)

    def compare(self, place, old, new, is_read):
        if is_read:
            wide, narrow = (self.new, new), (self.old, old)
        else:
            wide, narrow = (self.old, old), (self.new, new)
        self.found += Allowing(is_read).breaches(wide, narrow, place)


class Allowing:
    """Whether one schema, the wide one, allows all that another, the narrow one, does.

    A schema goes with its document, in which its references lead somewhere.
    """

    def __init__(self, is_wide_new):
        self.is_wide_new = is_wide_new
        # Pairs of references that are being compared: schemas that contain themselves.
        self.seen = set()

    def breaches(self, wide, narrow, place):
        key = (wide[1].get("$ref"), narrow[1].get("$ref"))
        if all(key):
            if key in self.seen:
                return []
            self.seen.add(key)
        (wide_document, wide), (narrow_document, narrow) = resolved(*wide), resolved(*narrow)
        if not set(wide) - NOTES:
            return []
        if "oneOf" in narrow or "anyOf" in narrow:
            return self.each_case(wide_document, wide, narrow_document, narrow, place)
        if isinstance(narrow.get("type"), list):
            found = []
            for kind in narrow["type"]:
                one = {**narrow, "type": kind}
                found += self.breaches((wide_document, wide), (narrow_document, one), place)
            return found
        if isinstance(wide.get("type"), list):
            wide = {
                "anyOf": [{**wide, "type": kind} for kind in wide["type"]], "title": wide.get("title")
            }
        for key in ("oneOf", "anyOf"):
            if key in wide:
                return self.some_case(wide_document, wide[key], narrow_document, narrow, place)
        return self.value(wide, narrow, place) or self.parts(
            wide_document, wide, narrow_document, narrow, place)

    def each_case(self, wide_document, wide, narrow_document, narrow, place):
        found = []
        for case in cases(narrow):
            named = name(resolved(narrow_document, case)[1])
            inner = f"{place}, {named}" if named else place
            found += self.breaches((wide_document, wide), (narrow_document, case), inner)
        if not self.is_wide_new:
            # What was sent need not be sent any more, but its name has to stay what it was.
            known = {name(resolved(narrow_document, case)[1]) for case in cases(narrow)}
            for case in cases(wide):
                named = name(resolved(wide_document, case)[1])
                if named and named not in known:
                    found.append(f"{place}: there is no {named} any more")
        return found

    def some_case(self, wide_document, cases_of_wide, narrow_document, narrow, place):
        best = None
        for case in cases_of_wide:
            seen = set(self.seen)
            found = self.breaches((wide_document, case), (narrow_document, narrow), place)
            if not found:
                return []
            self.seen = seen
            # The case of the same name tells best what is wrong.
            same = name(resolved(wide_document, case)[1]) == name(narrow)
            if best is None or same:
                best = found
        if name(narrow) and name(narrow) not in [
            name(resolved(wide_document, case)[1]) for case in cases_of_wide
        ]:
            return [f"{place}: " + self.words("is gone", "is new, and older clients do not know it")]
        return best or [f"{place}: no case is allowed"]

    def value(self, wide, narrow, place):
        """What can be said of a value without looking into it."""
        found = []

        def breach(what):
            found.append(f"{place}: {what}")

        kinds = wide.get("type"), narrow.get("type")
        if kinds[0] and kinds[0] != kinds[1] and kinds != ("number", "integer"):
            sides = (kinds[1], kinds[0]) if self.is_wide_new else kinds
            return [f"{place}: was {sides[0] or 'anything'}, is {sides[1] or 'anything'}"]
        allowed, given = values(wide), values(narrow)
        if allowed is not None and not (wide.get("x-open") and not self.is_wide_new):
            for one in given if given is not None else []:
                if one not in allowed:
                    breach(f"{one!r} " + self.words("is gone", "is new"))
            if given is None:
                breach(self.words("is one of a list now", "is not one of a list any more"))
        if given is not None and not self.is_wide_new:
            for one in allowed or []:
                if one not in given:
                    breach(f"{one!r} is gone")
        for key in LEAST:
            if key in wide and (key not in narrow or narrow[key] < wide[key]):
                breach(self.words(f"{key} is higher", f"{key} is lower"))
        for key in MOST:
            if key in wide and (key not in narrow or narrow[key] > wide[key]):
                breach(self.words(f"{key} is lower", f"{key} is higher"))
        if "pattern" in wide and wide["pattern"] != narrow.get("pattern"):
            breach("has another pattern")
        return found

    def parts(self, wide_document, wide, narrow_document, narrow, place):
        """What can be said of the elements of an array, or the members of an object."""
        found = []

        def compare(one, other, inner):
            found.extend(self.breaches((wide_document, one), (narrow_document, other), inner))

        if "items" in wide:
            compare(wide["items"], narrow.get("items", {}), f"{place}[]")
        of_wide, of_narrow = wide.get("properties", {}), narrow.get("properties", {})
        gone = (set(of_narrow) - set(of_wide)) if self.is_wide_new else (set(of_wide) - set(of_narrow))
        found += [f"{place}.{member}: is gone" for member in sorted(gone)]
        for member in of_wide:
            if member in of_narrow:
                compare(of_wide[member], of_narrow[member], f"{place}.{member}")
        for member in wide.get("required", []):
            if member not in narrow.get("required", []) and member not in gone:
                what = self.words("has to be given now", "is not always there any more")
                found.append(f"{place}.{member}: {what}")
        more = wide.get("additionalProperties", {})
        if set(more) - NOTES:
            compare(more, narrow.get("additionalProperties", {}), f"{place}.*")
        return found

    def words(self, of_what_is_read, of_what_is_written):
        return of_what_is_read if self.is_wide_new else of_what_is_written


def resolved(document, schema):
    """What a schema stands for, and its document."""
    while True:
        if "$ref" in schema:
            target = document
            for part in schema["$ref"].split("/")[1:]:
                target = target[part]
            schema = target
        elif len(schema.get("allOf", [])) == 1:
            schema = {**{k: v for k, v in schema.items() if k != "allOf"}, **schema["allOf"][0]}
        else:
            return document, schema


def cases(schema):
    return schema.get("oneOf") or schema.get("anyOf") or []


def values(schema):
    if "const" in schema:
        return [schema["const"]]
    return schema.get("enum")


def name(schema):
    """The case that a schema is of an enum with payloads, if it is one."""
    for member in schema.get("properties", {}).values():
        if "const" in member:
            return member["const"]
    return None

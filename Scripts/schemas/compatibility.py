# SPDX-License-Identifier: Apache-2.0
"""Finds the changes of an OpenRPC document that break clients of an older one.

The rules are in PROTOCOL.md, section "Versions". The server must accept everything that an old client
sends, and send only what an old client knows. Therefore one schema must allow all values of another one:
for data that the server reads, the new schema; for data that it writes, the old one.
"""

TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
# Keywords that do not restrict the values.
NOTES = {"title", "description", "examples", "x-open"}
LEAST = ["minimum", "minLength", "minItems", "minProperties"]
MOST = ["maximum", "maxLength", "maxItems", "maxProperties"]


def breaches(old, new):
    """Returns one sentence for each change that breaks a client of the old document."""
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
            return self.breach(name, "is removed")
        if old["x-sender"] != new["x-sender"]:
            return self.breach(name, "has another sender")
        if new.get("x-for-tests") and not old.get("x-for-tests"):
            self.breach(name, "is for tests only")
        is_read = old["x-sender"] == "client"
        nothing = {"type": "object"}
        pair = old.get("x-params", nothing), new.get("x-params", nothing)
        self.compare(f"{name}, params", *pair, is_read=is_read)
        if "result" in old and "result" not in new:
            return self.breach(name, "has no response any more")
        if "result" in old:
            pair = old["result"]["schema"], new["result"]["schema"]
            self.compare(f"{name}, result", *pair, is_read=False)

    def store(self, name, old, new):
        if new is None:
            return self.breach(name, "is removed")
        for part, is_read in [
            ("config", True), ("input", True), ("viewState", False), ("event", False)
        ]:
            if part in old and part not in new:
                self.breach(f"{name}, {part}", "is removed")
            elif part in old:
                self.compare(f"{name}, {part}", old[part], new[part], is_read)

    def errors(self):
        new = self.new["components"]["errors"]
        for name, error in self.old["components"]["errors"].items():
            if new.get(name, {}).get("code") != error["code"]:
                self.breach(f"error {error['code']}", f"is not {name} any more")
            elif name in self.old["x-error-data"]:
                if name not in self.new["x-error-data"]:
                    self.breach(f"error {error['code']}, data", "is removed")
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
    """Checks that one schema, the wide one, allows all values of another, the narrow one.

    A schema is a pair with its document, which resolves its references.
    """

    def __init__(self, is_wide_new):
        self.is_wide_new = is_wide_new
        # The pairs of references in comparison, for schemas that contain themselves.
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
            # The server need not send a case any more, but the name of the case must remain defined.
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
            # The case with the same name gives the best message.
            same = name(resolved(wide_document, case)[1]) == name(narrow)
            if best is None or same:
                best = found
        if name(narrow) and name(narrow) not in [
            name(resolved(wide_document, case)[1]) for case in cases_of_wide
        ]:
            return [f"{place}: " + self.words("is removed", "is new, and older clients do not know it")]
        return best or [f"{place}: no case is allowed"]

    def value(self, wide, narrow, place):
        """Compares the keywords for a value without its parts."""
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
                    breach(f"{one!r} " + self.words("is removed", "is new"))
            if given is None:
                breach(self.words("is restricted to a list now", "is not restricted to a list any more"))
        if given is not None and not self.is_wide_new:
            for one in allowed or []:
                if one not in given:
                    breach(f"{one!r} is removed")
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
        """Compares the elements of an array, or the members of an object."""
        found = []

        def compare(one, other, inner):
            found.extend(self.breaches((wide_document, one), (narrow_document, other), inner))

        if "items" in wide:
            compare(wide["items"], narrow.get("items", {}), f"{place}[]")
        of_wide, of_narrow = wide.get("properties", {}), narrow.get("properties", {})
        gone = (set(of_narrow) - set(of_wide)) if self.is_wide_new else (set(of_wide) - set(of_narrow))
        found += [f"{place}.{member}: is removed" for member in sorted(gone)]
        for member in of_wide:
            if member in of_narrow:
                compare(of_wide[member], of_narrow[member], f"{place}.{member}")
        for member in wide.get("required", []):
            if member not in narrow.get("required", []) and member not in gone:
                what = self.words("is required now", "is optional now")
                found.append(f"{place}.{member}: {what}")
        more = wide.get("additionalProperties", {})
        if set(more) - NOTES:
            compare(more, narrow.get("additionalProperties", {}), f"{place}.*")
        return found

    def words(self, of_what_is_read, of_what_is_written):
        return of_what_is_read if self.is_wide_new else of_what_is_written


def resolved(document, schema):
    """Resolves references and a single `allOf`; returns the document and the schema."""
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
    """Returns the case name if the schema is a case of an enum with payloads; otherwise None."""
    for member in schema.get("properties", {}).values():
        if "const" in member:
            return member["const"]
    return None

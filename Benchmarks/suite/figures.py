# SPDX-License-Identifier: Apache-2.0
"""The figures: a name, a value for each round, and optionally a rule."""

import statistics


class Figure:
    def __init__(self, name, unit, most, least):
        self.name, self.unit, self.most, self.least = name, unit, most, least
        self.values = []

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def holds(self):
        """True if the median meets the rule; None without a rule."""
        if self.most is None and self.least is None:
            return None
        return not ((self.most is not None and self.median > self.most)
                    or (self.least is not None and self.median < self.least))

    def rule(self):
        if self.most is not None:
            return f"at most {number(self.most)}"
        return f"at least {number(self.least)}" if self.least is not None else ""

    def as_json(self):
        return {"name": self.name, "unit": self.unit, "median": self.median, "values": self.values,
                "most": self.most, "least": self.least}


class Figures:
    """The figures in the order in which they were first added."""

    def __init__(self):
        self.by_name = {}

    def add(self, name, value, unit="", most=None, least=None):
        figure = self.by_name.setdefault(name, Figure(name, unit, most, least))
        figure.values.append(value)

    @classmethod
    def from_json(cls, results):
        """Returns the figures of a results file."""
        figures = cls()
        for figure in results:
            for value in figure["values"]:
                figures.add(figure["name"], value, figure["unit"], figure["most"], figure["least"])
        return figures

    def __iter__(self):
        return iter(self.by_name.values())

    def to_keep(self):
        """Returns the ratios and the figures with a rule."""
        chosen = Figures()
        chosen.by_name = {figure.name: figure for figure in self
                          if figure.holds is not None or figure.unit == "×"}
        return chosen

    def table(self):
        """Returns a Markdown table."""
        lines = ["| figure | median | lowest to highest | rule | |", "|---|---:|---|---|---|"]
        for figure in self:
            verdict = {None: "", True: "met", False: "**not met**"}[figure.holds]
            values = f"{number(min(figure.values))} to {number(max(figure.values))}"
            lines.append(f"| {figure.name} | {with_unit(figure.median, figure.unit)} | {values} |"
                         f" {figure.rule()} | {verdict} |")
        return "\n".join(lines)


def number(value):
    """Returns the number with about three significant digits."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2}f}"


def with_unit(value, unit):
    return f"{number(value)} {unit}".strip()

"""How a field check says no, and how the path to the field grows on the way out."""


class FieldRefused(Exception):
    """A field breaks a rule.

    `path` is the dotted path from the message judged, `problem` the rule in words that complete "the field ...",
    `of_object` whether the object is at fault (invalid_object) or the request (invalid_request). The refused value is
    never part of it.
    """

    def __init__(self, problem: str, path: str = "", of_object: bool = False) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = path
        self.of_object = of_object

    def within(self, outer: str) -> "FieldRefused":
        """Returns the refusal as seen from the message or list around it; `outer` is a field's name or `[index]`."""
        joint = "." if self.path and not self.path.startswith("[") else ""
        return FieldRefused(self.problem, f"{outer}{joint}{self.path}", self.of_object)

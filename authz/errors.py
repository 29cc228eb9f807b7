"""What the package refuses: configuration, facts that cannot be, and tokens.

A denial is not an error: it is a value (decision.py).
"""


class AuthorizationError(Exception):
    """An authorization input was refused."""


class InvalidFacts(AuthorizationError):
    """Stored authority facts are not what the model can hold; the workspace is refused rather than misread."""

    def __init__(self, fact_id: str, problem: str) -> None:
        super().__init__(f"{fact_id}: {problem}")
        self.fact_id = fact_id
        self.problem = problem


class MismatchedWorkspace(AuthorizationError):
    """A request of one workspace was handed to the enforcer of another."""

    def __init__(self, requested: tuple[str, str], enforced: tuple[str, str]) -> None:
        super().__init__(f"request for {requested}, enforcer of {enforced}")
        self.requested = requested
        self.enforced = enforced


class InvalidActorName(AuthorizationError):
    """A subject cannot be written as an actor id."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class InvalidIssuerConfig(AuthorizationError):
    """A token issuer is configured in a way that would accept what it must not."""

    def __init__(self, issuer: str, setting: str, problem: str) -> None:
        super().__init__(f"issuer {issuer!r}: {setting}: {problem}")
        self.issuer = issuer
        self.setting = setting
        self.problem = problem


class InvalidToken(AuthorizationError):
    """The credential proves nothing. `reason` is for the log and the metric; the caller learns UNAUTHENTICATED only."""

    reason = "INVALID_TOKEN"

    def __init__(self, detail: str = "") -> None:
        super().__init__(f"{self.reason}: {detail}" if detail else self.reason)
        self.detail = detail


class MalformedToken(InvalidToken):
    """The token is not a compact JWS of a JSON object with the claims that are required."""

    reason = "MALFORMED"


class TokenTooLarge(InvalidToken):
    """The token is longer than the verifier reads."""

    reason = "TOO_LARGE"


class UnknownIssuer(InvalidToken):
    """The issuer is not registered."""

    reason = "UNKNOWN_ISSUER"


class AlgorithmNotAllowed(InvalidToken):
    """The algorithm is not on the issuer's list, or the key is of another kind."""

    reason = "ALGORITHM_NOT_ALLOWED"


class UnknownKey(InvalidToken):
    """The issuer publishes no key of this id."""

    reason = "UNKNOWN_KEY"


class BadSignature(InvalidToken):
    """The signature does not verify."""

    reason = "BAD_SIGNATURE"


class WrongAudience(InvalidToken):
    """The token is meant for another service."""

    reason = "WRONG_AUDIENCE"


class TokenExpired(InvalidToken):
    """The token's time is over, the leeway included."""

    reason = "EXPIRED"


class TokenNotYetValid(InvalidToken):
    """The token's time has not come, the leeway included."""

    reason = "NOT_YET_VALID"


class TenantNotAllowed(InvalidToken):
    """The issuer is not registered for the tenant it names."""

    reason = "TENANT_NOT_ALLOWED"


class UnusableSubject(InvalidToken):
    """The subject, or whom it acts for, cannot be written as an actor id."""

    reason = "UNUSABLE_SUBJECT"

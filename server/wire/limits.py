"""The limits of what a request may hold; every one is a setting (surface.md, section 1)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Most that one request may hold, where its field has no smaller rule of its own.

    `content_bytes_max` bounds a JSON content and any other bytes value, `json_depth_max` how deep arrays and objects
    nest, `text_bytes_max` a string in UTF-8, `list_items_max` the items of a list.
    """

    content_bytes_max: int = 1_048_576
    json_depth_max: int = 64
    text_bytes_max: int = 2048
    list_items_max: int = 1000

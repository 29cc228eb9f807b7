"""Pure values of the domain: states, identifiers, versions, grants, events and policy. Standard library only."""

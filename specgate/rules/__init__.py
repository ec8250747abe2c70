"""The rule language: a small, closed, three-valued subset of Python's expression grammar.

`parse` checks an expression against the names it may use, `evaluate` answers it in strict Kleene logic, `explain` says
why, and `compile` turns an operator's rules into one straight-line function (`translate` rewrites their trees for it).
``specs/logic.yaml`` pins the logic.
"""

"""The rule language: a closed three-valued subset of Python expressions.

`parse` checks an expression against the names in scope, `evaluate` computes it in strong Kleene logic, and `explain`
gives the reasons. `compile` turns an operator's rules into one straight-line function (`translate` rewrites their trees
for it). ``specs/logic.yaml`` specifies the logic.
"""

"""The public functions, one module per category of the array API standard.

Lazy ones check their arguments (`arguments`) and call the builders of ``ir``: `elementwise`, made
by `ufuncs` from the op table, `composed`, `reducers` and what is made of them (`means`, `norms`,
`statistics`), `manipulation`, `joining`, `splitting`, `rearranging`, `diagonals`.  `groups` says
what a reducer folds, of arrays; `jagged` says it of jagged ones.  What NumPy computes is made by
`computed` of a function of arrays, or by `of_numpy` of a page without a body (`bits`, `curves`,
`distributions`, `polynomials`, `selecting`).  `partials` makes functions of one that they share;
`copied` computes at once what a loop would have planned again and again.  Only the facade and what
stands above import it.  No function here touches memory that a container would not.
"""

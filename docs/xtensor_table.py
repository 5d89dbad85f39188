"""Write the page for users of xtensor: every feature, how it is spelled here, and what differs.

The page stands in the repository (``docs/from_xtensor.md``) and is made of `ROWS`, the one table of
xtensor's features.  A row's check is Python that runs as a test (``tests/test_from_xtensor.py``,
which writes the page again with ``--regenerate-golden``).  A row without a spelling here says why,
and its check shows what there is instead.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One feature: xtensor's spelling, ours, a check that runs, and what differs on purpose."""

    xtensor: str
    here: str
    check: str
    differs: str = ""


#: What the checks may use; made anew for each.
SETUP = """
import io, pickle
import numpy as np
import xarraylite as xl
a = xl.asarray(np.arange(24.0).reshape(3, 2, 4))
A = np.arange(24.0).reshape(3, 2, 4)
m = xl.asarray([[4.0, 1.0], [2.0, 3.0]])
v = xl.asarray([3.0, -1.0, 2.0])
def same(x, y):
    np.testing.assert_allclose(np.asarray(x), y, rtol=1e-14)
def refused(error, call):
    try:
        call()
    except error:
        return
    raise AssertionError("not refused")
def as_numpy(names, *operands, **options):
    theirs = [np.asarray(x) if isinstance(x, xl.XExpression) else x for x in operands]
    for name in names.split():
        same(getattr(xl, name)(*operands, **options), getattr(np, name)(*theirs, **options))
"""

Rows = tuple[Row, ...]

CONTAINERS: Rows = (
    Row(
        "`xarray<T, L>`",
        "`xl.XArray(values, dtype, layout)`",
        "assert xl.XArray([1, 3, 4]).tolist() == [1, 3, 4]",
        "takes values, never a shape; there is no default constructor",
    ),
    Row(
        "`xtensor<T, N, L>`",
        "`xl.XTensor[dtype, ndim, layout]`",
        "t = xl.XTensor[xl.float64, 3, 'row_major'](shape=(2, 3, 4)); assert t.rank == 3\n"
        "assert type(xl.eval(t + t)) is xl.XTensor\nrefused(xl.ShapeError, lambda: t.assign(v))\n"
        "assert xl.XTensor(m).shape is xl.XTensor(m + 1).shape",
        "refuses another rank; as fast as `XArray`",
    ),
    Row(
        "`xtensor_fixed<T, xshape<…>>`",
        "`xl.XTensorFixed[dtype, shape]`",
        "f = xl.XTensorFixed[xl.float64, (2, 2)](m)\n"
        "assert type(xl.eval(f * 2)) is type(f)\nrefused(xl.ShapeError, lambda: f.assign(v))\n"
        "g = xl.XTensorFixed[xl.float64, (2, 2)](m); assert g.shape is f.shape",
        "hardly faster than `XArray`: kernels know ranks and strides of all containers",
    ),
    Row(
        "promotion of shapes (`has_fixed_rank_t`, `get_rank`)",
        "`e.rank`, `e.has_fixed_rank`, `e.has_fixed_shape`",
        "t = xl.XTensor(m); assert (t + t).has_fixed_rank and not (t + m).has_fixed_rank\n"
        "assert type(t @ t) is type(xl.sort(t)) is xl.XTensor and type(t @ m) is xl.XArray\n"
        "row, column = (xl.XTensorFixed[xl.int8, s](shape=s) for s in ((1, 2), (3, 1)))\n"
        "assert type(xl.eval(row + column)) is xl.XTensorFixed[xl.int8, (3, 2)]",
        "views and reducers of fixed shapes have a fixed rank",
    ),
    Row(
        "`XTENSOR_DEFAULT_LAYOUT`",
        "`xl.config(default_layout=…)`",
        "with xl.config(default_layout='column_major'):\n    assert xl.zeros((2, "
        "3)).strides == (1, 2)",
        "results of expressions follow their operands",
    ),
    Row(
        "`adapt`, `xarray_adaptor`, `xtensor_view`",
        "`xl.adapt(buffer, shape, strides=…)`",
        "b = bytearray(8); xl.adapt(b, (2, 4), dtype='uint8')[1] = 7; assert b[4] == 7",
        "bounds are proven first; the memory's owner is kept alive",
    ),
    Row(
        "`reset_buffer`, `reset_data`",
        "`xl.rebind(a, buffer)`",
        "x = xl.adapt(np.zeros(2)); xl.rebind(x, np.ones(2)); assert x.tolist() == [1, 1]",
    ),
    Row(
        "`xscalar`", "Python's numbers, arrays of rank 0", "assert float(xl.asarray(2.0) + 1) == 3"
    ),
    Row(
        "`tracking_allocator`",
        "`xl.testing.count_allocations()`",
        "with xl.testing.count_allocations() as c:\n    a += a\nassert c.temporaries == 0",
    ),
    Row(
        "`uvector`, `svector`, `xbuffer_adaptor`",
        "",
        "assert a.shape == tuple(a.shape) and a.buffer.nbytes == 192",
        "memory is NumPy's or ours, shapes are tuples",
    ),
    Row(
        "elements that are time points, strings or tensors",
        "`xl.adapt(dates.view('int64'))`",
        "d = np.array(['2026-11-30'], 'datetime64[D]'); x = xl.adapt(d.view('int64'))\n"
        "refused(TypeError, lambda: xl.XArray(d)); x += 7; assert xl.asarray(d).dtype == d.dtype\n"
        "assert d.tolist()[0].isoformat() == '2026-12-07'",
        "elements of containers are numbers; `xl.asarray` leaves others to NumPy",
    ),
    Row("`a.resize(shape)`", "`a.resize_(shape)`", "assert a.resize_((4, 6)).shape == (4, 6)"),
    Row(
        "`adapt_smart_ptr`, `xarray_pointer`",
        "`xl.adapt(owner, …)`",
        "import gc\nx = xl.adapt(np.arange(3.0)); gc.collect(); same(x, [0, 1, 2])",
        "whoever owns the memory is kept alive",
    ),
    Row(
        "`a.reshape(shape)` in place",
        "`a.reshape_(shape)`; `xl.reshape` is a view",
        "assert a.reshape_((6, -1)).shape == (6, 4)",
    ),
    Row("`a.fill(v)`", "`a.fill(v)`, `a[...] = v`", "a.fill(2); assert float(xl.sum(a)) == 48"),
    Row(
        "`strides()`, `backstrides()`, `data_offset()`, `storage()`, `layout()`, `is_contiguous()`",
        "`strides`, `backstrides`, `offset`, `buffer`, `layout`, `is_contiguous()`",
        "assert a.strides == (8, 4, 1) and a.backstrides == (16, 4, 3) and a[1].offset == 8\n"
        "assert a[:1].strides == (8, 4, 1)",
        "dimensions of extent 1 keep their strides, where xtensor's internal ones are 0",
    ),
)

EXPRESSIONS: Rows = (
    Row(
        "`xfunction`, operators",
        "operators and functions, lazy",
        "e = a + xl.sin(a); assert type(e) is xl.XExpression; same(e, A + np.sin(A))",
        "an expression keeps the values it was written with; `xl.late(e)` reads anew, as "
        "closures do",
    ),
    Row(
        "`eval(e)`, `e.eval()`",
        "`xl.eval(e)`",
        "assert xl.eval(a) is a; assert type(xl.eval(a + 1)) is xl.XArray",
    ),
    Row(
        "`as_strided<L>(e)`, `has_same_layout`",
        "`xl.eval(e, layout=…)`, `x.to_layout(…)`",
        "assert xl.eval(a + 1, layout='column_major').strides == (1, 3, 6)",
    ),
    Row(
        "`evaluation_strategy::lazy`, `immediate`",
        "`xl.sum(e)`, `xl.eval(xl.sum(e))`",
        "assert type(xl.sum(a)) is xl.XExpression and type(xl.eval(xl.sum(a))) is xl.XArray",
        "one way to force, per call: `xl.eval`; a reducer inside an expression is computed once; "
        "accumulators run at once, as there",
    ),
    Row(
        "`make_xshared`, `share`",
        "automatic",
        "e = a * 2; same(e + e, A * 4)",
        "parts that are shared are computed once",
    ),
    Row(
        "`vectorize(f)`, `make_lambda_xfunction`",
        "`xl.vectorize(f)`",
        "f = xl.vectorize(lambda x: x * x + 1.0); same(f(a), A * A + 1)",
    ),
    Row("`cast<T>(e)`", "`xl.astype(e, dtype)`", "assert xl.astype(a, 'int8').dtype == xl.int8"),
    Row(
        "`broadcast(e, shape)`",
        "`xl.broadcast_to(e, shape)`",
        "same(xl.broadcast_to(v, (2, 3)), [[3, -1, 2]] * 2)\n"
        "assert xl.broadcast_to(v, (2, 3)).readonly",
        "it cannot be written, in either",
    ),
    Row(
        "`xt::xexpression<D>`, concepts",
        "`xl.XExpression`",
        "assert isinstance(a, xl.XExpression) and isinstance(a + 1, xl.XExpression)",
    ),
    Row(
        "`xexpression_holder`, `has_assign_to`, expression tags",
        "",
        "assert type(a + 1) is type(xl.sin(v)) is type(m.astype('int8') << 2)",
        "types are erased already; how a node is assigned is the planner's",
    ),
    Row(
        "`operator==` of expressions",
        "`xl.array_equal(a, b)`",
        "assert xl.array_equal(a, a.copy()); assert (a == a).shape == a.shape",
        "`a == b` is element by element",
    ),
    Row(
        "`noalias(a) = e`",
        "`xl.noalias(a)[...] = e`, `.assign(e)`",
        "xl.noalias(a)[...] = a * 2; same(a, A * 2)",
    ),
    Row(
        "`noalias(a) += e` that grows",
        "`xl.noalias(a).assign(a + e)`",
        "x = xl.ones((1, 3)); refused(xl.BroadcastError, lambda: "
        "xl.noalias(x).__iadd__(xl.ones((2, 3))))\n"
        "assert xl.noalias(x).assign(x + xl.ones((2, 3))).shape == (2, 3)",
        "`+=` never grows, as in NumPy: a sum that silently takes another shape is a mistake more "
        "often than not",
    ),
    Row(
        "`c = e` of another shape",
        "`c.assign(e)`",
        "c = xl.zeros(4); c.assign(xl.ones((2, 4)) + c); assert c.shape == (2, 4)",
    ),
    Row(
        "`c = 1.2` of a container",
        "`c.assign(1.2)`; `c[...] = 1.2` fills",
        "c = xl.zeros((2, 3)); assert c.assign(1.2).shape == ()",
    ),
    Row(
        "`view(c, …) = e`",
        "`c[…] = e`",
        "a[:, 1] = v[:, None]; assert a[2, 1, 3] == 2",
        "leading dimensions of extent 1 of `e` are dropped, as in NumPy",
    ),
    Row(
        "elements converted on assignment",
        "NumPy's rule",
        "x = xl.zeros(2, dtype='int8'); x[...] = v[:2] + 0.5; assert x.tolist() == [3, 0]\n"
        "refused(xl.CastError, lambda: x.__iadd__(0.5))",
        "`c[...] = e` converts as `static_cast` does, `c += e` only within the same kind",
    ),
    Row(
        "shapes that do not fit",
        "an error when the expression is written",
        "refused(xl.BroadcastError, lambda: a + xl.ones(5))",
        "it names both shapes; xtensor throws when the shape is asked for",
    ),
    Row(
        "`xtensor` assigned another rank, `xtensor_fixed` another shape",
        "refused",
        "t = xl.XTensor(m); refused(xl.ShapeError, lambda: t.assign(v)); same(t, m)",
    ),
    Row(
        "overlap of operands and destination",
        "exact; `xl.explain(c, e)` tells",
        "x = xl.arange(6); x[::2] = x[1::2]; assert x.tolist() == [1, 1, 3, 3, 5, 5]",
        "only the operand at fault is copied; `a += b` allocates nothing",
    ),
)

VIEWS: Rows = (
    Row(
        "`view(e, range(a, b, c), all(), newaxis(), ellipsis())`",
        "`xl.view(e, xl.range(a, b, c), xl.range(), xl.newaxis, xl.ellipsis)`, or an index",
        "same(xl.view(a, xl.range(0, 3, 2), xl.ellipsis, xl.newaxis, 1), A[0:3:2, ..., None, 1])",
        "`xl.all` is the reducer, so the whole dimension is `xl.range()`",
    ),
    Row("`_`, `xt::placeholders`", "`None`", "same(xl.view(v, xl.range(1, None)), [-1, 2])"),
    Row(
        "`keep(i…)`",
        "`xl.keep(i…)`",
        "w = xl.view(a, xl.keep(2, 0, 0)); w[0] = 5; same(a[2], np.full((2, 4), 5.0))",
        "of repeated positions the last value that is written stays",
    ),
    Row("`drop(i…)`", "`xl.drop(i…)`", "same(xl.view(v, xl.drop(1)), [3, 2])"),
    Row("`row(e, i)`, `col(e, j)`", "`xl.row`, `xl.col`", "same(xl.col(m, 0), [4, 2])"),
    Row(
        "slices are clipped",
        "as in Python",
        "assert xl.view(xl.zeros((5, 7)), xl.range(-5, -2), xl.range(-3, 10)).shape == (3, 3)\n"
        "assert xl.view(xl.zeros((5, 7)), xl.range(-3, -5)).shape == (0, 7)",
    ),
    Row(
        "`keep` lists are outer, `e[keep(…), keep(…)]`",
        "`xl.view(e, xl.keep(…), xl.keep(…))`",
        "assert xl.view(m, xl.keep(0, 1), xl.keep(0, 1)).shape == (2, 2)\n"
        "assert m[[0, 1], [0, 1]].shape == (2,)",
        "lists in brackets meet point by point, as in NumPy",
    ),
    Row(
        "`strided_view(e, slices)`",
        "`xl.strided_view(e, items)`",
        "same(xl.strided_view(a, [1, xl.ellipsis, xl.range(1, 3)]), A[1, ..., 1:3])",
    ),
    Row(
        "`strided_view(e, shape, strides, offset)`",
        "`xl.as_strided(e, shape, strides, offset)`",
        "same(xl.as_strided(v, (2, 2), (1, 1)), [[3, -1], [-1, 2]])\n"
        "refused(xl.BoundsError, lambda: xl.as_strided(v, (4,)))",
        "proven in bounds",
    ),
    Row(
        "`dynamic_view(e, slices)`",
        "`xl.dynamic_view(e, items)`",
        "same(xl.dynamic_view(a, [xl.keep(1, 1), 0]), A[[1, 1], 0])",
    ),
    Row(
        "`index_view(e, indices)`",
        "`xl.index_view(e, indices)`",
        "w = xl.index_view(m, [(0, 1), (1, 0)]); w += 10; same(m, [[4, 11], [12, 3]])",
    ),
    Row(
        "`filter(e, condition)`",
        "`xl.filter(e, condition, order=…)`",
        "xl.filter(v, v < 0)[...] = 0; same(v, [3, 0, 2])",
        "a condition of another shape must broadcast",
    ),
    Row(
        "`filtration(e, condition)`",
        "`xl.filtration(e, condition)`",
        "f = xl.filtration(v, v > 0); f += 1; same(v, [4, -1, 3])",
    ),
    Row(
        "`masked_view(e, mask)`",
        "`xl.masked_view(e, mask)`",
        "w = xl.masked_view(v, v > 0); w[...] = 9; same(v, [9, -1, 9]); assert 'masked' in repr(w)",
    ),
    Row(
        "`real(e)`, `imag(e)`, `xoffset_view`",
        "`xl.real`, `xl.imag`, `xl.offset_view(e, dtype, k)`",
        "z = xl.asarray([1 + 2j]); xl.imag(z)[0] = 7; assert z[0] == 1 + 7j",
    ),
    Row(
        "`xfunctor_view`, `xfunctor_adaptor`",
        "`xl.offset_view(e, dtype, k)`",
        "z = xl.asarray([1 + 2j]); xl.offset_view(z, 'float64', 1)[0] = 5; assert z[0] == 1 + 5j",
        "a part of an element; other functions are `xl.vectorize`'s, which reads",
    ),
    Row(
        "`filter(a, m)` is a view",
        "`xl.filter(a, m)`; `a[m]` is a copy",
        "w = v[v > 0]; w[0] = 9; assert v[0] == 3\nxl.filter(v, v > 0)[0] = 9; assert v[0] == 9",
        "what brackets select through arrays is NumPy's copy; assigning to it writes",
    ),
    Row(
        "`transpose(e[, permutation])`",
        "`e.T`, `xl.permute_dims(e, axes)`, `xl.transpose`",
        "same(xl.permute_dims(a, (2, 0, 1)), A.transpose(2, 0, 1))",
    ),
    Row(
        "`a.transpose()` in place",
        "`a.transpose_()`",
        "assert a.transpose_().shape == (4, 2, 3)\n"
        "refused(xl.LayoutError, xl.XArray(m, layout='row_major').transpose_)",
        "a layout that the constructor was given stays; a default gives way",
    ),
    Row(
        "`reshape_view(e, shape)`",
        "`xl.reshape_view(e, shape, order)`",
        "xl.reshape_view(a[:, :, :2], (4, 3))[0] = 0; assert float(xl.sum(a[0, 0, :2])) == 0",
    ),
    Row(
        "`ravel<L>(e)`, `flatten(e)`",
        "`xl.flatten(e, order)`; `xl.ravel` is NumPy's",
        "xl.flatten(a[..., 0])[...] = 1; same(a[..., 0], np.ones((3, 2)))",
    ),
    Row("`repeat(e, n, axis)`", "`xl.repeat`", "same(xl.repeat(v, 2), np.repeat(v, 2))"),
    Row(
        "`index_mapper`",
        "`xl.parent_index(view, index, parent)`",
        "assert xl.parent_index(a[1:, :, ::2], (0, 1, 1), a) == (1, 1, 2)",
    ),
    Row(
        "`as_chunked(e, chunks)`, `xchunked_view`",
        "`xl.block_view(e, blocks)`",
        "w = xl.block_view(a, (3, 1, 2)); assert w.shape == (1, 2, 2, 3, 1, 2)\n"
        "w[0, 1, 0] = 0; assert float(xl.sum(a[:, 1, :2])) == 0",
        "blocks fill the array; larger ones than memory are `xl.open`'s",
    ),
    Row(
        "rolling windows (absent)",
        "`xl.sliding_window_view`",
        "same(xl.sliding_window_view(v, 2), [[3, -1], [-1, 2]])",
    ),
)

ACCESS: Rows = (
    Row(
        "`a(i, j)`, `a[{i, j}]`, `a.element(…)`",
        "`a[i, j]`",
        "assert a[1, 0, 2] == 10",
        "an index is NumPy's: too few integers give a sub-array, too many are refused",
    ),
    Row(
        "`a.at(i, j)`, `a.unchecked(…)`",
        "`xl.at(a, i, j)`",
        "xl.at(m, 0, 1)[...] = 9; assert m[0, 1] == 9",
        "nothing is unchecked",
    ),
    Row(
        "`a.periodic(…)`",
        "`xl.periodic(a, …)`, a view of rank 0",
        "assert float(xl.periodic(v, -4)) == 2\n"
        "xl.periodic(m, -1, 2)[...] = 9; assert m[1, 0] == 9",
    ),
    Row("`a.in_bounds(…)`", "`xl.in_bounds(a, …)`", "assert not xl.in_bounds(v, 3)"),
    Row(
        "`a.front()`, `a.back()`",
        "`xl.flat(a)[0]`, `xl.flat(a)[-1]`",
        "assert xl.flat(m)[0] == 4 and xl.flat(m)[-1] == 3",
    ),
    Row(
        "`xt::missing` in an index",
        "`a[i, 0, 0]`",
        "assert a[1, 0, 0] == 8",
        "indices are written out; `xl.missing` is a value that is not there",
    ),
    Row(
        "`xstepper`, `xiterator`",
        "",
        "assert [float(x) for x in xl.flat(m + v[0])] == [7, 4, 5, 6]",
        "loops are generated, and no cursors are there to be stepped",
    ),
    Row(
        "`a.flat(i)`, `a.linear_begin()`",
        "`xl.flat(a, 'storage')[i]`",
        "c = xl.asarray(m, layout='column_major'); assert xl.flat(c, 'storage')[1] == 2",
        "`a.flat` is NumPy's, in row-major order",
    ),
    Row(
        "`begin<L>()`, `end<L>()`, reverse",
        "`xl.flat(a, order)`, `reversed`",
        "assert [float(x) for x in xl.flat(m, 'column_major')] == [4, 2, 1, 3]",
    ),
    Row(
        "`begin(shape)`",
        "`xl.flat(xl.broadcast_to(a, shape))`",
        "assert len(xl.flat(xl.broadcast_to(v, (2, 3)))) == 6",
    ),
    Row(
        "`axis_begin(e, axis)`",
        "`xl.iter_axis(a, axis)`",
        "assert [s.shape for s in xl.iter_axis(a, 1)] == [(3, 4)] * 2",
    ),
    Row(
        "`axis_slice_begin(e, axis)`",
        "`xl.iter_lines(a, axis)`",
        "assert [line.tolist() for line in xl.iter_lines(m, 0)] == [[4, 2], [1, 3]]",
    ),
    Row(
        "`xmultiindex_iterator`", "`xl.ndindex(*shape)`", "assert len(list(xl.ndindex(2, 3))) == 6"
    ),
    Row(
        "`ravel_index`, `ravel_indices`, `unravel_index`, `unravel_indices`",
        "`xl.ravel_index`, `xl.unravel_index`",
        "assert xl.ravel_index((1, 2), (2, 3)) == 5 and xl.unravel_index(5, (2, 3)) == (1, 2)\n"
        "assert xl.ravel_index([(1, 2), (0, 1)], (2, 3), 'column_major').tolist() == [5, 2]",
    ),
    Row(
        "`from_indices`, `flatten_indices`",
        "`xl.argwhere`, `xl.asarray(indices)`",
        "same(xl.argwhere(m > 2), [(0, 0), (1, 1)])",
        "lists of indices are arrays of one row each",
    ),
    Row(
        "`same_shape`, `has_shape`, `dynamic_shape`, `static_shape`, `fixed_shape`",
        "`a.shape == b.shape`",
        "assert a.shape == (3, 2, 4)",
    ),
    Row(
        "`layout_type`: any, dynamic, combined",
        "`a.layout`",
        "c = xl.asarray(m, layout='column_major')\n"
        "assert xl.eval(c + c).layout == c.layout and m.T.T.strides == m.strides",
        "no layout is refused: transposing is a view, whatever the strides",
    ),
    Row(
        "`broadcast_shape`, `broadcastable`",
        "`xl.broadcast_shapes`",
        "assert xl.broadcast_shapes((3, 1), (4,)) == (3, 4)",
    ),
)

GENERATORS: Rows = (
    Row(
        "`zeros`, `ones`, `empty`, `full_like`, `zeros_like`, `ones_like`, `empty_like`",
        "the same",
        "as_numpy('zeros ones', (2, 2)); as_numpy('zeros_like ones_like', m)\n"
        "as_numpy('full_like', m, fill_value=7); assert xl.empty(3).shape == (3,)\n"
        "assert xl.empty_like(m).dtype == m.dtype",
        "containers, not lazy",
    ),
    Row(
        "`arange`, `linspace`, `logspace`",
        "the same",
        "as_numpy('linspace logspace', 0, 2, num=5); as_numpy('arange', 2, 9, 3)",
    ),
    Row(
        "`eye`, `diag`, `diagonal`, `tril`, `triu`",
        "the same",
        "as_numpy('diag diagonal tril triu', m, 1); as_numpy('diag', v); as_numpy('eye', 2, 3, 1)",
        "`eye` is float64, as in the array API, and takes extents: `xl.eye(2, 3, k=1)`",
    ),
    Row(
        "`meshgrid`",
        "`xl.meshgrid(…, indexing='ij')`",
        "x, y = xl.meshgrid(v, v, indexing='ij'); same(x[:, 0], v)",
        "'xy' by default, as elsewhere",
    ),
    Row(
        "`xgenerator`",
        "`xl.fromfunction(f, shape)`",
        "same(xl.fromfunction(lambda i, j: i + j, (2, 2)), [[0, 1], [1, 2]])",
    ),
    Row(
        "`concatenate(xtuple(a, b), axis)`, `stack`, `hstack`, `vstack`",
        "`xl.concatenate(xl.xtuple(a, b), axis=axis)`, or any sequence",
        "same(xl.concatenate(xl.xtuple(v, v), axis=0), np.tile(v, 2))\n"
        "for join in ('stack', 'hstack', 'vstack'): same(getattr(xl, join)(xl.xtuple(v, v)), "
        "getattr(np, join)((v, v)))\n"
        "x = xl.arange(2); x.assign(xl.concat([x, x])); assert x.tolist() == [0, 1, 0, 1]",
        "any number of operands; a destination may be among them",
    ),
    Row(
        "`random::rand`, `randint`, `randn`, distributions",
        "`xl.random.default_rng(seed)`, NumPy's names",
        "r = xl.random.default_rng(1); assert r.normal(size=3).shape == (3,)",
        "drawn once, not at every access",
    ),
    Row(
        "`chi_squared cauchy fisher_f student_t extreme_value`, `binomial geometric "
        "negative_binomial poisson exponential gamma weibull lognormal`",
        "`r.chisquare standard_cauchy f standard_t gumbel`, the others by the same names",
        "r, n = xl.random.default_rng(1), np.random.default_rng(1)\n"
        "for name in 'standard_cauchy gumbel exponential lognormal'.split():\n"
        "    same(getattr(r, name)(size=(2, 3)), getattr(n, name)(size=(2, 3)))\n"
        "for name in 'chisquare standard_t geometric poisson gamma weibull'.split():\n"
        "    same(getattr(r, name)(0.5, 3), getattr(n, name)(0.5, 3))\n"
        "for name in 'f binomial negative_binomial'.split():\n"
        "    same(getattr(r, name)(2, 0.5, 3), getattr(n, name)(2, 0.5, 3))",
    ),
    Row(
        "`random::seed`, engines; the same seed for any layout",
        "`xl.random.default_rng(seed)`",
        "r, c = (xl.random.default_rng(7).random((5, 5)) for _ in range(2))\n"
        "c = xl.asarray(c, layout='column_major'); assert r[2, 3] == c[2, 3]",
        "numbers follow the index, not the storage: a layout changes none of them",
    ),
    Row(
        "`random::choice`, `shuffle`, `permutation`",
        "`xl.random.choice`, …",
        "r = xl.random.default_rng(1); "
        "assert len(r.choice(5, 2)) == len(r.permutation(v)) - 1 == 2\n"
        "x = xl.arange(9); r.shuffle(x); assert sorted(x.tolist()) == list(range(9))",
    ),
)

FUNCTIONS: Rows = (
    Row(
        "`abs fabs sign fmod remainder minimum maximum fmin fmax fdim clip`",
        "the same",
        "same(xl.fdim(v, 1), [2, 0, 1]); as_numpy('abs fabs sign', v); as_numpy('clip', v, 0, 2)\n"
        "as_numpy('fmod remainder minimum maximum fmin fmax', m, v[:2])\n"
        "assert int(xl.remainder(7, 4)) == 3 and np.isnan(float(xl.minimum(xl.nan, 1.0)))",
        "`remainder` has the divisor's sign, where xtensor's is IEEE's (-1 of 7 and 4); NaN goes "
        "through `minimum` and `maximum`",
    ),
    Row(
        "`/` and `%` of integers",
        "true division, the divisor's sign",
        "assert float(xl.asarray(7) / 2) == 3.5 and int(xl.asarray(-7) % 3) == 2",
        "the array API's; `xl.fmod` has C's sign",
    ),
    Row(
        "`+ - *`, unary `+ -`, `& | ^ ~ << >>`",
        "the same",
        "same(-m + +m, np.zeros((2, 2))); x, y = xl.asarray([6, 9]), xl.asarray([1, 3])\n"
        "as_numpy('bitwise_and bitwise_or bitwise_xor left_shift right_shift', x, y)\n"
        "assert int(x[0] << 1 ^ 5) == 9 and (~x).tolist() == [-7, -10]",
        "`bool + bool` is bool, as in NumPy",
    ),
    Row(
        "`&& || !`",
        "`xl.logical_and`, `logical_or`, `logical_not`",
        "as_numpy('logical_and logical_or', m > 2, v[:2] > 0); as_numpy('logical_not', v > 0)",
    ),
    Row(
        "`< <= > >=`, `equal`, `not_equal`, `less` …",
        "the same",
        "as_numpy('equal not_equal less less_equal greater greater_equal', v, 2.0)\n"
        "assert (v != 3).tolist() == [False, True, True]",
    ),
    Row(
        "`numeric_constants<T>::PI`, `big_promote_value_type_t`",
        "`xl.pi`, `xl.e`, `dtype=`",
        "assert xl.pi == np.pi; assert xl.sum(m, dtype='float32').dtype == xl.float32",
    ),
    Row(
        "`fma(x, y, z)`",
        "`x * y + z`",
        "same(v * v + v, np.asarray(v) ** 2 + np.asarray(v))",
        "rounded twice, as written: nothing is contracted unless the result cannot change",
    ),
    Row("`cube(e)`, `pow<N>(e)`", "`e ** 3`", "same(v ** 3, np.asarray(v) ** 3)"),
    Row(
        "`exp exp2 expm1 log log2 log10 log1p pow square cbrt sqrt hypot`",
        "the same",
        "as_numpy('exp exp2 expm1 log log2 log10 log1p square cbrt sqrt', m)\n"
        "as_numpy('pow hypot', m, v[:2])",
    ),
    Row(
        "`sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh`, `deg2rad radians "
        "rad2deg degrees`",
        "the same",
        "as_numpy('sin cos tan atan sinh cosh tanh asinh', v); as_numpy('acosh', m)\n"
        "as_numpy('asin acos atanh', v / 4); as_numpy('deg2rad radians rad2deg degrees', v)\n"
        "as_numpy('atan2', v, 2.0)",
    ),
    Row(
        "`erf erfc tgamma lgamma`",
        "`xl.erf`, `erfc`, `gamma`, `lgamma`",
        "import math\nfor name in ('erf', 'erfc', 'gamma', 'lgamma'):\n"
        "    same(getattr(xl, name)(m), np.vectorize(getattr(math, name))(m))",
    ),
    Row(
        "`ceil floor trunc round nearbyint rint`",
        "the same; `xl.rint` is `nearbyint`",
        "as_numpy('ceil floor trunc round rint', v / 2); "
        "same(xl.round(xl.asarray([0.5, 1.5])), [0, 2])",
        "`round` is half to even, as in NumPy",
    ),
    Row(
        "`isfinite isinf isnan isclose allclose`",
        "the same",
        "as_numpy('isfinite isinf isnan', v / 0); as_numpy('isclose allclose', v, 3.0)",
    ),
    Row(
        "`where(c, a, b)`",
        "`xl.where`",
        "same(xl.where(v > 0, v, 0), [3, 0, 2])",
        "both branches are computed; only one is taken",
    ),
    Row(
        "`conj arg angle norm` of complex",
        "`xl.conj`, `xl.angle`, `xl.abs(z) ** 2`",
        "z = xl.asarray([1j, 3 - 4j]); as_numpy('conj angle', z); same(xl.abs(z) ** 2, [1, 25])",
        "`norm` is a norm",
    ),
    Row("`nan_to_num`", "`xl.nan_to_num`", "same(xl.nan_to_num(xl.asarray([xl.nan])), [0])"),
)

REDUCERS: Rows = (
    Row(
        "`sum prod mean amin amax(e, axes, keep_dims | initial(v))`",
        "`xl.sum(e, axis=…, keepdims=…, initial=…)`, …; `xl.amin`, `xl.amax`",
        "same(xl.sum(a, axis=(0, 2)), A.sum((0, 2))); same(xl.amax(a, axis=1), A.max(1))",
        "axes in any order; sums of small integers widen",
    ),
    Row(
        "`variance(e, axes, ddof)`, `stddev`",
        "`xl.variance(e, axis=…, correction=…)`, `xl.stddev`",
        "same(xl.variance(v, correction=1), np.var(v, ddof=1)); same(xl.stddev(v), np.std(v))",
    ),
    Row(
        "`reduce(f, e, axes)`, `xreducer_functors(f, init, merge)`",
        "`xl.reduce(f, e, axis, initial=…, merge=…)`",
        "f = lambda a, b: a if a > b else b\nsame(xl.reduce(f, a, 1, initial=0.0), A.max(1))",
        "`initial` must be neutral and `merge` associative, as parts are folded side by side; "
        "earlier elements stay on the left",
    ),
    Row(
        "`accumulate(f, e, axis)`",
        "`xl.accumulate(f, e, axis)`",
        "same(xl.accumulate(lambda x, y: x + y, a, 2), A.cumsum(2))",
    ),
    Row(
        "`cumsum`, `cumprod`", "the same", "as_numpy('cumsum cumprod', v); as_numpy('cumsum', a, 1)"
    ),
    Row(
        "`cumsum` of rank 0 with an axis",
        "NumPy's",
        "assert xl.cumsum(xl.asarray(2.0), axis=0).tolist() == [2]",
        "not refused: the axis is that of one element",
    ),
    Row(
        "axes that are named twice, or not there",
        "refused",
        "refused(xl.AxisError, lambda: xl.sum(m, axis=(0, 0)))\n"
        "refused(xl.AxisError, lambda: xl.sum(m, axis=(0, 2)))\n"
        "assert float(xl.sum(m, axis=(1, 0))) == 10; same(xl.sum(m, axis=()), np.asarray(m))",
        "axes may come in any order",
    ),
    Row(
        "`nanmin nanmax nansum nanprod nanmean nanvar nanstd nancumsum nancumprod`",
        "the same",
        "x = xl.asarray([1.0, xl.nan, 3.0]); assert float(xl.nanmean(x)) == 2\n"
        "as_numpy('nanmin nanmax nansum nanprod nanvar nanstd nancumsum nancumprod', x)",
    ),
    Row(
        "`minmax(e)`",
        "`xl.minmax(e)`",
        "low, high = xl.minmax(v); assert (float(low), float(high)) == (-1, 3)",
    ),
    Row(
        "`average(e, weights, axes)`",
        "`xl.average`",
        "x = xl.asarray([[3, 4, 2, 1], [1, 1, 3, 2]])\n"
        "same(xl.average(x, axis=0, weights=[3, 9]), [1.5, 1.75, 2.75, 1.75])",
    ),
    Row("`count_nonzero`, `count_nonnan`", "the same", "assert int(xl.count_nonnan(v)) == 3"),
    Row(
        "`any(e)`, `all(e)`",
        "`xl.any(e, axis=…)`",
        "assert bool(xl.any(v < 0))",
        "lazy arrays of rank 0, and along axes",
    ),
    Row(
        "`norm_l0 l1 l2 sq linf lp lp_to_p induced_l1 induced_linf`",
        "`xl.norm_l0`, …",
        "same(xl.norm_l2(v), np.linalg.norm(v)); same(xl.norm_sq(v), 14); same(xl.norm_l0(v), 3)\n"
        "same(xl.norm_linf(v), 3); same(xl.norm_lp_to_p(v, 3), 36); "
        "same(xl.norm_induced_linf(m), 5)\n"
        "same(xl.norm_induced_l1(m), np.linalg.norm(m, 1))\n"
        "same(xl.norm_l1(m, [0]), [6, 4]); same(xl.norm_lp(m, 2, 0), np.linalg.norm(m, axis=0))\n"
        "z = xl.asarray([3 - 4j]); same(xl.norm_l1(z), 5); same(xl.norm_linf(z), 5)\n"
        "same(xl.norm_l1(xl.stack([xl.real(z), xl.imag(z)])), 7)",
        "of complex numbers moduli are added, as in NumPy; xtensor adds both parts' magnitudes",
    ),
    Row(
        "`diff`, `trapz(y, 2.0, axis)`",
        "`xl.diff`, `xl.trapezoid(y, dx=2.0, axis=…)`",
        "as_numpy('diff trapezoid', v); as_numpy('diff', m, 1, 0)\n"
        "same(xl.trapezoid(v, dx=2.0), 2 * np.trapezoid(v))",
        "the second argument is `x`, as in NumPy, so a step has its name",
    ),
    Row(
        "`blockwise::sum(e, chunk_shape)`, …",
        "`xl.sum(e)`; of each block `xl.sum(xl.block_view(e, blocks), axis=…)`",
        "same(xl.sum(xl.block_view(a, (3, 1, 2)), axis=(3, 4, 5)), "
        "A.reshape(1, 3, 2, 1, 2, 2).sum((1, 3, 5)))",
        "every reduction runs in blocks whose results are merged, the same for any number of "
        "threads; `xl.store` and `xl.open` do that beyond memory",
    ),
)

MANIPULATION: Rows = (
    Row(
        "`swapaxes moveaxis squeeze expand_dims atleast_Nd flip rot90`",
        "the same",
        "as_numpy('rot90 flip squeeze', m); as_numpy('atleast_1d atleast_2d atleast_3d', v)\n"
        "as_numpy('swapaxes moveaxis', a, 0, 2); as_numpy('expand_dims', v, 0)",
    ),
    Row(
        "`split hsplit vsplit`",
        "the same",
        "as_numpy('split hsplit vsplit', m, 2)\nrefused(ValueError, lambda: xl.split(v, 2))",
    ),
    Row(
        "`trim_zeros`, `roll`, `pad`, `tile`",
        "the same",
        "as_numpy('roll pad tile', v, 2); as_numpy('trim_zeros', v - 3)\n"
        "as_numpy('pad', m, 1, mode='wrap'); as_numpy('pad', m, 1, mode='symmetric')\n"
        "assert xl.tile(xl.ones((3, 2)), 3).shape == (3, 6)",
        "modes of `pad` have NumPy's names: `periodic` is 'wrap'; `tile` by one number repeats the "
        "last dimension, xtensor's the first",
    ),
    Row(
        "`flatnonzero nonzero argwhere where(c)`",
        "`xl.flatnonzero`, `nonzero`, `argwhere`",
        "as_numpy('flatnonzero nonzero argwhere where', v > 0)",
    ),
    Row(
        "`sort argsort partition argpartition argmin argmax`",
        "the same",
        "as_numpy('sort argsort argmin argmax', v); as_numpy('sort', m, None)\n"
        "same(xl.partition(v, 1)[1], 2); same(v[xl.argpartition(v, 1)][1], 2)",
    ),
    Row(
        "`median`, `quantile`",
        "the same",
        "as_numpy('median', a, 1); as_numpy('quantile', a, 0.3, 2)",
    ),
    Row(
        "`quantile(e, p, axis, alpha, beta)`",
        "`xl.quantile(e, p, axis=…, method=…)`",
        "assert float(xl.quantile(v, 0.5, method='hazen')) == 2",
        "NumPy's names of methods, among them xtensor's six; pairs without a name are SciPy's "
        "`mquantiles`, which takes containers",
    ),
    Row(
        "`unique setdiff1d isin in1d`",
        "`xl.unique`, `setdiff1d`, `isin`",
        "as_numpy('isin setdiff1d', v, v[1:]); as_numpy('unique', m)",
    ),
    Row(
        "`searchsorted(a, v, right)`",
        "`xl.searchsorted(a, v, side=…)`",
        "assert xl.searchsorted(xl.arange(4), xl.asarray([2])).tolist() == [2]",
        "`side='left'` is what xtensor calls right",
    ),
    Row(
        "`histogram histogram_bin_edges bincount digitize`",
        "the same",
        "counts, edges = xl.histogram(v, bins=2); assert counts.tolist() == [1, 2]\n"
        "as_numpy('histogram_bin_edges', v, 3); as_numpy('bincount', xl.asarray([0, 2, 2]))\n"
        "as_numpy('digitize', v, xl.asarray([-2.0, 0.0, 4.0]))",
        "`histogram` gives counts and edges, as NumPy's",
    ),
    Row(
        "`bin_items(e, …)`",
        "`xl.bincount`, `xl.digitize`",
        "assert xl.bincount(xl.digitize(v, [-2.0, 0.0, 4.0])).tolist() == [0, 1, 2]",
    ),
    Row(
        "`select_indices`, `fancy_indexing`",
        "`xl.take_along_axis`",
        "same(xl.take_along_axis(m, xl.argsort(m, axis=1), axis=1), np.sort(m, axis=1))",
    ),
    Row(
        "`cov interp unwrap convolve`",
        "the same",
        "as_numpy('cov', m); as_numpy('unwrap', v * 3); as_numpy('convolve', v, v)\n"
        "as_numpy('interp', v, xl.asarray([0.0, 2.5]), xl.asarray([1.0, 2.0]))",
    ),
    Row(
        "`fft::fft`, `ifft`",
        "`xl.fft.fft`, …",
        "same(xl.real(xl.fft.ifft(xl.fft.fft(v))), np.asarray(v))",
    ),
    Row(
        "`fft::fftconvolve(x, y)`",
        "`xl.fft.ifft(xl.fft.fft(x) * xl.fft.fft(y))`",
        "x, y = xl.asarray([1.0, 1, 1, 5]), xl.asarray([5.0, 1, 1, 1])\n"
        "same(xl.real(xl.fft.ifft(xl.fft.fft(x) * xl.fft.fft(y))), [12, 12, 12, 28])",
    ),
    Row(
        "xtensor-blas: `blas::gemm gemv dot`, `linalg::dot solve inv det svd eigh …`",
        "`xl.blas.gemm gemv dot`, `a @ b`, `xl.linalg`",
        "same(m @ m, np.asarray(m) @ np.asarray(m)); same(xl.linalg.inv(m), "
        "np.linalg.inv(np.asarray(m)))\n"
        "assert abs(float(xl.linalg.det(m)) - 10) < 1e-12\n"
        "c = xl.ones((2, 2)); xl.blas.gemm(m, m, c, alpha=2, beta=3)\n"
        "same(c, 2 * np.asarray(m @ m) + 3); same(xl.blas.gemv(m, v[:2], transpose=True), [10, 0])",
    ),
    Row(
        "`blas::asum`, `nrm2`, `iamax`, `ger`",
        "`xl.norm_l1`, `norm_l2`, `argmax(abs(v))`, `c += xl.outer(v, w)`",
        "same(xl.norm_l1(v), np.abs(v).sum()); same(xl.norm_l2(v), np.linalg.norm(v))\n"
        "assert int(xl.argmax(abs(v))) == int(np.argmax(np.abs(v)))\n"
        "c = xl.ones((3, 3)); c += xl.outer(v, v); same(c, np.outer(v, v) + 1)",
    ),
    Row(
        "`linalg::solve_triangular`, `solve_cholesky`",
        "`xl.linalg.solve`, or SciPy's",
        "same(m @ xl.linalg.solve(m, v[:2]), v[:2])",
        "SciPy's `solve_triangular` and `cho_solve` take containers",
    ),
)

OPTIONALS: Rows = (
    Row(
        "`xarray_optional`, `xtensor_optional`, `xoptional_assembly`",
        "`xl.optional(values, has_value)`",
        "x = xl.optional([1, None, 3]); assert (x + 1).tolist() == [2, None, 4]\n"
        "assert x.has_value().dtype == xl.bool",
        "flags are an array of bool, a byte each, not packed bits: so they are memory like any "
        "other, with views that are written",
    ),
    Row(
        "`xtl::missing<T>()`",
        "`xl.missing`",
        "x = xl.optional([1, 2]); x[0] = xl.missing; assert x.tolist() == [None, 2]\n"
        "assert xl.where(v > 0, v, xl.missing).tolist() == [3, None, 2]\n"
        "assert (v + xl.missing).tolist() == [None, None, None]",
    ),
    Row(
        "`value(e)`, `has_value(e)`",
        "`x.value()`, `x.has_value()`",
        "x = xl.optional([1, None]); x.has_value()[1] = True; x.value()[1] = 5; assert "
        "x.tolist() == [1, 5]",
    ),
    Row("`value_or`", "`x.value_or(v)`", "same(xl.optional([1, None]).value_or(0), [1, 0])"),
    Row(
        "`value(e)`, `has_value(e)` of plain arrays",
        "`xl.optional(a)`",
        "assert bool(xl.all(xl.optional(v).has_value()))",
        "a plain array has all its values",
    ),
    Row(
        "sorting, sets, shuffling, products, `diag` of vectors, `tril`, `meshgrid` of optional "
        "values",
        "",
        "x = xl.optional([3, None, 1])\n"
        "for f in (xl.sort, xl.unique, xl.random.shuffle, xl.diag, xl.tril, xl.meshgrid): "
        "refused(TypeError, lambda: f(x))\n"
        "assert xl.sort(x.value()[x.has_value()]).tolist() == [1, 3]",
        "refused: what is missing has no order and no sum, and what is put beside it no flag; take "
        "`value_or(…)`, or `x.value()[x.has_value()]`",
    ),
    Row(
        "`missing == missing` is true",
        "missing",
        "x = xl.optional([1, None]); assert (x == x).tolist() == [True, None]\n"
        "assert xl.missing == xl.missing",
        "comparisons of elements propagate like all functions; `xl.missing` by itself is equal to "
        "itself",
    ),
    Row(
        "`swap(x(0), x(1))` of elements that may be missing",
        "`x[[0, 1]] = x[[1, 0]]`",
        "x = xl.optional([1, None]); x[[0, 1]] = x[[1, 0]]; assert x.tolist() == [None, 1]",
        "`x[0]` is a view, as rows of arrays are, so `x[0], x[1] = x[1], x[0]` reads what it has "
        "just written",
    ),
    Row(
        "reducers propagate",
        "the same; `x.sum(skipna=True)`, `x.cumsum(skipna=True)` leave out",
        "x = xl.optional([1, None, 3]); assert xl.sum(x).item() is None\n"
        "assert int(x.sum(skipna=True)) == 4\n"
        "assert x.cumsum(skipna=True).tolist() == [1, None, 4]",
    ),
    Row(
        "assigning an optional array of another shape",
        "`x.assign(e)` takes the shape; `x[...] = e` keeps it",
        "x = xl.optional([1, None]); assert x.assign([1, None, 3]).shape == (3,)",
    ),
    Row(
        "`reshape`, `resize` of optional arrays",
        "`x.assign(xl.reshape(x, shape))`",
        "x = xl.optional([1, None]); x.assign(xl.reshape(x, (2, 1)))\n"
        "assert x.tolist() == [[1], [None]]",
    ),
    Row(
        "masked is not missing",
        "`xl.masked_view(xl.optional(…), mask)` prints `masked` and `N/A`",
        "x = xl.optional([1, None, 3]); w = xl.masked_view(x, [False, True, True])\n"
        "assert str(w) == '[masked N/A 3]' and (w + 1).tolist() == [None, None, 4]\n"
        "w[...] = 5; assert x.tolist() == [1, 5, 5]",
        "in expressions both are missing",
    ),
)

FILES: Rows = (
    Row(
        "`operator<<`, `print_options`",
        "`print(a)`, `xl.set_printoptions`, `xl.printoptions`",
        "assert str(xl.asarray([1, 2])) == '[1 2]'",
        "NumPy's text",
    ),
    Row(
        "`xmime`",
        "`a._repr_html_()`",
        "assert '<' in a._repr_html_()",
    ),
    Row(
        "`info(stream)`",
        "`xl.info(e)`",
        "assert xl.info(v) == 'XArray float64[3]: row_major, strides (1,), 24 bytes'",
    ),
    Row(
        "`load_npy`, `dump_npy`, `load_npz`, `dump_npz`",
        "`xl.load`, `xl.save`, `xl.savez`",
        "f = io.BytesIO(); xl.save(f, m.T); f.seek(0); same(xl.load(f), np.asarray(m).T)",
    ),
    Row(
        "`load_csv`, `dump_csv`",
        "the same",
        "t = io.StringIO(); xl.dump_csv(t, m); same(xl.load_csv(io.StringIO(t.getvalue())), m)\n"
        "assert t.getvalue().startswith('4.0,1.0')",
        "floats are written as Python's, `4.0`, with all their digits",
    ),
    Row(
        "`to_json`, `from_json`",
        "`xl.to_json`, `xl.from_json`, `a.tolist()`",
        "same(xl.from_json(xl.to_json(m)), m)",
    ),
    Row(
        "`chunked_array`, `as_chunked`, xtensor-zarr",
        "`xl.open`, `xl.store`",
        "x = xl.open(np.arange(12.0)); out = np.zeros(12); xl.store(x * 2, out); "
        "same(out, np.arange(0, 24, 2))",
        "any expression runs chunk by chunk over arrays that are kept elsewhere",
    ),
    Row(
        "`chunks()`, `grid_shape()`, `chunk_begin`",
        "`x = xl.block_view(e, blocks)`; `x[i, j]`, `x.shape`, `xl.ndindex`",
        "x = xl.block_view(xl.reshape(xl.arange(12), (4, 3)), (2, 3))\n"
        "assert x.shape == (2, 1, 2, 3) and x[1, 0].tolist() == [[6, 7, 8], [9, 10, 11]]",
        "the grid is the first half of the dimensions",
    ),
    Row(
        "GPUs, automatic differentiation (absent)",
        "",
        "assert 'multiply' in str(xl.to_hlo(v * 2))",
        "absent here too; `xl.hlo` writes an expression as XLA's program, which XLA compiles for "
        "GPUs",
    ),
    Row(
        "xtensor-python",
        "NumPy's protocols, DLPack",
        "assert np.asarray(a) is not None and np.sin(v).shape == (3,)",
    ),
    Row(
        "xtensor-io: images, sound, HDF5, GDAL",
        "NumPy's protocols",
        "x = np.zeros((2, 2, 3), 'uint8'); xl.adapt(x)[0, 0] = 9; "
        "assert x[0, 0].tolist() == [9] * 3",
        "what reads such files gives arrays, which `xl.adapt` takes without a copy",
    ),
    Row(
        "xtensor-fftw, xtensor-signal",
        "`xl.fft`; SciPy's functions",
        "same(xl.fft.irfft(xl.fft.rfft(v), n=3), np.asarray(v))",
        "filters and peaks are SciPy's, which take containers",
    ),
    Row(
        "xtensor-julia, xtensor-r",
        "",
        "x = xl.from_dlpack(A); x[0, 0, 0] = 5; assert A[0, 0, 0] == 5",
        "other languages, whose memory comes in by DLPack",
    ),
    Row(
        "xframe",
        "",
        "same(xl.eval(m['i,j'] * m['j,k'], 'i,k'), m @ m)",
        "labelled coordinates are out of scope; labels of dimensions are `a['i,j']`",
    ),
    Row(
        "xtensor-sparse",
        "",
        "assert (xl.XJagged([[1, 2], [3]]) * 2).tolist() == [[2, 4], [6]]",
        "no sparse storage; jagged arrays are `xl.XJagged`",
    ),
)

GROUPS: dict[str, Rows] = {
    "Containers": CONTAINERS,
    "Expressions and assignment": EXPRESSIONS,
    "Views": VIEWS,
    "Access and iteration": ACCESS,
    "Generators": GENERATORS,
    "Elementwise functions": FUNCTIONS,
    "Reducers and accumulators": REDUCERS,
    "Manipulation, sorting, statistics, linear algebra": MANIPULATION,
    "Missing values": OPTIONALS,
    "Text, files and relatives": FILES,
}

_HEAD = """# Coming from xtensor

Made from the table in `docs/xtensor_table.py`, whose rows run as tests. Containers, lazy
expressions, views and the rules of assignment are xtensor's; names are the array API's first, then
NumPy's, then xtensor's for what only it has. The last column says what differs on purpose.
"""


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for title, rows in GROUPS.items():
        parts.append(f"\n## {title}\n\n| xtensor | Here | Differs |\n|---|---|---|\n")
        parts += [f"| {row.xtensor} | {row.here} | {row.differs} |\n" for row in rows]
    return "".join(parts)

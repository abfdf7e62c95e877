/* PyBullet's lists and tuples, the machine code of `tuples.py`; the build includes it (native/module.c).

None of this runs Python, so nothing changes a list meanwhile. */

#include <limits.h>

#define AN_ARRAY(given, type, dimensions)                                                                              \
    (PyArray_Check(given) && PyArray_TYPE((PyArrayObject *)(given)) == (type) &&                                       \
     PyArray_NDIM((PyArrayObject *)(given)) == (dimensions) && PyArray_ISCARRAY_RO((PyArrayObject *)(given)))
#define EXACT (1LL << 53) /* whole numbers up to here are float64 */
#define LENGTH(given, axis) PyArray_DIM((PyArrayObject *)(given), axis)

static Py_ssize_t length_of(PyObject *given) {
    return PyList_Check(given) ? PyList_Size(given) : PyTuple_Check(given) ? PyTuple_Size(given) : -1;
}

static PyObject *item_of(PyObject *given, Py_ssize_t k) {
    return PyList_Check(given) ? PyList_GetItem(given, k) : PyTuple_GetItem(given, k);
}

/* Writes the numbers of a list or tuple, at most `room`; how many, -1 if it is none or holds what is no float64. */
static Py_ssize_t read_floats(PyObject *given, double *to, Py_ssize_t room) {
    const Py_ssize_t count = length_of(given);
    if (count > room) return -1;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *item = item_of(given, k);
        int beyond = 0;
        if (PyFloat_Check(item)) {
            to[k] = PyFloat_AsDouble(item);
        } else {
            const long long whole = PyLong_CheckExact(item) ? PyLong_AsLongLongAndOverflow(item, &beyond) : LLONG_MAX;
            if (beyond || whole > EXACT || whole < -EXACT) return -1;
            to[k] = (double)whole;
        }
    }
    return count;
}

static PyObject *read_rows(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    if (count != 4 || !AN_ARRAY(given[1], NPY_DOUBLE, 2) || !PyArray_ISWRITEABLE((PyArrayObject *)given[1]))
        return PyErr_Format(PyExc_TypeError, "read_rows: rows, array, first, parts");
    const Py_ssize_t first = PyLong_AsSsize_t(given[2]), parts = PyLong_AsSsize_t(given[3]);
    if (PyErr_Occurred()) return NULL;
    const Py_ssize_t rows = length_of(given[0]), width = LENGTH(given[1], 1);
    if (rows < 0 || first < 0 || first + rows > LENGTH(given[1], 0)) Py_RETURN_FALSE;
    double *to = (double *)PyArray_DATA((PyArrayObject *)given[1]) + first * width;
    for (Py_ssize_t k = 0; k < rows; k++, to += width) {
        PyObject *row = item_of(given[0], k);
        Py_ssize_t read = parts > 0 ? 0 : read_floats(row, to, width);
        if (length_of(row) < parts) Py_RETURN_FALSE;
        for (Py_ssize_t part = 0; part < parts; part++) {
            const Py_ssize_t more = read_floats(item_of(row, part), to + read, width - read);
            if (more < 0) Py_RETURN_FALSE;
            read += more;
        }
        if (read != width) Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}

static PyObject *triple(const double *numbers) {
    PyObject *made = PyTuple_New(3);
    for (int k = 0; made != NULL && k < 3; k++) PyTuple_SetItem(made, k, PyFloat_FromDouble(numbers[k]));
    return made;
}

/* Tuples of numbers are in no cycle: garbage collection, which would visit each of many, is told so. */
static PyObject *untracked(PyObject *tuple) {
    if (tuple != NULL) PyObject_GC_UnTrack(tuple);
    return tuple;
}

static PyObject *hit_tuples(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    const Py_ssize_t n = count == 6 ? PyLong_AsSsize_t(given[0]) : -1;
    if (n < 0 || !AN_ARRAY(given[1], NPY_INT32, 2) || !AN_ARRAY(given[2], NPY_DOUBLE, 1) || LENGTH(given[1], 1) != 2 ||
        LENGTH(given[1], 0) < n || LENGTH(given[2], 0) < n)
        return PyErr_Format(PyExc_TypeError, "hit_tuples: n, body and link, fraction, position, normal, miss");
    for (int k = 3; k < 5; k++)
        if (!AN_ARRAY(given[k], NPY_DOUBLE, 2) || LENGTH(given[k], 1) != 3 || LENGTH(given[k], 0) < n)
            return PyErr_Format(PyExc_TypeError, "hit_tuples: expected points (n, 3), got %R", given[k]);
    const int32_t *body_link = PyArray_DATA((PyArrayObject *)given[1]);
    const double *fraction = PyArray_DATA((PyArrayObject *)given[2]), *position = PyArray_DATA((PyArrayObject *)given[3]);
    const double *normal = PyArray_DATA((PyArrayObject *)given[4]);
    PyObject *made = PyList_New(n);
    for (Py_ssize_t k = 0; made != NULL && k < n; k++) {
        PyObject *hit = Py_NewRef(given[5]);
        if (body_link[2 * k] >= 0) {
            Py_DECREF(hit);
            if ((hit = PyTuple_New(5)) == NULL) break;
            PyTuple_SetItem(hit, 0, PyLong_FromLong(body_link[2 * k]));
            PyTuple_SetItem(hit, 1, PyLong_FromLong(body_link[2 * k + 1]));
            PyTuple_SetItem(hit, 2, PyFloat_FromDouble(fraction[k]));
            PyTuple_SetItem(hit, 3, untracked(triple(position + 3 * k)));
            PyTuple_SetItem(hit, 4, untracked(triple(normal + 3 * k)));
            untracked(hit);
        }
        PyList_SetItem(made, k, hit);
    }
    if (PyErr_Occurred()) Py_CLEAR(made);
    return made;
}

#define TUPLES                                                                                                         \
    {"hit_tuples", FAST(hit_tuples), "A tuple a hit, as PyBullet has it, of columns; the last argument for a miss."},  \
    {"read_rows", FAST(read_rows), "Lists or tuples of floats into the rows of an array."},

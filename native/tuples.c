/* PyBullet's lists and tuples, the machine code of `cylcollide/bullet/tuples.py`; the build includes it (native/module.c).

Except for calls, none of this runs Python, so no list changes meanwhile. */

#include <limits.h>

#define AN_ARRAY(given, type, dimensions)                                                                              \
    (PyArray_Check(given) && PyArray_TYPE((PyArrayObject *)(given)) == (type) &&                                       \
     PyArray_NDIM((PyArrayObject *)(given)) == (dimensions) && PyArray_ISCARRAY_RO((PyArrayObject *)(given)))
#define EXACT (1LL << 53) /* whole numbers up to here are float64 */
#define AHEAD 64 /* rows: memory is slow after a step */
#ifdef __GNUC__
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) (void)(address)
#endif
#define LENGTH(given, axis) PyArray_DIM((PyArrayObject *)(given), axis)

/* Types are compared first, as the checks are calls. PyBullet's tuples hold NULL for links that a body lacks. */
static int is_list(PyObject *given) { return given && (Py_IS_TYPE(given, &PyList_Type) || PyList_Check(given)); }

static int is_tuple(PyObject *given) { return given && (Py_IS_TYPE(given, &PyTuple_Type) || PyTuple_Check(given)); }

static Py_ssize_t length_of(PyObject *given) {
    return is_list(given) ? PyList_Size(given) : is_tuple(given) ? PyTuple_Size(given) : -1;
}

static PyObject *item_of(PyObject *given, Py_ssize_t k) {
    return is_list(given) ? PyList_GetItem(given, k) : PyTuple_GetItem(given, k);
}

/* Writes the numbers of a list or tuple, at most `room`; returns how many, -1 for other types and other items. */
static Py_ssize_t read_floats(PyObject *given, double *to, Py_ssize_t room) {
    const int listed = is_list(given);
    const Py_ssize_t count = listed ? PyList_Size(given) : length_of(given);
    if (count > room) return -1;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *item = listed ? PyList_GetItem(given, k) : PyTuple_GetItem(given, k);
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

/* Writes the numbers of a row, or of its first `parts` parts, into `width` places; returns whether it fills them. */
static int read_row(PyObject *row, double *to, Py_ssize_t width, Py_ssize_t parts) {
    Py_ssize_t read = parts > 0 ? 0 : read_floats(row, to, width);
    if (length_of(row) < parts) return 0;
    for (Py_ssize_t part = 0; part < parts; part++) {
        const Py_ssize_t more = read_floats(item_of(row, part), to + read, width - read);
        if (more < 0) return 0;
        read += more;
    }
    return read == width;
}

static int are_rows(PyObject *array) {
    if (AN_ARRAY(array, NPY_DOUBLE, 2) && PyArray_ISWRITEABLE((PyArrayObject *)array)) return 1;
    PyErr_Format(PyExc_TypeError, "expected rows of floats that can be written, got %R", array);
    return 0;
}

static PyObject *read_rows(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    if (count != 2 || !are_rows(given[1])) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "rows, array");
    const Py_ssize_t rows = length_of(given[0]), width = LENGTH(given[1], 1);
    if (rows < 0 || rows > LENGTH(given[1], 0)) return PyLong_FromLong(0);
    double *to = PyArray_DATA((PyArrayObject *)given[1]);
    PyObject *row[AHEAD];
    for (Py_ssize_t first = 0; first < rows; first += AHEAD) {
        const Py_ssize_t block = rows - first < AHEAD ? rows - first : AHEAD;
        for (Py_ssize_t k = 0; k < block; k++) {
            row[k] = item_of(given[0], first + k);
            FETCH(row[k]);
        }
        for (Py_ssize_t k = 0; k < block; k++)
            if (length_of(row[k]) > 0) FETCH(item_of(row[k], 0));
        for (Py_ssize_t k = 0; k < block; k++, to += width)
            if (!read_row(row[k], to, width, 0)) return PyLong_FromLong(0);
    }
    return PyLong_FromSsize_t(rows);
}

/* The arguments of a call, with its second one, a list, reduced to wanted rows; NULL without an error if none is. */
static PyObject *with_wanted(PyObject *given, const npy_bool *wanted, Py_ssize_t room) {
    PyObject *all = PyTuple_Check(given) ? PyTuple_GetItem(given, 1) : NULL, *list = NULL, *arguments = NULL;
    if (all == NULL || length_of(all) < 0 || length_of(all) > room) return PyErr_BadArgument(), NULL;
    for (Py_ssize_t k = 0; k < length_of(all); k++)
        if (wanted[k] && (list != NULL || (list = PyList_New(0)) != NULL)) PyList_Append(list, item_of(all, k));
    if (list != NULL && !PyErr_Occurred()) arguments = PyTuple_New(PyTuple_Size(given));
    for (Py_ssize_t k = 0; arguments != NULL && k < PyTuple_Size(given); k++)
        PyTuple_SetItem(arguments, k, Py_NewRef(k == 1 ? list : PyTuple_GetItem(given, k)));
    Py_XDECREF(list);
    return arguments;
}

/* Writes the states, a tuple or one, that a call (function, arguments, row) returns; into the wanted rows, if any. */
static int read_call(PyObject *call, const npy_bool *wanted, double *to, Py_ssize_t room, Py_ssize_t width) {
    if (!PyTuple_Check(call) || PyTuple_Size(call) != 3) return PyErr_BadArgument(), 0;
    Py_ssize_t row = PyLong_AsSsize_t(PyTuple_GetItem(call, 2));
    PyObject *arguments = PyTuple_GetItem(call, 1);
    if (PyErr_Occurred() || (wanted && (row < 0 || row > room))) return PyErr_BadArgument(), 0;
    arguments = wanted ? with_wanted(arguments, wanted + row, room - row) : Py_NewRef(arguments);
    if (arguments == NULL) return !PyErr_Occurred();
    PyObject *states = PyObject_CallObject(PyTuple_GetItem(call, 0), arguments);
    Py_DECREF(arguments);
    if (states == NULL) return 0;
    PyObject *part = length_of(states) > 0 ? item_of(states, 0) : states;
    const int is_one = length_of(part) > 0 && PyFloat_Check(item_of(part, 0));
    const Py_ssize_t rows = is_one ? 1 : length_of(states);
    int fit = rows >= 0 && row >= 0;
    for (Py_ssize_t k = 0; fit && k < rows; k++, row++) {
        while (wanted && row < room && !wanted[row]) row++;
        PyObject *state = is_one ? states : item_of(states, k);
        if (state == NULL) return Py_DECREF(states), PyErr_Format(PyExc_IndexError, "a body has fewer links"), 0;
        fit = row < room && read_row(state, to + row * width, width, 2);
    }
    if (!fit) PyErr_Format(PyExc_AssertionError, "expected states of two tuples with %zd floats, got %R", width, states);
    Py_DECREF(states);
    return fit;
}

/* One pass of `read_states`: calls, an array, and NULL or the chosen or wanted ones; returns whether it succeeds. */
static int read_pass(PyObject *calls, PyObject *array, PyObject *choice) {
    const int wants = choice && AN_ARRAY(choice, NPY_BOOL, 1), chooses = choice && !wants;
    if (!are_rows(array)) return 0;
    if (length_of(calls) < 0 ||
        (chooses && (!AN_ARRAY(choice, NPY_INT64, 1) || LENGTH(choice, 0) != length_of(calls))) ||
        (wants && LENGTH(choice, 0) != LENGTH(array, 0)))
        return PyErr_Format(PyExc_TypeError, "read_states: calls, array, chosen or wanted"), 0;
    const int64_t *chosen = chooses ? PyArray_DATA((PyArrayObject *)choice) : NULL;
    const npy_bool *wanted = wants ? PyArray_DATA((PyArrayObject *)choice) : NULL;
    double *to = PyArray_DATA((PyArrayObject *)array);
    for (Py_ssize_t k = 0; k < length_of(calls); k++) {
        PyObject *call = item_of(calls, k);
        if (chooses) call = item_of(call, chosen[k]);
        if (call == NULL) return 0;
        if (call == Py_None) continue;
        Py_INCREF(call);
        const int fit = read_call(call, wanted, to, LENGTH(array, 0), LENGTH(array, 1));
        Py_DECREF(call);
        if (!fit) return 0;
    }
    return 1;
}

static PyObject *read_states(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    if (count != 2 && count % 3) return PyErr_Format(PyExc_TypeError, "read_states: calls, array, chosen or wanted");
    for (Py_ssize_t k = 0; k < count; k += 3)
        if (!read_pass(given[k], given[k + 1], count > 2 && given[k + 2] != Py_None ? given[k + 2] : NULL)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *results_unchanged(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    const npy_bool *asked = count > 1 && AN_ARRAY(given[1], NPY_BOOL, 1) ? PyArray_DATA((PyArrayObject *)given[1]) : NULL;
    if (count < 1 || count > 2 || !is_tuple(given[0]) ||
        (count > 1 && (asked == NULL || LENGTH(given[1], 0) != PyTuple_Size(given[0]))))
        return PyErr_Format(PyExc_TypeError, "results_unchanged: a tuple of calls, asked");
    int same = 1;
    for (Py_ssize_t k = 0; same == 1 && k < PyTuple_Size(given[0]); k++) {
        PyObject *call = PyTuple_GetItem(given[0], k);
        if (call == Py_None || (asked && !asked[k])) continue;
        if (!is_tuple(call) || PyTuple_Size(call) != 3) return PyErr_BadArgument(), NULL;
        PyObject *found = PyObject_CallObject(PyTuple_GetItem(call, 0), PyTuple_GetItem(call, 1));
        same = found == NULL ? -1 : PyObject_RichCompareBool(found, PyTuple_GetItem(call, 2), Py_EQ);
        Py_XDECREF(found);
    }
    return same < 0 ? NULL : PyBool_FromLong(same);
}

static PyObject *triple(const double *numbers) {
    PyObject *made = PyTuple_New(3);
    for (int k = 0; made != NULL && k < 3; k++) PyTuple_SetItem(made, k, PyFloat_FromDouble(numbers[k]));
    return made;
}

/* Tuples of numbers are in no cycle, so they are untracked: garbage collection would visit each of many. */
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
    {"read_rows", FAST(read_rows), "Lists or tuples of floats into the rows of an array."},                            \
    {"results_unchanged", FAST(results_unchanged), "Whether calls return what they returned before."},                     \
    {"read_states", FAST(read_states), "States that calls return into the rows of an array."},

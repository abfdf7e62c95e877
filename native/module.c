/* One extension module per level: its loops as Python functions.

A loop is a numba function, int loop(result, error, words). Its arguments are 64-bit words: one for a number, address
and lengths for an array, all items in order for a tuple (signatures.py). This file reads arguments, and checks them
against the format that the loop was compiled for:

    d q ?       float, int, bool
    [f82        an array in C order of kind f, 8 bytes an item, 2 dimensions
    (...)       a tuple
    :d :q :? :n the result; n is None
    !           at the begin: the loop keeps the interpreter's lock

The caller holds a reference to every argument, and tuples to their items, while the loop runs. The interpreter's lock
is released meanwhile, except with the mark above. Only the stable interfaces of Python (PEP 384) and numpy are used. */

#define Py_LIMITED_API 0x030B0000 /* Python 3.11 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_25_API_VERSION
#define NPY_TARGET_VERSION NPY_1_25_API_VERSION
#include <numpy/arrayobject.h>
#include <stdint.h>
#include <string.h>

/* The loops of this level. */

typedef int Function(void *result, void **error, int64_t *words);

typedef struct {
    const char *name, *format;
    Function *function;
} Loop;

typedef struct {
    const Loop *loop;
    const char *format; /* what is left of it */
    int64_t *words;     /* where the next argument goes */
} Reader;

static int refuse(const Reader *reader, const char *expected, PyObject *given) {
    PyErr_Format(PyExc_TypeError, "%s: expected %s, got %R", reader->loop->name, expected, given);
    return 0;
}

static int read_array(Reader *reader, PyObject *given) {
    const char kind = reader->format[1];
    const int size = reader->format[2] - '0', dimensions = reader->format[3] - '0';
    PyArrayObject *array = (PyArrayObject *)given;
    if (!PyArray_Check(given) || PyArray_NDIM(array) != dimensions || PyArray_DESCR(array)->kind != kind ||
        PyArray_ITEMSIZE(array) != size || !PyArray_ISCARRAY_RO(array)) {
        char expected[64];
        PyOS_snprintf(expected, sizeof expected, "an array of %c%d in C order with %d dimensions", kind, size, dimensions);
        return refuse(reader, expected, given);
    }
    *reader->words++ = (int64_t)(intptr_t)PyArray_DATA(array);
    for (int k = 0; k < dimensions; k++) *reader->words++ = PyArray_DIM(array, k);
    reader->format += 4;
    return 1;
}

static int read_argument(Reader *reader, PyObject *given);

static int read_tuple(Reader *reader, PyObject *given) {
    if (!PyTuple_Check(given)) return refuse(reader, "a tuple", given);
    reader->format++;
    for (Py_ssize_t k = 0; k < PyTuple_Size(given); k++)
        if (*reader->format == ')' || !read_argument(reader, PyTuple_GetItem(given, k)))
            return PyErr_Occurred() ? 0 : refuse(reader, "fewer items", given);
    return *reader->format++ == ')' ? 1 : refuse(reader, "more items", given);
}

/* A tuple that many calls pass. Its words are kept for further calls that read it by the same format. */

typedef struct {
    PyObject *tuple;
    const char *format;
    size_t length, count; /* of the format and of the words */
    int64_t words[MOST_WORDS];
} Packed;

static const char name_of_packed[] = "cylcollide.packed";

static int read_packed(Reader *reader, PyObject *given) {
    Packed *packed = PyCapsule_GetPointer(given, name_of_packed);
    if (packed == NULL) return 0;
    if (packed->length == 0 || strncmp(reader->format, packed->format, packed->length)) {
        Reader own = {reader->loop, reader->format, packed->words};
        packed->length = 0;
        if (!read_tuple(&own, packed->tuple)) return 0;
        packed->format = reader->format;
        packed->length = (size_t)(own.format - reader->format);
        packed->count = (size_t)(own.words - packed->words);
    }
    memcpy(reader->words, packed->words, packed->count * sizeof *packed->words);
    reader->words += packed->count;
    reader->format += packed->length;
    return 1;
}

static void release(PyObject *capsule) {
    Packed *packed = PyCapsule_GetPointer(capsule, name_of_packed);
    Py_DECREF(packed->tuple);
    PyMem_Free(packed);
}

static PyObject *pack(PyObject *module, PyObject *tuple) {
    Packed *packed = PyMem_Calloc(1, sizeof *packed);
    if (packed == NULL) return PyErr_NoMemory();
    packed->tuple = Py_NewRef(tuple);
    PyObject *capsule = PyCapsule_New(packed, name_of_packed, release);
    if (capsule == NULL) {
        Py_DECREF(tuple);
        PyMem_Free(packed);
    }
    return capsule;
}

static int read_argument(Reader *reader, PyObject *given) {
    double number;
    switch (*reader->format) {
    case '[': return read_array(reader, given);
    case '(': return (PyCapsule_CheckExact(given) ? read_packed : read_tuple)(reader, given);
    case 'd':
        number = PyFloat_AsDouble(given);
        if (number == -1.0 && PyErr_Occurred()) return 0;
        memcpy(reader->words, &number, sizeof number);
        break;
    case 'q':
    case '?':
        *reader->words = *reader->format == 'q' ? PyLong_AsLongLong(given) : PyObject_IsTrue(given);
        if (*reader->words == -1 && PyErr_Occurred()) return 0;
        break;
    default: return refuse(reader, "fewer arguments", given);
    }
    reader->words++;
    reader->format++;
    return 1;
}

static PyObject *call(const Loop *loop, PyObject *const *arguments, Py_ssize_t count) {
    int64_t words[MOST_WORDS];
    union {
        double number;
        int64_t integer;
        int8_t truth;
    } result;
    void *error;
    const int keeps_lock = *loop->format == '!';
    Reader reader = {loop, loop->format + keeps_lock, words};
    for (Py_ssize_t k = 0; k < count; k++)
        if (!read_argument(&reader, arguments[k])) return NULL;
    if (*reader.format++ != ':') return PyErr_Format(PyExc_TypeError, "%s: expected more arguments", loop->name);
    PyThreadState *released = keeps_lock ? NULL : PyEval_SaveThread();
    const int status = loop->function(&result, &error, words);
    if (released) PyEval_RestoreThread(released);
    if (status != 0) return PyErr_Format(PyExc_SystemError, "%s: a defect of cylcollide (status %d)", loop->name, status);
    switch (*reader.format) {
    case 'd': return PyFloat_FromDouble(result.number);
    case 'q': return PyLong_FromLongLong(result.integer);
    case '?': return PyBool_FromLong(result.truth);
    default: Py_RETURN_NONE;
    }
}

#define LOOP(name, format)                                                                                             \
    extern Function cylcollide_##name;                                                                                 \
    static PyObject *call_##name(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {                     \
        static const Loop loop = {#name, format, cylcollide_##name};                                                   \
        return call(&loop, arguments, count);                                                                          \
    }
#include LOOPS
#undef LOOP

/* supported(): whether this processor, and its operating system, have what the level needs. */

#if LEVEL > 1
#include <cpuid.h>
#define HAS(bits, register) (((register) & (bits)) == (bits))
#endif

static PyObject *supported(PyObject *module, PyObject *none) {
#if LEVEL > 1
    const unsigned v2_1c = 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23; /* SSE3 to POPCNT */
    const unsigned v3_1c = v2_1c | 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29;  /* FMA MOVBE OSXSAVE AVX F16C */
    const unsigned v3_81c = 1u << 0 | 1u << 5;                                            /* LAHF LZCNT */
    const unsigned v3_7b = 1u << 3 | 1u << 5 | 1u << 8;                                   /* BMI1 AVX2 BMI2 */
    const unsigned v4_7b = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;          /* AVX512 F DQ CD BW VL */
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !HAS(v3_1c, c)) Py_RETURN_FALSE;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if (!HAS(LEVEL < 4 ? 0x06u : 0xe6u, low)) Py_RETURN_FALSE; /* registers that the system saves */
    if (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || !HAS(v3_81c, c)) Py_RETURN_FALSE;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !HAS(LEVEL < 4 ? v3_7b : v3_7b | v4_7b, b)) Py_RETURN_FALSE;
#endif
    Py_RETURN_TRUE;
}

/* Whether two arguments are arrays of float64 in C order with shape (n, 3), equally long: vectors as loops read them. */
static PyObject *are_vectors(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    for (Py_ssize_t k = 0; k < count; k++) {
        PyArrayObject *array = (PyArrayObject *)given[k];
        if (!PyArray_CheckExact(given[k]) || PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(array) ||
            PyArray_NDIM(array) != 2 || PyArray_DIM(array, 1) != 3 ||
            PyArray_DIM(array, 0) != PyArray_DIM((PyArrayObject *)given[0], 0))
            Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}

#include "tuples.c"
#define FAST(function) (PyCFunction)(void (*)(void))function, METH_FASTCALL
#define LOOP(name, format) {#name, FAST(call_##name), NULL},

static PyMethodDef methods[] = {
#include LOOPS
    {"are_vectors", FAST(are_vectors), "Whether arguments are arrays of float64 in C order, (n, 3), equally long."},
    {"pack", pack, METH_O, "A tuple of arrays and numbers, read once: it stands for the tuple in calls of loops."},
    TUPLES
    {"supported", supported, METH_NOARGS, "Whether this processor can run the loops of this module."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, MODULE, "Machine code of the loops.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC INITIALISE(void) {
    import_array();
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddStringConstant(module, "sources", SOURCES) < 0) Py_CLEAR(module);
    return module;
}

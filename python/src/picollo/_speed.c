/* The most frequent calls of Python programs, in C: recording one value, scopes, reading the clock.
 *
 * This optional module (see _extension.py) links to no library; ctypes passes it the addresses of the loaded library's
 * functions. It handles only the ordinary case of each call. All else, such as keyword arguments, integers that do not
 * fit, objects that are no int, and closed histograms, goes to the Python function that the C function replaces, kept
 * beside it as _plain_NAME. So one place decides what is accepted and which errors are raised.
 *
 * Limited API of CPython 3.9. The GIL is held throughout: no other thread can close a histogram during a call, and
 * single-writer histograms stay single-writer.
 */
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef Py_GIL_DISABLED
#error "without the GIL these calls are made through ctypes"
#endif

/* Part of the limited API since 3.10. 3.9, which does not change any more, has the same under the same number. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

/* Raise together with the number in _extension.py when the interface between the two changes. */
#define REVISION 2

/* As in picollo.h. _library.py has compared the library's ABI version. */
enum { MONOTONIC = 0, TSC = 1 };
enum { UNIT_TICKS = 0, UNIT_NANOS = 1, UNIT_MICROS = 2, UNIT_MILLIS = 3 };

/* A picollo_scope. This module knows only that it fits. */
typedef struct {
    uint64_t opaque[8];
} raw_scope;

typedef struct {
    void (*record)(void *histogram, uint64_t value);
    void (*record_n)(void *histogram, uint64_t value, uint64_t count);
    void (*scope_begin)(void *histogram, uint32_t clock, uint32_t unit, raw_scope *out);
    uint64_t (*scope_end)(raw_scope *scope);
    uint64_t (*ticks)(uint32_t clock);
} functions;

/* One for the process: method descriptors of 3.9's limited API do not lead to their module. */
static functions library;
/* The one interpreter that uses this module; others use ctypes. */
static PyInterpreterState *interpreter;
/* The type that ctypes passes for a handle: exactly c_void_p. Only compared. */
static PyTypeObject *pointer_type;
/* Made once and shared by all imports of the module. */
static PyTypeObject *handle_type, *scope_type;

/* ── the way through Python ────────────────────────────────────────────────────────────────────────────────────────────────────── */

static PyObject *plainly(PyObject *self, const char *name, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *result = NULL, *keywords = NULL;
    PyObject *function = PyObject_GetAttrString(self, name);
    PyObject *positional = PyTuple_New(count);
    if (function == NULL || positional == NULL) goto done;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_INCREF(arguments[i]);
        if (PyTuple_SetItem(positional, i, arguments[i]) != 0) goto done;
    }
    if (names != NULL) {
        keywords = PyDict_New();
        if (keywords == NULL) goto done;
        for (Py_ssize_t i = 0; i < PyTuple_Size(names); i++) {
            if (PyDict_SetItem(keywords, PyTuple_GetItem(names, i), arguments[count + i]) != 0) goto done;
        }
    }
    result = PyObject_Call(function, positional, keywords);
done:
    Py_XDECREF(keywords);
    Py_XDECREF(positional);
    Py_XDECREF(function);
    return result;
}

/* Returns whether the object is exactly an int from 0 to 2**64 - 1. */
static int is_u64(PyObject *object, uint64_t *out)
{
    if (!PyLong_CheckExact(object)) return 0;
    *out = PyLong_AsUnsignedLongLong(object);
    if (*out == UINT64_MAX && PyErr_Occurred() != NULL) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}

/* ── handles ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* The base of picollo._handle.Handle: an attribute _pointer, and the address in it. */
typedef struct {
    PyObject_HEAD
    PyObject *pointer;
    /* NULL unless pointer is a c_void_p; once the handle is closed, it is not. */
    void *address;
} handle;

static int handle_traverse(handle *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->pointer);
    return 0;
}

static int handle_clear(handle *self)
{
    self->address = NULL;
    Py_CLEAR(self->pointer);
    return 0;
}

static void handle_dealloc(handle *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    handle_clear(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Returns the address in a c_void_p. Returns NULL with an exception on failure, without one for a null pointer. */
static void *address_in(PyObject *pointer)
{
    PyObject *value = PyObject_GetAttrString(pointer, "value");
    void *address = value == NULL || value == Py_None ? NULL : PyLong_AsVoidPtr(value);
    Py_XDECREF(value);
    return address;
}

static int handle_set_pointer(handle *self, PyObject *pointer, void *closure)
{
    void *address = NULL;
    PyObject *before = self->pointer;
    (void)closure;
    if (pointer != NULL && Py_TYPE(pointer) == pointer_type) {
        address = address_in(pointer);
        if (address == NULL && PyErr_Occurred() != NULL) return -1;
    }
    if (pointer == NULL && before == NULL) {
        PyErr_SetString(PyExc_AttributeError, "_pointer");
        return -1;
    }
    Py_XINCREF(pointer);
    self->address = address;
    self->pointer = pointer;
    /* Last, because this may free the histogram and run finalizers that wait for it. */
    Py_XDECREF(before);
    return 0;
}

static PyObject *handle_get_pointer(handle *self, void *closure)
{
    (void)closure;
    if (self->pointer == NULL) {
        PyErr_SetString(PyExc_AttributeError, "_pointer");
        return NULL;
    }
    Py_INCREF(self->pointer);
    return self->pointer;
}

static PyGetSetDef handle_attributes[] = {
    {"_pointer", (getter)handle_get_pointer, (setter)handle_set_pointer, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot handle_slots[] = {
    {Py_tp_traverse, (void *)handle_traverse},
    {Py_tp_clear, (void *)handle_clear},
    {Py_tp_dealloc, (void *)handle_dealloc},
    {Py_tp_getset, handle_attributes},
    {0, NULL},
};

static PyType_Spec handle_spec = {
    .name = "picollo._speed.Handle",
    .basicsize = sizeof(handle),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = handle_slots,
};

/* ── scopes ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

typedef struct {
    PyObject_HEAD
    /* Keeps the histogram alive. It refers to nothing that leads back here, so the garbage collector can ignore it. */
    PyObject *pointer;
    void *histogram;
    uint32_t clock, unit;
    enum { NOT_ENDED, ACTIVE, ENDED } state;
    uint64_t elapsed;
    raw_scope raw;
} scope;

static PyObject *new_scope(PyTypeObject *type, PyObject *pointer, void *histogram, uint32_t clock, uint32_t unit)
{
    scope *self = (scope *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self == NULL) return NULL;
    Py_INCREF(pointer);
    self->pointer = pointer;
    self->histogram = histogram;
    self->clock = clock;
    self->unit = unit;
    self->state = NOT_ENDED;
    return (PyObject *)self;
}

/* The number in a c_uint32. */
static int code_in(PyObject *object, uint32_t *out)
{
    PyObject *value = PyObject_GetAttrString(object, "value");
    unsigned long code;
    if (value == NULL) return -1;
    code = PyLong_AsUnsignedLong(value);
    Py_DECREF(value);
    if (PyErr_Occurred() != NULL) return -1;
    *out = (uint32_t)code;
    return 0;
}

static PyObject *scope_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"histogram", "clock", "unit", NULL};
    PyObject *pointer, *clock_object, *unit_object;
    uint32_t clock, unit;
    void *histogram;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:Scope", names, &pointer, &clock_object, &unit_object)) return NULL;
    if (Py_TYPE(pointer) != pointer_type) {
        PyErr_SetString(PyExc_TypeError, "scopes are made by Histogram.nano_scope and its siblings");
        return NULL;
    }
    histogram = address_in(pointer);
    if (PyErr_Occurred() != NULL || code_in(clock_object, &clock) != 0 || code_in(unit_object, &unit) != 0) return NULL;
    return new_scope(type, pointer, histogram, clock, unit);
}

static void scope_dealloc(scope *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(self->pointer);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *scope_enter(scope *self, PyObject *unused)
{
    (void)unused;
    if (self->state == ACTIVE) {
        PyErr_SetString(PyExc_RuntimeError, "the scope is already active: nested and concurrent uses need a scope each");
        return NULL;
    }
    self->state = ACTIVE;
    Py_INCREF(self);
    library.scope_begin(self->histogram, self->clock, self->unit, &self->raw);
    return (PyObject *)self;
}

static PyObject *scope_exit(scope *self, PyObject *const *exception, Py_ssize_t count)
{
    (void)exception, (void)count;
    if (self->state != ACTIVE) {
        PyErr_SetString(PyExc_RuntimeError, "the scope is not active");
        return NULL;
    }
    self->elapsed = library.scope_end(&self->raw);
    self->state = ENDED;
    Py_RETURN_NONE;
}

static PyObject *scope_elapsed(scope *self, void *closure)
{
    (void)closure;
    if (self->state != ENDED) {
        PyErr_SetString(PyExc_ValueError, "the scope has not ended yet");
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(self->elapsed);
}

static PyMethodDef scope_methods[] = {
    {"__enter__", (PyCFunction)(void *)scope_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void *)scope_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef scope_attributes[] = {
    {"elapsed", (getter)scope_elapsed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot scope_slots[] = {
    {Py_tp_new, (void *)scope_new},
    {Py_tp_dealloc, (void *)scope_dealloc},
    {Py_tp_methods, scope_methods},
    {Py_tp_getset, scope_attributes},
    {0, NULL},
};

static PyType_Spec scope_spec = {
    .name = "picollo.scope.Scope",
    .basicsize = sizeof(scope),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = scope_slots,
};

/* ── methods of Histogram, and clock.ticks ─────────────────────────────────────────────────────────────────────────────────────── */

#define FAST_METHOD(name) \
    static PyObject *name(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)

FAST_METHOD(record)
{
    void *histogram = ((handle *)self)->address;
    uint64_t value;
    if (count == 1 && names == NULL && histogram != NULL && is_u64(arguments[0], &value)) {
        library.record(histogram, value);
        Py_RETURN_NONE;
    }
    return plainly(self, "_plain_record", arguments, count, names);
}

FAST_METHOD(record_n)
{
    void *histogram = ((handle *)self)->address;
    uint64_t value, times;
    if (count == 2 && names == NULL && histogram != NULL && is_u64(arguments[0], &value) && is_u64(arguments[1], &times)) {
        library.record_n(histogram, value, times);
        Py_RETURN_NONE;
    }
    return plainly(self, "_plain_record_n", arguments, count, names);
}

#define SCOPE_METHOD(name, unit)                                                                                      \
    FAST_METHOD(name)                                                                                                 \
    {                                                                                                                 \
        const handle *histogram = (handle *)self;                                                                     \
        if (count == 0 && names == NULL && histogram->address != NULL)                                                \
            return new_scope(scope_type, histogram->pointer, histogram->address, TSC, unit);                    \
        return plainly(self, "_plain_" #name, arguments, count, names);                                               \
    }
SCOPE_METHOD(nano_scope, UNIT_NANOS)
SCOPE_METHOD(micro_scope, UNIT_MICROS)
SCOPE_METHOD(milli_scope, UNIT_MILLIS)
SCOPE_METHOD(tick_scope, UNIT_TICKS)

FAST_METHOD(ticks)
{
    if (names == NULL && count == 0) return PyLong_FromUnsignedLongLong(library.ticks(TSC));
    if (names == NULL && count == 1 && PyUnicode_CheckExact(arguments[0])) {
        if (PyUnicode_CompareWithASCIIString(arguments[0], "tsc") == 0)
            return PyLong_FromUnsignedLongLong(library.ticks(TSC));
        if (PyUnicode_CompareWithASCIIString(arguments[0], "monotonic") == 0)
            return PyLong_FromUnsignedLongLong(library.ticks(MONOTONIC));
    }
    return plainly(self, "_plain_ticks", arguments, count, names);
}

#define FAST_DEFINITION(name) {#name, (PyCFunction)(void *)name, METH_FASTCALL | METH_KEYWORDS, NULL}
static PyMethodDef methods[] = {
    FAST_DEFINITION(record),      FAST_DEFINITION(record_n),    FAST_DEFINITION(nano_scope),
    FAST_DEFINITION(micro_scope), FAST_DEFINITION(milli_scope), FAST_DEFINITION(tick_scope),
};
static PyMethodDef ticks_definition = FAST_DEFINITION(ticks);

/* The text lives as long as the process, because definitions do. The first text serves all later calls. */
static int set_doc(PyMethodDef *definition, const char *text)
{
    if (definition->ml_doc != NULL) return 0;
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    definition->ml_doc = memcpy(copy, text, size);
    return 0;
}

/* method(class, name, doc): the replacement for class.name. The Python function remains as class._plain_name. */
static PyObject *module_method(PyObject *module, PyObject *args)
{
    PyObject *type;
    const char *name, *doc;
    (void)module;
    if (!PyArg_ParseTuple(args, "Oss:method", &type, &name, &doc)) return NULL;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, handle_type)) {
        PyErr_SetString(PyExc_TypeError, "the first argument must be a class of handles");
        return NULL;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].ml_name, name) == 0) {
            return set_doc(&methods[i], doc) == 0 ? PyDescr_NewMethod((PyTypeObject *)type, &methods[i]) : NULL;
        }
    }
    PyErr_Format(PyExc_ValueError, "there is no %s", name);
    return NULL;
}

/* function(module, doc): the replacement for module.ticks. */
static PyObject *module_function(PyObject *self, PyObject *args)
{
    PyObject *module, *name, *function = NULL;
    const char *doc;
    (void)self;
    if (!PyArg_ParseTuple(args, "Os:function", &module, &doc)) return NULL;
    name = PyObject_GetAttrString(module, "__name__");
    if (name != NULL && set_doc(&ticks_definition, doc) == 0) function = PyCFunction_NewEx(&ticks_definition, module, name);
    Py_XDECREF(name);
    return function;
}

/* connect(revision, c_void_p, size of a picollo_scope, addresses of the functions...) */
static PyObject *module_connect(PyObject *module, PyObject *args)
{
    unsigned revision;
    PyObject *pointer;
    Py_ssize_t size;
    unsigned long long address[5];
    functions found;
    (void)module;
    if (!PyArg_ParseTuple(args, "IO!nKKKKK:connect", &revision, &PyType_Type, &pointer, &size, &address[0], &address[1], &address[2],
                          &address[3], &address[4]))
        return NULL;
    found.record = (void (*)(void *, uint64_t))(uintptr_t)address[0];
    found.record_n = (void (*)(void *, uint64_t, uint64_t))(uintptr_t)address[1];
    found.scope_begin = (void (*)(void *, uint32_t, uint32_t, raw_scope *))(uintptr_t)address[2];
    found.scope_end = (uint64_t (*)(raw_scope *))(uintptr_t)address[3];
    found.ticks = (uint64_t (*)(uint32_t))(uintptr_t)address[4];
    if (revision != REVISION || size > (Py_ssize_t)sizeof(raw_scope)) {
        PyErr_SetString(PyExc_ImportError, "it is of another version");
        return NULL;
    }
    if (library.record != NULL && memcmp(&library, &found, sizeof found) != 0) {
        PyErr_SetString(PyExc_ImportError, "it serves another library already");
        return NULL;
    }
    library = found;
    pointer_type = (PyTypeObject *)pointer;
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"connect", module_connect, METH_VARARGS, NULL},
    {"function", module_function, METH_VARARGS, NULL},
    {"method", module_method, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* ── the module ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static PyModuleDef module_definition = {PyModuleDef_HEAD_INIT, .m_name = "_speed", .m_methods = module_methods};

static int add_type(PyObject *module, const char *name, PyTypeObject **type, PyType_Spec *spec)
{
    if (*type == NULL) *type = (PyTypeObject *)PyType_FromSpec(spec);
    if (*type == NULL) return -1;
    Py_INCREF(*type);
    if (PyModule_AddObject(module, name, (PyObject *)*type) == 0) return 0;
    Py_DECREF(*type);
    return -1;
}

/* Runs at each import: the module has no state, and does not declare that it cannot be created again. */
PyMODINIT_FUNC PyInit__speed(void)
{
    PyObject *module;
    if (interpreter != NULL && interpreter != PyInterpreterState_Get()) {
        PyErr_SetString(PyExc_ImportError, "another interpreter of this process uses it");
        return NULL;
    }
    interpreter = PyInterpreterState_Get();
    module = PyModule_Create(&module_definition);
    if (module == NULL || (add_type(module, "Handle", &handle_type, &handle_spec) == 0 &&
                           add_type(module, "Scope", &scope_type, &scope_spec) == 0))
        return module;
    Py_DECREF(module);
    return NULL;
}

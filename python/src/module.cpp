// The module samesum._core: what the package samesum calls. It has no defaults and no choices of its own: these are in samesum/__init__.py.
#include "arrow.hpp"
#include "dlpack.hpp"
#include "formulas.hpp"
#include "groups.hpp"
#include "objects.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <samesum/error.hpp>
#include <samesum/version.hpp>

#include <exception>
#include <string>

namespace {

PyObject* raised_for_usage = nullptr;
PyObject* raised_for_no_answer = nullptr;
PyObject* raised_for_device = nullptr;

PyObject* new_exception(nanobind::module_& m, const char* name, const char* doc, PyObject* bases) {
  PyObject* type = PyErr_NewExceptionWithDoc((std::string("samesum.") + name).c_str(), doc, bases, nullptr);
  if (type == nullptr) throw nanobind::python_error();
  m.attr(name) = nanobind::handle(type);
  return type;
}

void add_exceptions(nanobind::module_& m) {
  raised_for_usage = new_exception(m, "SamesumError", "An argument that cannot be used. The message says what to do.", PyExc_ValueError);
  const nanobind::tuple both = nanobind::make_tuple(nanobind::handle(raised_for_usage), nanobind::handle(PyExc_ArithmeticError));
  raised_for_no_answer = new_exception(m, "NoAnswerError", "An input without an answer, as the mean of no elements.", both.ptr());
  raised_for_device = new_exception(m, "DeviceError", "A device, its driver or its compiler failed.", PyExc_RuntimeError);
  nanobind::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const samesum::Error& error) {
      PyErr_SetString(error.kind() == samesum::ErrorKind::usage       ? raised_for_usage
                      : error.kind() == samesum::ErrorKind::no_answer ? raised_for_no_answer
                                                                      : raised_for_device,
                      error.what());
    }
  });
}

}  // namespace

NB_MODULE(_core, m) {
  // What is kept between calls belongs to one interpreter. From Python 3.12 on Python itself refuses.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    throw nanobind::import_error("samesum does not support loading in subinterpreters: use threads or processes");
  }
  add_exceptions(m);
  samesum::python::prepare_views();
  samesum::python::bind_objects(m);
  samesum::python::bind_reductions(m);
  samesum::python::bind_formulas(m);
  samesum::python::bind_groups(m);
  samesum::python::bind_lazy(m);
  samesum::python::bind_element_words(m);
  samesum::python::bind_plans(m);
  samesum::python::bind_parts(m);
  m.def("read_arrow", &samesum::python::read_arrow);
  m.def("read_dlpack", &samesum::python::read_dlpack);
  m.def("watch", &samesum::python::watch);
  m.def("version", &samesum::version);
}

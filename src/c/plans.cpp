// Plans of the C interface.
#include "c/formulas.hpp"
#include "c/handles.hpp"

using namespace samesum;
using namespace samesum::c;

namespace {

// A plan's result of a certain type. @throws Error (usage) where the plan is for another one.
template <class Expected>
Expected result_of(const samesum_plan* plan) {
  Result found = need(plan, "plan").plan.result();
  if (auto* expected = std::get_if<Expected>(&found)) return std::move(*expected);
  throw Error(ErrorKind::usage, "the plan is for another operation, whose result has another function");
}

Operation operation_of(samesum_operation operation) {
  switch (operation) {
    case SAMESUM_PLAN_SUM:
      return ops::sum;
    case SAMESUM_PLAN_DOT:
      return ops::dot;
    case SAMESUM_PLAN_EXTREMA:
      return ops::extrema;
    case SAMESUM_PLAN_STATISTICS:
      return kAllFields;
    case SAMESUM_PLAN_PRODUCT:
      return ops::product;
  }
  throw Error(ErrorKind::usage, "there is no operation " + std::to_string(static_cast<int>(operation)));
}

// make(device, options) gives the plan.
template <class Make>
samesum_status make_plan(samesum_device* device, const samesum_options* options, samesum_plan** plan, const Make& make) {
  return give(plan, [&] {
    const Device& on = need(device, "device").device;
    return samesum_plan{make(on, options_of(options)), on};
  });
}

void enqueue(samesum_plan* plan, const std::vector<Array>& arrays, void* record, uint64_t record_bytes) {
  samesum_plan& known = need(plan, "plan");
  if (record == nullptr) {
    known.plan.enqueue(arrays);
  } else {
    known.plan.enqueue(arrays, Buffer::wrap(known.device, record, record_bytes));
  }
}

}  // namespace

extern "C" {

samesum_status samesum_plan_new(samesum_device* device, samesum_operation operation, samesum_type type, uint64_t size, int strided,
                                const samesum_options* options, samesum_plan** plan) {
  return make_plan(device, options, plan, [&](const Device& on, const Options& how) {
    return Plan(on, operation_of(operation), type_of(type), size, how, strided != 0 ? Layout::strided : Layout::contiguous);
  });
}
samesum_status samesum_plan_new_histogram(samesum_device* device, const samesum_bins* bins, samesum_type type, uint64_t size,
                                          const samesum_options* options, samesum_plan** plan) {
  return make_plan(device, options, plan, [&](const Device& on, const Options& how) {
    return Plan(on, need(bins, "bins").value, type_of(type), size, how);
  });
}
samesum_status samesum_plan_new_pairs(samesum_device* device, const samesum_pairs_problem* problem, samesum_type type, uint64_t size,
                                      const samesum_options* options, samesum_plan** plan) {
  return make_plan(device, options, plan, [&](const Device& on, const Options& how) {
    return Plan(on, problem_of(copy_of(problem, "samesum_pairs_problem")), type_of(type), size, how);
  });
}
samesum_status samesum_plan_new_map(samesum_device* device, const char* formula, const samesum_input* inputs, size_t count, uint64_t size,
                                    const samesum_options* options, samesum_plan** plan) {
  return make_plan(device, options, plan, [&](const Device& on, const Options& how) {
    Inputs given = inputs_of(inputs, count);
    return Plan(on, FormulaFields{Formula(&need(formula, "formula")), std::move(given.arrays), std::move(given.parameters), kAllFields}, size,
                how);
  });
}

samesum_status samesum_plan_new_axes(samesum_device* device, const samesum_array* like, samesum_reduction reduction, const int64_t* axes,
                                     size_t count, int keep, const samesum_options* options, samesum_plan** plan) {
  return make_plan(device, options, plan, [&](const Device& on, const Options& how) {
    return Plan(on, AlongAxes{array_of(like), axes_of(axes, count, keep), reduction_of(reduction)}, how);
  });
}
samesum_status samesum_plan_new_operator(samesum_device* device, const char* formula, const samesum_input* inputs, size_t count,
                                         const samesum_operator* op, uint64_t size, const samesum_options* options, samesum_plan** plan) {
  return make_plan(device, options, plan, [&](const Device& on, const Options& how) {
    Inputs given = inputs_of(inputs, count);
    return Plan(on, ByOperator{operator_of(op), Formula(&need(formula, "formula")), std::move(given.arrays), std::move(given.parameters)},
                size, how);
  });
}

samesum_status samesum_plan_enqueue(samesum_plan* plan, const samesum_array* a, const samesum_array* b, void* record,
                                    uint64_t record_bytes) {
  return guard([&] {
    std::vector<Array> arrays{array_of(a)};
    if (b != nullptr) arrays.push_back(array_of(b));
    enqueue(plan, arrays, record, record_bytes);
  });
}
samesum_status samesum_plan_enqueue_arrays(samesum_plan* plan, const samesum_array* arrays, size_t count, void* record,
                                           uint64_t record_bytes) {
  return guard([&] {
    std::vector<Array> given;
    for (const samesum_array& one : need(arrays, count, "arrays")) given.push_back(array_of(&one));
    enqueue(plan, given, record, record_bytes);
  });
}

samesum_status samesum_plan_sum(const samesum_plan* plan, samesum_accumulator** result) {
  return give(result, [&] { return result_of<Accumulator>(plan); });
}
samesum_status samesum_plan_dot(const samesum_plan* plan, double* result) {
  return guard([&] { need(result, "result") = result_of<ProductAccumulator>(plan).round(); });
}
samesum_status samesum_plan_product(const samesum_plan* plan, samesum_value* result) {
  return guard([&] { need(result, "result") = c::value_of(result_of<Value>(plan)); });
}
samesum_status samesum_plan_statistics(const samesum_plan* plan, samesum_statistics** result) {
  return give(result, [&] { return result_of<Statistics>(plan); });
}
samesum_status samesum_plan_histogram(const samesum_plan* plan, samesum_histogram** result) {
  return give(result, [&] { return result_of<Histogram>(plan); });
}
samesum_status samesum_plan_pairs(const samesum_plan* plan, const samesum_array* to) {
  return guard([&] { copy(samesum::array_of(result_of<PairsResult>(plan)), to); });
}
samesum_status samesum_plan_axes(const samesum_plan* plan, const samesum_array* to) {
  return guard([&] { copy(result_of<Values>(plan).array(), to); });
}
samesum_status samesum_plan_operator(const samesum_plan* plan, samesum_value* results, size_t* count) {
  return guard([&] { write_values(result_of<std::vector<Value>>(plan), results, count); });
}
void samesum_plan_free(samesum_plan* plan) { delete plan; }

}  // extern "C"

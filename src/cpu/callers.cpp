#include "cpu/callers.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cpu/lapack.hpp"
#include "cpu/objects.hpp"
#include "host/errno_guard.hpp"
#include "host/once.hpp"
#include "routines.hpp"

namespace overlapack::cpu {
namespace {

using Objects = std::vector<LoadedObject>;
using Order = std::vector<const LoadedObject*>;

/// The object that an address lies in, or null.
LoadedObject* holder(Objects& objects, const void* address) {
  for (LoadedObject& object : objects) {
    if (object.range.contains(address)) return &object;
  }
  return nullptr;
}

/// Whether an object has what is looked for. What is ours does not count.
bool is_candidate(const LoadedObject& object) {
  return object.definition != nullptr && !object.ours;
}

const LoadedObject* first_candidate(const Order& order) {
  for (const LoadedObject* object : order) {
    if (is_candidate(*object)) return object;
  }
  return nullptr;
}

/// What objects are linked with.
class Links {
 public:
  explicit Links(const Objects& objects) : objects_(objects) {
    for (const LoadedObject& object : objects) {
      by_name_.emplace(object.name, &object);  // the first one of a name keeps it
      by_name_.emplace(file_name(object.file), &object);
    }
  }

  /// The object itself and what it is linked with.
  Order direct(const LoadedObject& object) const {
    Order order{&object};
    append(object, order);
    return order;
  }

  /// What the object was loaded with, in the order in which the dynamic linker looks a symbol up:
  /// the first of all objects that need it, and what that one needs, breadth first.
  Order scope(const LoadedObject& object) const {
    for (const LoadedObject& root : objects_) {
      Order order{&root};
      for (std::size_t i = 0; i < order.size(); ++i) append(*order[i], order);
      if (std::find(order.begin(), order.end(), &object) != order.end()) return order;
    }
    return {};
  }

 private:
  /// Adds what the object is linked with and `order` has not.
  void append(const LoadedObject& object, Order& order) const {
    for (const std::string& needed : object.needed) {
      const auto found = by_name_.find(file_name(needed));
      if (found == by_name_.end()) continue;
      if (std::find(order.begin(), order.end(), found->second) != order.end()) continue;
      order.push_back(found->second);
    }
  }

  const Objects& objects_;
  std::unordered_map<std::string_view, const LoadedObject*> by_name_;
};

/// Whether the caller, which has the routine itself, comes before us in the link order, as a tool
/// does that counts calls: what it hands on to us may be anybody's.
bool hands_calls_on(const LoadedObject& caller, const std::string& symbol) {
  return is_candidate(caller) && !caller.wide &&
         caller.range.contains(dlsym(RTLD_DEFAULT, symbol.c_str()));
}

/// The object that has the routine which a caller would have called without this library, or null.
const LoadedObject* meant(Objects& objects, const void* address, const std::string& symbol) {
  const DlerrorGuard dlerror_guard;
  LoadedObject* caller = holder(objects, address);
  if (caller != nullptr && hands_calls_on(*caller, symbol)) {
    caller->ours = true;
    caller = nullptr;
  }
  const Links links(objects);
  bool is_linked_with_us = false;
  if (caller != nullptr) {
    // A library that the caller is linked with comes before one that is there for all: if the two
    // have other integers, the caller was compiled for those of the former.
    const Order direct = links.direct(*caller);
    if (const LoadedObject* const found = first_candidate(direct)) return found;
    is_linked_with_us = std::any_of(direct.begin(), direct.end(),
                                    [](const LoadedObject* object) { return object->ours; });
  }
  if (!is_linked_with_us) {
    const LoadedObject* const next = holder(objects, dlsym(RTLD_NEXT, symbol.c_str()));
    if (next != nullptr && is_candidate(*next)) return next;
  }
  if (caller != nullptr) {
    if (const LoadedObject* const found = first_candidate(links.scope(*caller))) return found;
  }
  if (is_linked_with_us) return nullptr;
  // Nothing tells, as for code made at run time. It cannot mean what is not there.
  const LoadedObject* wide = nullptr;
  for (const LoadedObject& object : objects) {
    if (!is_candidate(object)) continue;
    if (!object.wide) return nullptr;
    if (wide == nullptr) wide = &object;
  }
  return wide;
}

/// The routine that a caller would have called without this library, if it has 64-bit integers.
void* find_wide(const void* caller, const std::string& symbol) {
  Objects objects = loaded_objects(symbol);
  const bool any = std::any_of(objects.begin(), objects.end(), [](const LoadedObject& object) {
    return is_candidate(object) && object.wide;
  });
  if (!any) return nullptr;  // as a rule
  const LoadedObject* const object = meant(objects, caller, symbol);
  return object != nullptr && object->wide ? object->definition : nullptr;
}

/// A routine that calls are handed on to. Its library is not kept in the process.
struct Target {
  void* address = nullptr;
  ObjectMark library;
};
constexpr Target kServedHere{};

constexpr std::size_t kTypes = 4;

/// What is known of an object that calls. Records are never changed but for new targets, nor freed,
/// so calls read them without a lock. When an object is loaded again in the same place, it has the
/// same record: its code is the same, and so are its integers.
struct Record {
  explicit Record(const char* begin) : object(begin) {}
  const ObjectMark object;
  Record* next = nullptr;
  std::array<std::atomic<const Target*>, kRoutineRowCount * kTypes> targets{};  // null: unknown
};

std::array<std::atomic<Record*>, 64> records;  // by where the objects lie

/// The record of the object that begins there; null stands for code that belongs to no object.
Record& record_of(const char* begin) {
  std::atomic<Record*>& head = records[reinterpret_cast<std::uintptr_t>(begin) / 4096 % 64];
  Record* const first = head.load(std::memory_order_acquire);
  for (Record* record = first; record != nullptr; record = record->next) {
    if (record->object.is(begin)) return *record;
  }
  auto* const record = new Record(begin);
  record->next = first;  // two threads may add one each, of which the later one counts
  while (!head.compare_exchange_weak(record->next, record)) {
  }
  return *record;
}

std::string plain_name(std::size_t row, char type) {
  return spell(Family::lp64, type, kRoutineRows[row].name);
}

const Target* find_target(const void* caller, std::size_t row, char type) {
  const AtWork at_work;
  void* const routine = find_wide(caller, plain_name(row, type));
  if (routine == nullptr) return &kServedHere;
  return new Target{routine, ObjectMark(beginning_of(routine))};
}

}  // namespace

void* foreign_routine(const void* caller, std::size_t row, char type) {
  Record& record = record_of(beginning_of(caller));
  const std::size_t type_index = type == 's' ? 0 : type == 'd' ? 1 : type == 'c' ? 2 : 3;
  std::atomic<const Target*>& known = record.targets[kTypes * row + type_index];
  const Target* target = known.load(std::memory_order_acquire);
  if (target == &kServedHere) return nullptr;
  if (target == nullptr || !target->library.is(beginning_of(target->address))) {
    target = find_target(caller, row, type);
    known.store(target, std::memory_order_release);
  }
  return target->address;
}

void* routine_to_report(const void* caller, std::size_t row, char type) {
  const std::string symbol = plain_name(row, type);
  Objects objects = loaded_objects(symbol);
  const LoadedObject* const own = holder(objects, caller);
  if (own == nullptr || is_candidate(*own)) return nullptr;
  const LoadedObject* const found = meant(objects, caller, symbol);
  return found != nullptr && !found->wide ? found->definition : nullptr;
}

void* own_xerbla(const void* caller) {
  Objects objects = loaded_objects("xerbla_");
  const LoadedObject* const own = holder(objects, caller);
  return own != nullptr ? own->definition : nullptr;
}

bool came_later(const void* definition, const void* caller) {
  Objects objects = loaded_objects("xerbla_");
  const LoadedObject* const own = holder(objects, caller);
  const LoadedObject* const other = holder(objects, definition);
  return own != nullptr && other > own;
}

}  // namespace overlapack::cpu

// The dynamic section of an object that the dynamic linker has loaded.
#pragma once

#include <link.h>

namespace overlapack {

class DynamicSection {
 public:
  DynamicSection(ElfW(Addr) base, const ElfW(Dyn) * entries) : base_(base), entries_(entries) {}
  explicit DynamicSection(const link_map& object) : DynamicSection(object.l_addr, object.l_ld) {}

  /// Calls visit(value) for each entry with that tag.
  template <class Visit>
  void each(ElfW(Sxword) tag, Visit visit) const {
    for (const ElfW(Dyn)* entry = entries_; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == tag) visit(entry->d_un.d_val);
    }
  }
  /// Of the entry with that tag; 0 if there is none.
  ElfW(Xword) value(ElfW(Sxword) tag) const {
    ElfW(Xword) value = 0;
    each(tag, [&](ElfW(Xword) found) { value = found; });
    return value;
  }
  /// What an entry points to, or null. It is an address, if the dynamic linker could write it
  /// there, or else where that is in the object.
  template <class X>
  const X* pointer(ElfW(Sxword) tag) const {
    const ElfW(Addr) place = value(tag);
    if (place == 0) return nullptr;
    return reinterpret_cast<const X*>(place < base_ ? base_ + place : place);
  }

 protected:
  ElfW(Addr) base() const { return base_; }

 private:
  ElfW(Addr) base_;
  const ElfW(Dyn) * entries_;
};

}  // namespace overlapack

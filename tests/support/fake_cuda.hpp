#pragma once

/// What the driver calls some addresses from now on. The CPU reads all but device memory.
enum class FakeMemory { device, managed, host };
[[gnu::visibility("default")]] void fake_memory(FakeMemory kind, const void* begin,
                                                const void* end);
/// The driver knows no memory.
inline void fake_no_memory() { fake_memory(FakeMemory::host, nullptr, nullptr); }

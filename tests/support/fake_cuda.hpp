#pragma once

/// Which addresses the driver calls device memory from now on.
[[gnu::visibility("default")]] void fake_device_memory(const void* begin, const void* end);

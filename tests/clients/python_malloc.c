/* Python's function for memory, as a program has it that is Python. */
#include <stdlib.h>

void* PyMem_RawMalloc(size_t bytes) { return malloc(bytes); }

/* Of libraries that only bring other libraries (CMakeLists.txt). A source file cannot be empty. */
typedef int overlapack_no_code;

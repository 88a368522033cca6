"""Tells threadpoolctl of the library: `threadpool_info()` lists it, and `threadpool_limits(1,
user_api="lapack")` makes it copy matrices by one thread.

`import overlapack` does it if threadpoolctl has been imported before. Otherwise import this.
"""

import threadpoolctl

import overlapack


class Controller(threadpoolctl.LibController):
    user_api = "lapack"
    internal_api = "overlapack"
    filename_prefixes = ("liboverlapack",)
    check_symbols = ("ovl_set", "ovl_info")

    def get_num_threads(self):
        return int(overlapack.status()["threads"])

    def set_num_threads(self, num_threads):
        # So that a limit which ends leaves the default behind, if that is what there was.
        overlapack.set("OVERLAPACK_THREADS", "")
        if self.get_num_threads() != num_threads:
            overlapack.set("OVERLAPACK_THREADS", num_threads)

    def get_version(self):
        return overlapack.status()["version"]


threadpoolctl.register(Controller)

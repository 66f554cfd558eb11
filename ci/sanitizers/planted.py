"""Faults from Python that ci/sanitizers.sh asan must find: use-after-free or leak."""

import ctypes
import os
import sys

library = ctypes.CDLL(os.environ["PICOLLO_LIBRARY"])
histogram = ctypes.c_void_p()
assert library.picollo_histogram_create(None, ctypes.byref(histogram)) == 0
if sys.argv[1] == "use-after-free":
    library.picollo_histogram_free(histogram)
    library.picollo_histogram_record(histogram, ctypes.c_uint64(1))

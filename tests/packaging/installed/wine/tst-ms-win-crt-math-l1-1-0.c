/* For tests under Wine 8 only, whose C runtime lacks these functions. The .def file forwards all others to it. */
#include <complex.h>
float test_crealf(float complex z) { return __real__ z; }
float test_cimagf(float complex z) { return __imag__ z; }
double test_creal(double complex z) { return __real__ z; }
double test_cimag(double complex z) { return __imag__ z; }

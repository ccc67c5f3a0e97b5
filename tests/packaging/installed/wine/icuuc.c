/* For tests under Wine 8 only: functions of ICU that Qt imports. No converter opens, so Qt uses its own. */
#include <windows.h>
#define EXPORT __declspec(dllexport)
EXPORT void *ucnv_open(const char *name, int *error) { if (error) *error = 4; return 0; }
EXPORT void ucnv_close(void *converter) {}
EXPORT void UCNV_FROM_U_CALLBACK_SUBSTITUTE(void) {}
EXPORT void UCNV_TO_U_CALLBACK_SUBSTITUTE(void) {}
EXPORT void ucnv_reset(void *converter) {}
EXPORT signed char ucnv_getMaxCharSize(void *converter) { return 4; }
EXPORT const char *ucnv_getName(void *converter, int *error) { if (error) *error = 4; return 0; }
EXPORT void ucnv_getToUCallBack(void *converter, void **action, const void **context) {}
EXPORT void ucnv_getFromUCallBack(void *converter, void **action, const void **context) {}
EXPORT void ucnv_setToUCallBack(void *converter, void *action, void *context, void **a, void **c, int *error) {}
EXPORT void ucnv_setFromUCallBack(void *converter, void *action, void *context, void **a, void **c, int *error) {}
EXPORT void ucnv_cbToUWriteUChars(void *to, void *source, int length, int offset, int *error) {}
EXPORT void ucnv_cbFromUWriteUChars(void *from, void *source, void *limit, int offset, int *error) {}
EXPORT void ucnv_toUnicode(void *converter) {}
EXPORT void ucnv_fromUnicode(void *converter) {}
EXPORT int ucnv_toUCountPending(void *converter, int *error) { return 0; }
EXPORT int ucnv_fromUCountPending(void *converter, int *error) { return 0; }
EXPORT const char *ucnv_getStandardName(const char *name, const char *standard, int *error) { return 0; }
EXPORT const char *ucnv_getAvailableName(int number) { return 0; }
EXPORT int ucnv_countAvailable(void) { return 0; }

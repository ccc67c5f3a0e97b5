/* For tests under Wine 8 only: Wine's own library aborts when Qt requests a colour profile. This one has no profiles. */
#include <windows.h>
#define EXPORT __declspec(dllexport)
EXPORT HANDLE WINAPI OpenColorProfileW(void *profile, DWORD access, DWORD share, DWORD mode) { return 0; }
EXPORT HANDLE WINAPI WcsOpenColorProfileW(void *a, void *b, void *c, DWORD d, DWORD e, DWORD f, DWORD g) { return 0; }
EXPORT HANDLE WINAPI WcsCreateIccProfile(HANDLE profile, DWORD options) { return 0; }
EXPORT BOOL WINAPI CloseColorProfile(HANDLE profile) { return TRUE; }
EXPORT BOOL WINAPI GetColorProfileFromHandle(HANDLE profile, BYTE *bytes, DWORD *count) { return FALSE; }
EXPORT BOOL WINAPI WcsGetDefaultColorProfile(int a, const WCHAR *b, int c, int d, DWORD e, DWORD f, WCHAR *g) { return FALSE; }
EXPORT BOOL WINAPI WcsGetDefaultColorProfileSize(int a, const WCHAR *b, int c, int d, DWORD e, DWORD *f) { return FALSE; }

"""Call the Windows API. Each function returns a raw answer; pure functions in this folder interpret it."""

import sys

if sys.platform == "win32":
    import ctypes
    import winreg
    from ctypes import wintypes
    from pathlib import Path

    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel32.CreateFileW.restype = wintypes.HANDLE
    _kernel32.CreateFileW.argtypes = [
        wintypes.LPCWSTR, wintypes.DWORD, wintypes.DWORD, ctypes.c_void_p, wintypes.DWORD, wintypes.DWORD,
        wintypes.HANDLE,
    ]  # fmt: skip
    _SHARE_READ_AND_WRITE, _OPEN_EXISTING = 0x3, 3
    _QUERY_PROPERTY, _SEEK_PENALTY = 0x2D1400, 7  # IOCTL_STORAGE_QUERY_PROPERTY and a property (winioctl.h)
    _SM_REMOTESESSION = 0x1000
    _NAME_LENGTH = 1024

    def volume(folder: Path) -> tuple[str, str, str, int, bytes]:
        """Return the arguments for `disk.windows_volume` that describe the volume of `folder`."""
        point = ctypes.create_unicode_buffer(_NAME_LENGTH)
        device = ctypes.create_unicode_buffer(_NAME_LENGTH)
        file_system = ctypes.create_unicode_buffer(_NAME_LENGTH)
        _kernel32.GetVolumePathNameW(str(folder), point, _NAME_LENGTH)
        _kernel32.GetVolumeNameForVolumeMountPointW(
            point.value, device, _NAME_LENGTH
        )  # leaves `device` empty on a network share
        _kernel32.GetVolumeInformationW(point.value, None, 0, None, None, None, file_system, _NAME_LENGTH)
        drive_type = int(_kernel32.GetDriveTypeW(point.value))
        penalty = _seek_penalty(device.value.rstrip("\\")) if device.value else b""
        return point.value, device.value, file_system.value, drive_type, penalty

    def _seek_penalty(device: str) -> bytes:
        handle = _kernel32.CreateFileW(device, 0, _SHARE_READ_AND_WRITE, None, _OPEN_EXISTING, 0, None)
        if handle is None or handle == ctypes.c_void_p(-1).value:
            return b""
        try:
            query = (wintypes.DWORD * 3)(_SEEK_PENALTY)
            answer = ctypes.create_string_buffer(12)
            length = wintypes.DWORD()
            _kernel32.DeviceIoControl(
                wintypes.HANDLE(handle), _QUERY_PROPERTY, query, ctypes.sizeof(query), answer, len(answer),
                ctypes.byref(length), None,
            )  # fmt: skip
            return answer.raw[: length.value]
        finally:
            _kernel32.CloseHandle(wintypes.HANDLE(handle))

    def processor_has(feature: int) -> bool:
        return bool(_kernel32.IsProcessorFeaturePresent(feature))

    def processor_name() -> str:
        """Return the processor's name from the registry; "" if there is none."""
        try:
            with winreg.OpenKey(
                winreg.HKEY_LOCAL_MACHINE, r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
            ) as key:
                return str(winreg.QueryValueEx(key, "ProcessorNameString")[0])
        except OSError:
            return ""

    def in_remote_session() -> bool:
        return bool(ctypes.windll.user32.GetSystemMetrics(_SM_REMOTESESSION))

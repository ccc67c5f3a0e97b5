/* The programs in the installation folder. Built twice: the version without a console opens the window; the version
   with CONSOLE is the command line. Both run the interpreter of the version that the file "current" names, in a job,
   so that its child processes end with it.

   --running  exit status 1 if a program of this folder is running, other than the uninstaller
   --stop     closes the windows of these programs, and ends the remaining ones after ten seconds */
#include <windows.h>
#include <tlhelp32.h>
#include <string.h>
#include <wchar.h>

#define LENGTH 32768
#define CLOSE_MS 10000

static wchar_t folder[LENGTH];

/* Finds this program's folder, with a final backslash. */
static void find_folder(void)
{
    GetModuleFileNameW(NULL, folder, LENGTH);
    wcsrchr(folder, L'\\')[1] = 0;
}

/* Reads the name of the version in use, without what is behind its first line. Returns whether there is one. */
static int read_current(wchar_t *name, int length)
{
    static wchar_t path[LENGTH];
    char text[128];
    DWORD nbytes = 0;
    _snwprintf(path, LENGTH, L"%lscurrent", folder);
    HANDLE file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return 0;
    ReadFile(file, text, sizeof text - 1, &nbytes, NULL);
    CloseHandle(file);
    text[nbytes] = 0;
    text[strcspn(text, "\r\n")] = 0;
    return MultiByteToWideChar(CP_UTF8, 0, text, -1, name, length) > 1;
}

static int is_ours(DWORD process)
{
    wchar_t path[LENGTH];
    DWORD length = LENGTH;
    HANDLE opened = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process);
    int found = 0;
    if (opened && process != GetCurrentProcessId() && QueryFullProcessImageNameW(opened, 0, path, &length))
        found = !_wcsnicmp(path, folder, wcslen(folder)) && _wcsicmp(path + wcslen(folder), L"uninstall.exe");
    if (opened)
        CloseHandle(opened);
    return found;
}

static BOOL CALLBACK close_window(HWND window, LPARAM unused)
{
    DWORD process;
    GetWindowThreadProcessId(window, &process);
    if (IsWindowVisible(window) && is_ours(process))
        PostMessageW(window, WM_CLOSE, 0, 0);
    return TRUE;
}

/* Counts the running programs of this folder, and ends them if requested. */
static int count_ours(int end)
{
    PROCESSENTRY32W entry = {sizeof entry};
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    int count = 0;
    for (BOOL more = Process32FirstW(all, &entry); more; more = Process32NextW(all, &entry)) {
        if (!is_ours(entry.th32ProcessID))
            continue;
        count++;
        HANDLE process = end ? OpenProcess(PROCESS_TERMINATE | SYNCHRONIZE, FALSE, entry.th32ProcessID) : NULL;
        if (process) {
            TerminateProcess(process, 1);
            WaitForSingleObject(process, CLOSE_MS);
            CloseHandle(process);
        }
    }
    CloseHandle(all);
    return count;
}

static int stop(void)
{
    EnumWindows(close_window, 0);
    for (int waited = 0; waited < CLOSE_MS && count_ours(0); waited += 200)
        Sleep(200);
    count_ours(1);
    return count_ours(0) != 0;
}

static int run(const wchar_t *program, const wchar_t *module, const wchar_t *arguments)
{
    static wchar_t command[LENGTH];
    wchar_t current[128];
    STARTUPINFOW start = {sizeof start};
    PROCESS_INFORMATION started;
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    DWORD status = 1;
    HANDLE job = CreateJobObjectW(NULL, NULL);
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    if (!read_current(current, 128))
        return 1;
    _snwprintf(command, LENGTH, L"\"%ls%ls\\python\\%ls\" -I -X utf8 -m %ls%ls", folder, current, program, module,
               arguments);
    if (!CreateProcessW(NULL, command, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, &start, &started))
        return 1;
    AssignProcessToJobObject(job, started.hProcess);
    ResumeThread(started.hThread);
    WaitForSingleObject(started.hProcess, INFINITE);
    GetExitCodeProcess(started.hProcess, &status);
    return (int)status;
}

/* Returns the command line after the program's name, including the space before the arguments. */
static const wchar_t *arguments_of(const wchar_t *line)
{
    int quoted = 0;
    for (; *line && (quoted || (*line != L' ' && *line != L'\t')); line++)
        if (*line == L'"')
            quoted = !quoted;
    return line;
}

static const wchar_t *after_space(const wchar_t *line)
{
    return line + wcsspn(line, L" \t");
}

static int start(void)
{
    find_folder();
    const wchar_t *arguments = arguments_of(GetCommandLineW()), *first = after_space(arguments);
    if (!wcscmp(first, L"--running"))
        return count_ours(0) != 0;
    if (!wcscmp(first, L"--stop"))
        return stop();
#ifdef CONSOLE
    if (!*first)
        return run(L"python.exe", L"app", L"");
    if (!wcsncmp(first, L"setup", 5) && (!first[5] || first[5] == L' '))
        return run(L"python.exe", L"engine.cli", arguments);
    return run(L"python.exe", L"engine.launch.entry current engine.cli", arguments);
#else
    return run(L"pythonw.exe", L"app", arguments);
#endif
}

#ifdef CONSOLE
int main(void) { return start(); }
#else
int WINAPI WinMain(HINSTANCE own, HINSTANCE none, LPSTR line, int show) { return start(); }
#endif

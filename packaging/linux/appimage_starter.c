/* Starts an AppImage (type 2) without FUSE: finds the squashfs after its own ELF image, unpacks it once into the
   user's cache and runs AppRun. A later version removes older copies that no running program holds.
   Also supports --appimage-offset and --appimage-extract. Static: needs no libraries of the system. */
#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <squashfuse/squashfuse.h>

#define NAME "specexec-desktop"
#define LENGTH 4096

/* Where programs that update AppImages by their differences look, which read this section of the file. */
__attribute__((section(".upd_info"), used)) static const char update_information[1024] = UPDATE_INFORMATION;

static long end_of_elf(const char *path)
{
    Elf64_Ehdr head;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    long end = read(file, &head, sizeof head) == sizeof head
        ? (long)(head.e_shoff + (unsigned long)head.e_shentsize * head.e_shnum) : -1;
    close(file);
    return end;
}

static int make_folders(const char *path)
{
    char part[LENGTH];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(part, 0755);
    }
    return mkdir(part, 0755) && errno != EEXIST;
}

static int unpack_file(sqfs *fs, sqfs_inode *inode, const char *path)
{
    static char block[1 << 20];
    int file = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, inode->base.mode & 0777);
    if (file < 0)
        return 1;
    for (sqfs_off_t at = 0;;) {
        sqfs_off_t size = sizeof block;
        if (sqfs_read_range(fs, inode, at, &size, block))
            break;
        if (size <= 0)
            return close(file);
        if (write(file, block, size) != size)
            break;
        at += size;
    }
    close(file);
    return 1;
}

static int unpack(const char *image, long offset, const char *target)
{
    sqfs fs;
    sqfs_traverse walk;
    sqfs_err error;
    char path[2 * LENGTH], link[LENGTH];
    if (sqfs_open_image(&fs, image, offset) || sqfs_traverse_open(&walk, &fs, sqfs_inode_root(&fs)))
        return 1;
    while (sqfs_traverse_next(&walk, &error)) {
        sqfs_inode inode;
        size_t size = sizeof link;
        if (walk.dir_end || !walk.path || !*walk.path)
            continue;
        if (sqfs_inode_get(&fs, &inode, sqfs_dentry_inode(&walk.entry)))
            return 1;
        snprintf(path, sizeof path, "%s/%s", target, walk.path);
        if (S_ISDIR(inode.base.mode)) {
            if (mkdir(path, 0755) && errno != EEXIST)
                return 1;
        } else if (S_ISLNK(inode.base.mode)) {
            if (sqfs_readlink(&fs, &inode, link, &size) || symlink(link, path))
                return 1;
        } else if (S_ISREG(inode.base.mode) && unpack_file(&fs, &inode, path))
            return 1;
    }
    return error != SQFS_OK;
}

static int delete_entry(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    return remove(path);
}

/* Locks the folder. The lock survives exec, so the started program holds it too. */
static int hold(const char *folder, int how)
{
    int file = open(folder, O_RDONLY | O_DIRECTORY);
    if (file >= 0 && flock(file, how | LOCK_NB)) {
        close(file);
        return -1;
    }
    return file;
}

static void remove_others(const char *base, const char *kept)
{
    DIR *folder = opendir(base);
    struct dirent *entry;
    char path[2 * LENGTH];
    while (folder && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.' || !strcmp(entry->d_name, kept))
            continue;
        snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
        int held = hold(path, LOCK_EX);
        if (held >= 0) {
            nftw(path, delete_entry, 16, FTW_DEPTH | FTW_PHYS);
            close(held);
        }
    }
    if (folder)
        closedir(folder);
}

int main(int count, char **arguments)
{
    char self[LENGTH], base[LENGTH], kept[64], folder[2 * LENGTH], growing[2 * LENGTH + 32], program[2 * LENGTH + 8];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    struct stat facts;
    if (length < 0 || (self[length] = 0, stat(self, &facts)))
        return 127;
    long offset = end_of_elf(self);
    if (count > 1 && !strcmp(arguments[1], "--appimage-offset"))
        return printf("%ld\n", offset) < 0;
    if (count > 1 && !strcmp(arguments[1], "--appimage-extract"))
        return make_folders("squashfs-root") || unpack(self, offset, "squashfs-root");
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        snprintf(base, sizeof base, "%s/" NAME "/appimage", cache);
    else
        snprintf(base, sizeof base, "%s/.cache/" NAME "/appimage", home ? home : "/tmp");
    snprintf(kept, sizeof kept, "%lx-%lx", (long)facts.st_size, (long)facts.st_mtime);
    snprintf(folder, sizeof folder, "%s/%s", base, kept);
    if (access(folder, F_OK)) {
        snprintf(growing, sizeof growing, "%s.%d.part", folder, getpid());
        int held;
        if (make_folders(growing) || (held = hold(growing, LOCK_SH)) < 0 || unpack(self, offset, growing)
            || (rename(growing, folder) && access(folder, F_OK))) {
            fprintf(stderr, "%s cannot be unpacked into %s: %s\n", self, base, strerror(errno));
            nftw(growing, delete_entry, 16, FTW_DEPTH | FTW_PHYS);
            return 127;
        }
        close(held);
        remove_others(base, kept);
    }
    hold(folder, LOCK_SH);
    setenv("APPIMAGE", self, 1);
    setenv("APPDIR", folder, 1);
    snprintf(program, sizeof program, "%s/AppRun", folder);
    arguments[0] = program;
    execv(program, arguments);
    perror(program);
    return 127;
}

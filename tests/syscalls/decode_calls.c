/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes each of the system calls that training programs and their libraries make, with arguments
 * that show how they are decoded, in the current folder, which it leaves as it was.
 *
 * usage: decode_calls
 *
 * Everything goes through syscall(2), so that the C library decides nothing. What it prints is
 * nothing: strace and wheeltap say what was seen.
 */
#include "decode_calls.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>

static char buffer[8192];

/* ---- Files ----------------------------------------------------------------------------------- */

static void open_and_close(void)
{
	struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 0600, .resolve = RESOLVE_BENEATH};
	long fd;

	SYS(creat, "created", 0640);
	SYS(close, 3);
	SYS(open, "created", O_RDONLY);
	SYS(close, 3);
	SYS(openat, AT_FDCWD, "a file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	SYS(close, 3);
	SYS(openat, AT_FDCWD, "no such file", O_RDONLY | O_NOFOLLOW);
	SYS(openat, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	SYS(close, 3);
	SYS(openat, AT_FDCWD, ".", O_RDWR | O_TMPFILE, 0600);
	SYS(close, 3);
	SYS(openat2, AT_FDCWD, "a file", &how, sizeof(how));
	SYS(close, 3);
	SYS(openat, AT_FDCWD, (char *)1, O_WRONLY | O_APPEND | O_SYNC);
	SYS(open, "/dev/null", O_WRONLY | O_DIRECT | O_NOATIME | O_LARGEFILE);
	SYS(close, 99);
	fd = SYS(dup, 1);
	SYS(dup2, fd, 30);
	SYS(dup3, fd, 31, O_CLOEXEC);
	SYS(close_range, 30, 31, 0);
	SYS(close_range, 700, 701, 4);
	SYS(close, fd);
}

static void read_and_write(void)
{
	static const char odd[] = "tab\there \"quoted\" \\ \001\0022 \377\n";
	char longer[100];
	loff_t from = 2, to = 0;
	struct iovec vectors[] = {{"first", 5}, {"", 0}, {longer, 100}};
	struct iovec into[] = {{buffer, 4}, {buffer + 100, 80}, {buffer + 200, 30}};

	memset(longer, 'x', sizeof(longer));
	SYS(openat, AT_FDCWD, "a file", O_RDWR | O_CREAT, 0644);
	SYS(write, 3, odd, sizeof(odd) - 1);
	SYS(write, 3, "", 0);
	SYS(write, 3, longer, 32);
	SYS(write, 3, longer, 33);
	SYS(write, 3, (char *)16, 4);
	SYS(pwrite64, 3, "0123456789", 10, 4096);
	SYS(lseek, 3, 0, SEEK_SET);
	SYS(lseek, 3, -4, SEEK_END);
	SYS(lseek, 3, 0, SEEK_DATA);
	SYS(lseek, 3, 5, 77);
	SYS(read, 3, buffer, 20);
	SYS(read, 3, buffer, 2000);
	SYS(read, 3, buffer, 0);
	SYS(read, 88, buffer, 10);
	SYS(pread64, 3, buffer, 10, 4096);
	SYS(pread64, 3, buffer, 10, 1 << 20);
	SYS(writev, 3, vectors, 3);
	SYS(pwritev, 3, vectors, 2, 10, 0);
	SYS(pwritev2, 3, vectors, 1, 10, 0, 2);
	SYS(lseek, 3, 0, SEEK_SET);
	SYS(readv, 3, into, 3);
	SYS(preadv, 3, into, 2, 0, 0);
	SYS(preadv2, 3, into, 1, 0, 0, 0);
	SYS(ftruncate, 3, 100);
	SYS(truncate, "a file", 50);
	SYS(fallocate, 3, FALLOC_FL_KEEP_SIZE, 0, 4096);
	SYS(fadvise64, 3, 0, 0, POSIX_FADV_SEQUENTIAL);
	SYS(readahead, 3, 0, 4096);
	SYS(sync_file_range, 3, 0, 10, 2);
	SYS(fsync, 3);
	SYS(fdatasync, 3);
	SYS(syncfs, 3);
	SYS(openat, AT_FDCWD, "another", O_RDWR | O_CREAT, 0600);
	SYS(sendfile, 4, 3, &from, 10);
	SYS(sendfile, 4, 3, NULL, 5);
	SYS(copy_file_range, 3, &from, 4, &to, 10, 0);
	SYS(close, 4);
	SYS(close, 3);
}

static void look_at_files(void)
{
	struct stat info;
	struct statfs system;
	static char extended[256];

	SYS(stat, "a file", &info);
	SYS(lstat, "no such file", &info);
	SYS(stat, "/dev/null", &info);
	SYS(stat, "/", &info);
	SYS(stat, "/tmp", &info);
	SYS(openat, AT_FDCWD, "a file", O_RDONLY);
	SYS(fstat, 3, &info);
	SYS(newfstatat, 3, "", &info, AT_EMPTY_PATH);
	SYS(newfstatat, AT_FDCWD, "a file", &info, AT_SYMLINK_NOFOLLOW);
	SYS(statx, AT_FDCWD, "a file", AT_STATX_SYNC_AS_STAT | AT_SYMLINK_NOFOLLOW, STATX_ALL,
	    extended);
	SYS(statx, AT_FDCWD, "none", AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, extended);
	SYS(statfs, "/proc", &system);
	SYS(fstatfs, 3, NULL);
	SYS(access, "a file", R_OK | W_OK);
	SYS(access, "no such file", F_OK);
	SYS(faccessat, AT_FDCWD, "a file", X_OK);
	SYS(faccessat2, AT_FDCWD, "a file", R_OK, AT_EACCESS);
	SYS(setxattr, "a file", "user.name", "value", 5, XATTR_CREATE);
	SYS(fsetxattr, 3, "user.name", "value", 5, 0);
	SYS(getxattr, "a file", "user.name", buffer, 100);
	SYS(lgetxattr, "a file", "user.name", buffer, 100);
	SYS(listxattr, "a file", buffer, 100);
	SYS(removexattr, "a file", "user.name");
	SYS(fremovexattr, 3, "user.none");
	SYS(close, 3);
}

static void change_names(void)
{
	struct timespec times[] = {{0, UTIME_NOW}, {12, 34}};
	struct timeval stamps[] = {{1, 2}, {3, 4}};
	mode_t mask = (mode_t)SYS(umask, 022);

	SYS(umask, mask);
	SYS(mkdir, "folder", 0755);
	SYS(mkdirat, AT_FDCWD, "folder/inner", 0700);
	SYS(chmod, "folder", 0700);
	SYS(fchmodat, AT_FDCWD, "folder", 01777);
	SYS(openat, AT_FDCWD, "folder", O_RDONLY | O_DIRECTORY);
	SYS(fchmod, 3, 0755);
	SYS(fchown, 3, -1, -1);
	SYS(getdents64, 3, buffer, sizeof(buffer));
	SYS(getdents64, 3, buffer, sizeof(buffer));
	SYS(fchdir, 3);
	SYS(chdir, "..");
	SYS(rename, "another", "renamed");
	SYS(renameat, AT_FDCWD, "renamed", 3, "inside");
	SYS(renameat2, 3, "inside", AT_FDCWD, "another", RENAME_NOREPLACE);
	SYS(link, "another", "linked");
	SYS(linkat, AT_FDCWD, "another", 3, "linked", 0);
	SYS(symlink, "a file", "link");
	SYS(symlinkat, "target of a link", 3, "link");
	SYS(readlink, "link", buffer, 100);
	SYS(readlink, "a file", buffer, 100);
	SYS(readlinkat, 3, "link", buffer, 100);
	SYS(chown, "link", -1, -1);
	SYS(lchown, "link", 4000, 5000);
	SYS(fchownat, AT_FDCWD, "link", -1, 0, AT_SYMLINK_NOFOLLOW);
	SYS(utimensat, AT_FDCWD, "a file", times, 0);
	SYS(utimensat, AT_FDCWD, "a file", NULL, AT_SYMLINK_NOFOLLOW);
	SYS(utimes, "a file", stamps);
	SYS(mknod, "pipe", S_IFIFO | 0600, 0);
	SYS(mknodat, AT_FDCWD, "device", S_IFCHR | 0600, 0x103);
	SYS(unlink, "pipe");
	SYS(unlink, "device");
	SYS(unlinkat, 3, "link", 0);
	SYS(unlinkat, 3, "linked", 0);
	SYS(unlinkat, 3, "inner", AT_REMOVEDIR);
	SYS(close, 3);
	SYS(rmdir, "folder");
	SYS(unlink, "link");
	SYS(unlink, "linked");
	SYS(unlink, "another");
	SYS(unlink, "created");
	SYS(unlink, "a file");
	SYS(unlink, "a\nstrange\tname\303\274");
	SYS(getcwd, buffer, sizeof(buffer));
	SYS(getcwd, buffer, 1);
}

static void control_files(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 20};

	SYS(memfd_create, "anonymous", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	SYS(fcntl, 3, F_GETFD);
	SYS(fcntl, 3, F_SETFD, 0);
	SYS(fcntl, 3, F_GETFD);
	SYS(fcntl, 3, F_GETFL);
	SYS(fcntl, 3, F_SETFL, O_RDWR | O_NONBLOCK | O_APPEND);
	SYS(fcntl, 3, F_GETFL);
	SYS(fcntl, 3, F_DUPFD_CLOEXEC, 40);
	SYS(fcntl, 3, F_DUPFD, 41);
	SYS(fcntl, 3, F_SETLK, &lock);
	SYS(fcntl, 3, F_GETLK, &lock);
	SYS(fcntl, 3, F_OFD_SETLKW, &lock);
	SYS(fcntl, 3, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
	SYS(fcntl, 3, F_GET_SEALS);
	SYS(fcntl, 99, F_GETFD);
	SYS(fcntl, 3, 4711, 5);
	SYS(flock, 3, LOCK_EX | LOCK_NB);
	SYS(flock, 3, LOCK_UN);
	SYS(close, 3);
	SYS(close_range, 40, 41, 0);
	SYS(eventfd2, 7, EFD_CLOEXEC | EFD_NONBLOCK);
	SYS(close, 3);
	SYS(eventfd, 1);
	SYS(close, 3);
	SYS(inotify_init1, IN_CLOEXEC);
	SYS(inotify_add_watch, 3, ".", IN_MODIFY | IN_CREATE);
	SYS(inotify_rm_watch, 3, 1);
	SYS(close, 3);
	SYS(sync);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void map_memory(void)
{
	void *anywhere = (void *)SYS(mmap, NULL, 16384, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	SYS(mprotect, anywhere, 4096, PROT_READ | PROT_EXEC);
	SYS(mprotect, anywhere, 4096, PROT_NONE);
	SYS(madvise, anywhere, 4096, MADV_DONTNEED);
	SYS(madvise, anywhere, 4096, MADV_HUGEPAGE);
	SYS(madvise, anywhere, 4096, 4711);
	SYS(mlock, anywhere + 8192, 4096);
	SYS(mlock2, anywhere + 8192, 4096, MLOCK_ONFAULT);
	SYS(munlock, anywhere + 8192, 4096);
	SYS(msync, anywhere, 4096, MS_ASYNC);
	SYS(mremap, anywhere, 16384, 32768, MREMAP_MAYMOVE);
	SYS(mremap, 4096, 4096, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, 8192);
	SYS(munmap, anywhere, 8192);
	SYS(mmap, NULL, 4096, PROT_READ, MAP_SHARED, 99, 0x2000);
	SYS(mmap, NULL, 4096, PROT_READ, MAP_SHARED | MAP_POPULATE | MAP_FIXED, -1, 0);
	SYS(brk, NULL);
	SYS(munlockall);
	SYS(mlockall, 0);
	SYS(membarrier, 0, 0, 0);
	SYS(membarrier, 8, 0, 0);
	SYS(set_mempolicy, 0, NULL, 0);
	SYS(get_mempolicy, buffer, NULL, 0, NULL, 0);
	SYS(mbind, 4096, 4096, 0, NULL, 0, 0);
	SYS(pkey_alloc, 7, 0);
	SYS(pkey_free, 99);
}

int main(void)
{
	open_and_close();
	read_and_write();
	look_at_files();
	change_names();
	control_files();
	map_memory();
	wtt_processes();
	wtt_signals();
	wtt_time();
	wtt_sockets();
	wtt_waiting();
	wtt_rest();
	return 0;
}

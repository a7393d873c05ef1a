// Bionic's libc on top of glibc, so that librejoin.so for Android on x86_64 runs on a Linux desktop.
// Only where the two differ, and only for what the library calls; the rest is glibc's own.
#define _GNU_SOURCE
#define strerror_r hidden_strerror_r
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>
#undef strerror_r

int *__errno(void) { return &errno; }

// Bionic has no GNU flavour of it.
int __xpg_strerror_r(int, char *, size_t);
int strerror_r(int error, char *text, size_t size) { return __xpg_strerror_r(error, text, size); }

// Bionic's addrinfo has its name before its address.
static void swap(struct addrinfo *info) {
  for (; info; info = info->ai_next) {
    char *second = (char *)info->ai_addr;
    info->ai_addr = (struct sockaddr *)info->ai_canonname;
    info->ai_canonname = second;
  }
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
  __typeof__(&getaddrinfo) next = dlsym(RTLD_NEXT, "getaddrinfo");
  int error = next(node, service, hints, found);
  if (!error) swap(*found);
  return error;
}

void freeaddrinfo(struct addrinfo *found) {
  __typeof__(&freeaddrinfo) next = dlsym(RTLD_NEXT, "freeaddrinfo");
  swap(found);
  next(found);
}

// Bionic numbers the names differently.
long sysconf(int name) {
  __typeof__(&sysconf) next = dlsym(RTLD_NEXT, "sysconf");
  switch (name) {
  case 0x27:
  case 0x28:
    return next(_SC_PAGESIZE);
  case 0x60:
    return next(_SC_NPROCESSORS_CONF);
  case 0x61:
    return next(_SC_NPROCESSORS_ONLN);
  default:
    errno = EINVAL;
    return -1;
  }
}

int __system_property_get(const char *name, char *value) {
  (void)name;
  *value = 0;
  return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * cgroup.h - how much memory the cgroups of a process let it have. Offline side.
 */
#ifndef HEAPSTORY_STORE_CGROUP_H
#define HEAPSTORY_STORE_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The least over all memory cgroups of a process (0: this one), in bytes: what may still be
 * charged, and the limit itself. UINT64_MAX where there is none, or none that can be read.
 */
uint64_t cgroup_room(pid_t pid);
uint64_t cgroup_limit(pid_t pid);

/* Either (still: the room) of the cgroups and mounts that files like those in /proc/PID/ name. */
uint64_t cgroup_least(const char *mountinfo, const char *cgroups, bool still);

#endif

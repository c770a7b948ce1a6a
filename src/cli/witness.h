/* SPDX-License-Identifier: MIT */
/*
 * witness.h - tells a signal that was sent to the whole process group from one that was sent to
 * this process alone.
 *
 * Nothing in a signal says so. The witness is a child of this process, in the same group, that
 * blocks all signals: what is sent to the group is pending in it as well.
 */
#ifndef HEAPSTORY_CLI_WITNESS_H
#define HEAPSTORY_CLI_WITNESS_H

#include <stdbool.h>

/* Starts it; it ends with this process. With all signals blocked. Where it can't: sees nothing. */
void witness_start(void);

/*
 * Whether the witness got this signal too, since it was last asked. To be asked once for each
 * signal that this process got, from its handler, with all signals blocked.
 *
 * Several at once are told apart in number, if not one by one. Of a signal that does not queue,
 * two to the group at once may leave one in the witness: then the second is taken for ours alone.
 */
bool witness_saw(int sig);

#endif

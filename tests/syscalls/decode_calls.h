/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of decode_calls. */
#ifndef WTT_DECODE_CALLS_H
#define WTT_DECODE_CALLS_H

#include <sys/syscall.h>
#include <unistd.h>

#define SYS(name, ...) syscall(SYS_##name, ##__VA_ARGS__)

void wtt_processes(void);
void wtt_signals(void);
void wtt_time(void);
void wtt_sockets(void);
void wtt_waiting(void);
void wtt_rest(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent (a guest in the recorded program) and the recorder agree on.
 *
 * This header and ring.h are all that an agent sees of wheeltap. It holds layouts only: the control
 * page that the recorder shares with every process of a run, the chunks of definitions, and the
 * messages on the socket. Nothing here waits for an answer: an agent makes its own shared memory,
 * hands the descriptors over and goes on, so that a recorder that is stopped, slow or dead never
 * holds the program up.
 *
 *   DIR/socket    SOCK_SEQPACKET; each process connects once and only sends
 *   DIR/control   the control page as it was at the start; read, and mapped by nobody
 *   DIR/settings  lines of key=value, for the agents that have settings; may be missing
 *   DIR/trouble   one line, left by an agent that could not be loaded and so could not join
 *   DIR/../knock  SOCK_DGRAM, open to all: a process that may not join says so here
 *
 * DIR is private (0700) and named by the one environment variable that agents read:
 *   WHEELTAP_AGENT=<protocol>:<DIR>      DIR = <temporary folder>/wheeltap-XXXXXX/<key>.<segment>
 *
 * The control page is a segment of System V shared memory with that number. Nobody can cut it off,
 * and it is reached without a path. A process in another IPC namespace cannot see it: that makes a
 * page of its own from the file, and says so in its messages (WTI_MESSAGE_OWN_PAGE).
 *
 * The variable may outlive the recording, and others may make files of the same name. So an agent
 * believes only what belongs to its own user, is closed to others, and has the key, which is
 * nowhere but in the variable, in the name of DIR and in the page.
 */
#ifndef WTI_TRACE_PROTOCOL_H
#define WTI_TRACE_PROTOCOL_H

#include <stdatomic.h>
#include <stdint.h>

#ifndef WTI_PROTOCOL /* tests build agents of other versions */
#define WTI_PROTOCOL 2u
#endif
#define WTI_ENV "WHEELTAP_AGENT"
#define WTI_SOCKET_FILE "socket"
#define WTI_CONTROL_FILE "control"
#define WTI_SETTINGS_FILE "settings"
#define WTI_TROUBLE_FILE "trouble"
#define WTI_KNOCK_FILE "knock"
#define WTI_KEY_BYTES 22u             /* of A-Z a-z 0-9 - _: 132 random bits */
#define WTI_NO_SEGMENT "none"         /* instead of a number: every process makes its own page */
#define WTI_CONTROL_MAGIC 0x4c544357u /* "WCTL" */
#define WTI_RING_MAGIC 0x474e5257u    /* "WRNG" */
#define WTI_CHUNK_MAGIC 0x4b484357u   /* "WCHK" */

/*
 * prctl() with this option and 1 says that system calls of this thread are an agent's own from here
 * on, with 0 that they are the program's again; the two nest. The kernel refuses the option, which
 * costs no more than asking.
 */
#define WTI_OWN_PRCTL 0x57544150u

#define WTI_RING_HEADER_BYTES 4096u /* data begins here in a ring's memfd */
#define WTI_RING_MIN_BYTES (64u << 10)
#define WTI_RING_MAX_BYTES (256u << 20)
#define WTI_RING_DEFAULT_BYTES (1u << 20)
#define WTI_CHUNK_BYTES (256u << 10) /* of definitions */
#define WTI_TEXT_MAX 4096u /* longest text of a record or a definition; longer ones are cut */
#define WTI_STACK_MAX 128u /* deepest stack kept */
#define WTI_BLOB_BYTES_MAX (256u << 20) /* of one blob, and of all on their way together */

enum wti_on_full {
	WTI_ON_FULL_BLOCK, /* wait, at most block_budget_ns a minute and process, then drop */
	WTI_ON_FULL_DROP,
};

/* A process with a smaller limit of open files is not joined: it may need each of them. */
#define WTI_FILES_MIN 64u

/* Why an agent has not joined, or has no ring: what it needs is limited for the program. */
enum wti_stayed_out {
	WTI_STAYED_OUT_FILE_SIZE = 1,
	WTI_STAYED_OUT_FILES = 2,
	WTI_STAYED_OUT_MEMORY = 4,
};

enum wti_recording {
	WTI_RECORDING_ON,
	WTI_RECORDING_OVER, /* the recorder has gone: emit nothing more */
};

/*
 * Whatever the protocol: magic, protocol and the two mismatch fields never move. Those two are used
 * in the file alone, through read and write; agents before protocol 2 map it.
 */
struct wti_control {
	uint32_t magic;
	uint32_t protocol;
	uint32_t ring_bytes;            /* data bytes of each ring, a power of two */
	uint32_t on_full;               /* enum wti_on_full */
	uint64_t rings_bytes_max;       /* ceiling for all rings of the run together */
	uint64_t block_budget_ns;       /* how long a process may wait for room in a minute */
	uint32_t definitions_bytes_max; /* ceiling for the definitions of a process */
	int32_t recorder_pid;
	uint32_t strings_keep;  /* 0: texts that may be private are replaced by length and hash */
	_Atomic uint32_t state; /* enum wti_recording */
	_Atomic uint64_t rings_bytes_used;
	_Atomic uint32_t refused_count;     /* rings refused because of the ceiling */
	_Atomic uint32_t mismatch_count;    /* agents that speak another protocol and stayed out */
	_Atomic uint32_t mismatch_protocol; /* what the last of them speaks */
	_Atomic uint32_t python_count;      /* interpreters in which the Python agent is at work */
	_Atomic uint64_t lost_unjoined;     /* events of processes that could not join */
	uint64_t blobs_bytes_max;           /* ceiling for all blobs of the run together; 0: none */
	_Atomic uint64_t blobs_bytes_used;
	_Atomic uint64_t blobs_waiting_bytes; /* handed over, not yet taken */
	uint32_t syscalls;           /* 1: system calls are recorded; agents say which are theirs */
	_Atomic uint32_t stayed_out; /* enum wti_stayed_out, of all agents together */
	char key[24];                /* WTI_KEY_BYTES, then zeros */
};

/*
 * Definitions: what records refer to by number. Each process appends them to chunks of its own,
 * commits one by a release store of its size, and only then publishes a record that names it.
 * Numbers are given out densely from 1 by type, so that columns of them pack well.
 */
enum wti_definition_type {
	WTI_DEF_STRING = 1, /* payload: the bytes */
	WTI_DEF_TRACK = 2,  /* payload: struct wti_track_definition, then its name */
	WTI_DEF_STACK = 3,  /* payload: addresses as u64, innermost first */
	WTI_DEF_MODULE = 4, /* payload: struct wti_module_definition, build-id, path */
	WTI_DEF_SITE = 5,   /* payload: struct wti_site_definition */
};

struct wti_definition {
	_Atomic uint32_t size; /* bytes with this header, a multiple of 8; 0: not committed yet */
	uint16_t type;
	uint16_t payload_bytes;
	uint32_t id;
	uint32_t reserved;
};

struct wti_chunk { /* at offset 0 of a chunk's memfd; definitions follow at once */
	uint32_t magic;
	uint32_t index; /* chunks of a process count from 0 */
	uint64_t bytes;
	_Atomic uint64_t
		overflow_count;        /* chunk 0: definitions that found no room; they are id 0 */
	_Atomic uint64_t lost_no_ring; /* chunk 0: events of threads that could not have a ring */
};

enum wti_track_type {
	WTI_TRACK_THREAD = 1,
	WTI_TRACK_QUEUE = 2, /* of a device */
	WTI_TRACK_RANK = 3,
	WTI_TRACK_RECORDER = 4,
};

struct wti_track_definition {
	uint32_t type;
	uint32_t tid;    /* of a thread */
	uint32_t device; /* of a queue */
	uint32_t reserved;
};

struct wti_module_definition {
	uint64_t base; /* load address */
	uint64_t bytes;
	uint32_t build_id_bytes;
	uint32_t path_bytes;
};

struct wti_site_definition {
	uint32_t file;     /* string */
	uint32_t function; /* string */
	uint32_t line;
	uint32_t reserved;
};

/*
 * Ends of edges are correlations. One with the highest bit set names an event of the same process
 * by its place: its track, and the low 32 bits of its sequence number.
 */
static inline uint64_t wti_event_correlation(uint32_t track, uint32_t seq)
{
	return UINT64_C(1) << 63 | (uint64_t)(track & 0x7fffffffu) << 32 | seq;
}

/* Messages: one packet each, with one descriptor where it says so. */
enum wti_message_type {
	WTI_MSG_HELLO = 1, /* descriptor: chunk 0 */
	WTI_MSG_CHUNK = 2, /* descriptor: a further chunk; track is its index */
	WTI_MSG_RING = 3,  /* descriptor: the ring of a thread */
	WTI_MSG_WAKE = 4,  /* no descriptor: a ring is full, somebody waits */
	WTI_MSG_BLOB = 5,  /* descriptor: bytes to be kept; its size is theirs */
	WTI_MSG_LINK = 6,  /* descriptor: a socket; a child speaks through its parent's once */
	WTI_MSG_PAGE = 7,  /* descriptor: a control page of its own, for it and its children */
	WTI_MSG_KNOCK = 8, /* on the knocker, after it the key; no descriptor */
};

enum { WTI_MESSAGE_OWN_PAGE = 1 }; /* its ceilings are counted on a page of its own */

struct wti_message {
	uint32_t type;
	uint32_t protocol;
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_time; /* field 22 of /proc/self/stat; 0: not known. Depends on who reads */
	uint32_t tid;        /* RING */
	uint32_t track;      /* RING: the thread's track, defined already */
	char command[16];
	uint32_t flags; /* WTI_MESSAGE_* */
	uint32_t image; /* the same for all agents in a program until its next exec; 0: not known */
};

struct wti_knock {
	struct wti_message message;
	char key[24];
};

#endif

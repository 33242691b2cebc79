/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets: addresses, messages, options. */
#include "show.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

/* ---- What is asked for ----------------------------------------------------------------------- */

bool wti_type_socket_type(struct wti_show *show, unsigned i)
{
	const uint32_t type_bits = 0xf;
	uint32_t value = wti_arg32(show, i), flags = value & ~type_bits;
	const char *name = wti_flag_name(&wti_flags_socket_type, value & type_bits);

	if (!name) {
		wti_say_flags(show, &wti_flags_sock_flags, value);
		return true;
	}
	WTI_SHOW(show, "%s", name);
	if (!flags)
		return true;
	WTI_SHOW(show, "|");
	wti_say_flags(show, &wti_flags_sock_flags, flags);
	return true;
}

bool wti_type_socket_protocol(struct wti_show *show, unsigned i)
{
	uint32_t family = wti_arg32(show, 0), protocol = wti_arg32(show, i);

	if (family == AF_INET || family == AF_INET6)
		wti_say_enum(show, &wti_flags_ip_protocol, protocol);
	else if (family == AF_NETLINK)
		wti_say_enum(show, &wti_flags_netlink_protocol, protocol);
	else
		WTI_SHOW(show, "%llu", (unsigned long long)wti_arg64(show, i));
	return true;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static void show_unix(struct wti_show *show, const uint8_t *at, size_t bytes)
{
	const size_t path_at = offsetof(struct sockaddr_un, sun_path);
	size_t path_bytes = bytes - path_at;
	const uint8_t *path = at + path_at;

	if (path_bytes > sizeof(((struct sockaddr_un *)0)->sun_path))
		path_bytes = sizeof(((struct sockaddr_un *)0)->sun_path);
	if (!path_bytes)
		return;
	WTI_SHOW(show, ", sun_path=");
	if (path[0]) {
		wti_say_quoted(show, path, strnlen((const char *)path, path_bytes));
	} else {
		WTI_SHOW(show, "@");
		wti_say_quoted(show, path + 1, path_bytes - 1);
	}
}

static void show_inet(struct wti_show *show, const uint8_t *at)
{
	char text[INET_ADDRSTRLEN];

	WTI_SHOW(show, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", ntohs(wti_get16(at + 2)),
		 inet_ntop(AF_INET, at + 4, text, sizeof(text)));
}

static void show_inet6(struct wti_show *show, const uint8_t *at, size_t bytes)
{
	char text[INET6_ADDRSTRLEN];

	WTI_SHOW(show,
		 ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u), inet_pton(AF_INET6, \"%s\", "
		 "&sin6_addr)",
		 ntohs(wti_get16(at + 2)), ntohl(wti_get32(at + 4)),
		 inet_ntop(AF_INET6, at + 8, text, sizeof(text)));
	if (bytes >= 28)
		WTI_SHOW(show, ", sin6_scope_id=%u", wti_get32(at + 24));
}

void wti_say_sockaddr(struct wti_show *show, uint64_t address, uint64_t bytes, uint8_t when)
{
	size_t there = 0;
	const uint8_t *at = address ? wti_memory_from(show, address, when, &there) : NULL;
	uint16_t family;

	if (bytes > there || bytes < 2 || !at) {
		wti_say_address(show, address);
		return;
	}
	family = wti_get16(at);
	WTI_SHOW(show, "{sa_family=");
	wti_say_enum(show, &wti_flags_socket_family, family);
	if (family == AF_UNIX)
		show_unix(show, at, (size_t)bytes);
	else if (family == AF_INET && bytes >= 16)
		show_inet(show, at);
	else if (family == AF_INET6 && bytes >= 24)
		show_inet6(show, at, (size_t)bytes);
	else if (family == AF_NETLINK && bytes >= 12)
		WTI_SHOW(show, ", nl_pid=%d, nl_groups=%#08x", (int32_t)wti_get32(at + 4),
			 wti_get32(at + 8));
	else if (bytes > 2) {
		WTI_SHOW(show, ", sa_data=");
		wti_say_quoted(show, at + 2, (size_t)bytes - 2);
	}
	WTI_SHOW(show, "}");
}

bool wti_type_sockaddr(struct wti_show *show, unsigned i)
{
	wti_say_sockaddr(show, wti_arg64(show, i), wti_arg32(show, show->what->args[i].other),
			 WTI_AT_ENTRY);
	return true;
}

/* The length that the program gave bounds that which the kernel returns. */
static bool length_of(const struct wti_show *show, unsigned i, uint32_t *ret_before,
		      uint32_t *ret_after)
{
	const uint8_t *before = wti_memory(show, wti_arg64(show, i), 4, WTI_AT_ENTRY);
	const uint8_t *after = wti_memory(show, wti_arg64(show, i), 4, WTI_AT_EXIT);

	if (!before || !after)
		return false;
	*ret_before = wti_get32(before);
	*ret_after = wti_get32(after);
	return true;
}

bool wti_type_sockaddr_out(struct wti_show *show, unsigned i)
{
	uint32_t before, after;

	if (!wti_filled(show, i))
		return true;
	if (length_of(show, show->what->args[i].other, &before, &after))
		wti_say_sockaddr(show, wti_arg64(show, i), after < before ? after : before,
				 WTI_AT_EXIT);
	else
		wti_say_address(show, wti_arg64(show, i));
	return true;
}

/* [16], or [128 => 16] */
bool wti_type_length_io(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_memory(show, wti_arg64(show, i), 4, WTI_AT_ENTRY);
	uint32_t before, after;

	if (!show->returned) {
		show->cut = true;
		return true;
	}
	if (!show->failed && length_of(show, i, &before, &after) && before != after)
		WTI_SHOW(show, "[%d => %d]", (int32_t)before, (int32_t)after);
	else if (at)
		WTI_SHOW(show, "[%d]", (int32_t)wti_get32(at));
	else
		wti_say_address(show, wti_arg64(show, i));
	return true;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void show_control_data(struct wti_show *show, const uint8_t *at, uint32_t level,
			      uint32_t type, size_t bytes)
{
	if (level == SOL_SOCKET && type == SCM_RIGHTS) {
		WTI_SHOW(show, "[");
		for (size_t k = 0; k + 4 <= bytes; k += 4) {
			WTI_SHOW(show, "%s", k ? ", " : "");
			wti_say_fd(show, (int32_t)wti_get32(at + k));
		}
		WTI_SHOW(show, "]");
	} else if (level == SOL_SOCKET && type == SCM_CREDENTIALS && bytes >= 12) {
		WTI_SHOW(show, "{pid=%d, uid=%u, gid=%u}", (int32_t)wti_get32(at),
			 wti_get32(at + 4), wti_get32(at + 8));
	} else {
		wti_say_quoted(show, at, bytes < show->string_max ? bytes : show->string_max);
		WTI_SHOW(show, "%s", bytes > show->string_max ? "..." : "");
	}
}

static void show_control(struct wti_show *show, uint64_t address, uint64_t bytes, uint8_t when)
{
	size_t there = 0;
	const uint8_t *at = address ? wti_memory_from(show, address, when, &there) : NULL;

	if (!at || there < bytes) {
		wti_say_address(show, address);
		return;
	}
	WTI_SHOW(show, "[");
	for (const char *between = ""; bytes >= 16; between = ", ") {
		uint64_t length = wti_get64(at), step = (length + 7) & ~UINT64_C(7);

		if (length < 16 || length > bytes)
			break;
		WTI_SHOW(show, "%s{cmsg_len=%llu, cmsg_level=", between,
			 (unsigned long long)length);
		wti_say_enum(show, &wti_flags_socket_level, wti_get32(at + 8));
		WTI_SHOW(show, ", cmsg_type=");
		if (wti_get32(at + 8) == SOL_SOCKET)
			wti_say_enum(show, &wti_flags_control_message, wti_get32(at + 12));
		else
			WTI_SHOW(show, "%#x", wti_get32(at + 12));
		if (length > 16) {
			WTI_SHOW(show, ", cmsg_data=");
			show_control_data(show, at + 16, wti_get32(at + 8), wti_get32(at + 12),
					  (size_t)length - 16);
		}
		WTI_SHOW(show, "}");
		if (step >= bytes)
			break;
		at += step;
		bytes -= step;
	}
	WTI_SHOW(show, "]");
}

/* struct msghdr at `at`; name_bytes is what was there before a receiving call. */
static void show_message(struct wti_show *show, const uint8_t *at, uint8_t when,
			 uint64_t content_bytes, const uint8_t *before)
{
	uint32_t name_bytes = wti_get32(at + 8),
		 given = before ? wti_get32(before + 8) : name_bytes;
	uint64_t control_bytes = wti_get64(at + 40);

	WTI_SHOW(show, "{msg_name=");
	wti_say_sockaddr(show, wti_get64(at), name_bytes < given ? name_bytes : given, when);
	WTI_SHOW(show, ", msg_namelen=");
	if (given != name_bytes)
		WTI_SHOW(show, "%d => ", (int32_t)given);
	WTI_SHOW(show, "%d, msg_iov=", (int32_t)name_bytes);
	wti_say_iovec(show, wti_get64(at + 16), wti_get64(at + 24), when, content_bytes);
	WTI_SHOW(show, ", msg_iovlen=%llu", (unsigned long long)wti_get64(at + 24));
	if (control_bytes) {
		WTI_SHOW(show, ", msg_control=");
		show_control(show, wti_get64(at + 32), control_bytes, when);
	}
	WTI_SHOW(show, ", msg_controllen=%llu, msg_flags=", (unsigned long long)control_bytes);
	wti_say_flags(show, &wti_flags_msg, wti_get32(at + 48));
	WTI_SHOW(show, "}");
}

bool wti_type_msghdr(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 56, WTI_AT_ENTRY);

	if (at)
		show_message(show, at, WTI_AT_ENTRY, UINT64_MAX, NULL);
	return true;
}

/* Only the first was read, for whom it goes to. */
bool wti_type_mmsghdr(struct wti_show *show, unsigned i)
{
	return wti_type_addr(show, i);
}

bool wti_type_msghdr_out(struct wti_show *show, unsigned i)
{
	const uint8_t *before = wti_memory(show, wti_arg64(show, i), 56, WTI_AT_ENTRY);
	const uint8_t *at;

	/* A call that failed received nothing, but the lengths are worth a look. */
	if (show->returned && show->failed && before) {
		WTI_SHOW(show, "{msg_namelen=%d}", (int32_t)wti_get32(before + 8));
		return true;
	}
	at = wti_pointed(show, i, 56, WTI_AT_EXIT);
	if (at)
		show_message(show, at, WTI_AT_EXIT, (uint64_t)show->call->result, before);
	return true;
}

/* ---- Options --------------------------------------------------------------------------------- */

bool wti_type_socket_option(struct wti_show *show, unsigned i)
{
	uint32_t option = wti_arg32(show, i);

	switch (wti_arg32(show, i - 1)) {
	case SOL_SOCKET:
		wti_say_enum(show, &wti_flags_so_option, option);
		break;
	case IPPROTO_TCP:
		wti_say_enum(show, &wti_flags_tcp_option, option);
		break;
	case IPPROTO_IP:
		wti_say_enum(show, &wti_flags_ip_option, option);
		break;
	case IPPROTO_IPV6:
		wti_say_enum(show, &wti_flags_ipv6_option, option);
		break;
	default:
		WTI_SHOW(show, "%u", option);
	}
	return true;
}

static void show_option_value(struct wti_show *show, unsigned i, uint32_t bytes, uint8_t when)
{
	uint32_t level = wti_arg32(show, 1), option = wti_arg32(show, 2);
	const uint8_t *at = wti_memory(show, wti_arg64(show, i), bytes ? bytes : 1, when);

	if (!at || !bytes) {
		if (!at && wti_arg64(show, i))
			wti_say_address(show, wti_arg64(show, i));
		else
			wti_say_content(show, wti_arg64(show, i), bytes, when);
	} else if (level == SOL_SOCKET && option == SO_LINGER && bytes >= 8) {
		WTI_SHOW(show, "{l_onoff=%d, l_linger=%d}", (int32_t)wti_get32(at),
			 (int32_t)wti_get32(at + 4));
	} else if (level == SOL_SOCKET && option == SO_PEERCRED && bytes >= 12) {
		WTI_SHOW(show, "{pid=%d, uid=%u, gid=%u}", (int32_t)wti_get32(at),
			 wti_get32(at + 4), wti_get32(at + 8));
	} else if (bytes == 4) {
		WTI_SHOW(show, "[%d]", (int32_t)wti_get32(at));
	} else {
		wti_say_content(show, wti_arg64(show, i), bytes, when);
	}
}

bool wti_type_option_value(struct wti_show *show, unsigned i)
{
	show_option_value(show, i, wti_arg32(show, show->what->args[i].other), WTI_AT_ENTRY);
	return true;
}

bool wti_type_option_value_out(struct wti_show *show, unsigned i)
{
	uint32_t before, after;

	if (!wti_filled(show, i))
		return true;
	if (length_of(show, show->what->args[i].other, &before, &after))
		show_option_value(show, i, after < before ? after : before, WTI_AT_EXIT);
	else
		wti_say_address(show, wti_arg64(show, i));
	return true;
}

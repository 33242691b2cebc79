/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how addresses of sockets lie in memory and how people write them. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/text.h"
#include "handles.h"

static bool internet(const uint8_t *data, size_t bytes, struct wti_buf *out)
{
	char text[INET6_ADDRSTRLEN];
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (bytes >= sizeof(four) && data[0] == AF_INET) {
		memcpy(&four, data, sizeof(four));
		inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text));
		wti_buf_printf(out, "%s:%u", text, ntohs(four.sin_port));
		return true;
	}
	if (bytes < offsetof(struct sockaddr_in6, sin6_scope_id) || data[0] != AF_INET6)
		return false;
	memset(&six, 0, sizeof(six));
	memcpy(&six, data, bytes < sizeof(six) ? bytes : sizeof(six));
	inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text));
	wti_buf_printf(out, "[%s]:%u", text, ntohs(six.sin6_port));
	return true;
}

/* An abstract name has a NUL first and may have more of them. */
static bool local(const uint8_t *data, size_t bytes, struct wti_buf *out)
{
	const char *path = (const char *)data + sizeof(sa_family_t);
	size_t length = bytes - sizeof(sa_family_t);

	wti_buf_text(out, "unix:");
	if (!length)
		return true;
	if (*path) {
		wti_buf_append(out, path, strnlen(path, length));
		return true;
	}
	wti_buf_byte(out, '@');
	wti_printable(out, path + 1, length - 1);
	return true;
}

bool wti_address_text(const uint8_t *data, size_t bytes, struct wti_buf *out)
{
	sa_family_t family;

	if (bytes < sizeof(family))
		return false;
	memcpy(&family, data, sizeof(family));
	switch (family) {
	case AF_INET:
	case AF_INET6:
		return internet(data, bytes, out);
	case AF_UNIX:
		return local(data, bytes, out);
	case AF_NETLINK:
		wti_buf_text(out, "netlink");
		return true;
	case AF_UNSPEC:
		return false;
	default:
		wti_buf_printf(out, "family %u", family);
		return true;
	}
}

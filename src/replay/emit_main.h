/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an emitted program that are the same in all of them, as text. */
#ifndef WTI_REPLAY_EMIT_MAIN_H
#define WTI_REPLAY_EMIT_MAIN_H

/* Before the data. */
#define WTI_EMIT_HEAD                                                                              \
	"#define CL_TARGET_OPENCL_VERSION 120\n"                                                   \
	"#include <CL/cl.h>\n"                                                                     \
	"#include <stdio.h>\n"                                                                     \
	"#include <stdlib.h>\n"                                                                    \
	"#include <string.h>\n\n"                                                                  \
	"static cl_context context;\n"                                                             \
	"static cl_device_id device;\n"                                                            \
	"static cl_command_queue queue;\n\n"                                                       \
	"static void must(cl_int status, const char *what)\n"                                      \
	"{\n"                                                                                      \
	"\tif (status != CL_SUCCESS) {\n"                                                          \
	"\t\tfprintf(stderr, \"%s failed with %d\\n\", what, status);\n"                           \
	"\t\texit(2);\n"                                                                           \
	"\t}\n"                                                                                    \
	"}\n"                                                                                      \
	"#define MUST(call) must(call, #call)\n\n"                                                 \
	"struct buffer {\n"                                                                        \
	"\tsize_t bytes;\n"                                                                        \
	"\tconst unsigned long long *words; /* its content before */\n"                            \
	"\tsize_t count;                    /* of words; fewer than it has: they repeat */\n"      \
	"\tint is_float;\n"                                                                        \
	"\tcl_mem mem;\n"                                                                          \
	"};\n\n"

/* After the data, before main(). */
#define WTI_EMIT_TOOLS                                                                             \
	"static void restore(struct buffer *b)\n"                                                  \
	"{\n"                                                                                      \
	"\tsize_t words = (b->bytes + 7) / 8;\n"                                                   \
	"\tunsigned long long *all = malloc(8 * words);\n\n"                                       \
	"\tfor (size_t i = 0; i < words; i++)\n"                                                   \
	"\t\tall[i] = b->words[i % b->count];\n"                                                   \
	"\tMUST(clEnqueueWriteBuffer(queue, b->mem, CL_TRUE, 0, b->bytes, all, 0, NULL, NULL));\n" \
	"\tfree(all);\n"                                                                           \
	"}\n\n"                                                                                    \
	"static void restore_all(void)\n"                                                          \
	"{\n"                                                                                      \
	"\tfor (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)\n"                      \
	"\t\trestore(&buffers[i]);\n"                                                              \
	"}\n\n"                                                                                    \
	"static unsigned char *read_back(const struct buffer *b)\n"                                \
	"{\n"                                                                                      \
	"\tunsigned char *all = malloc(b->bytes);\n\n"                                             \
	"\tMUST(clEnqueueReadBuffer(queue, b->mem, CL_TRUE, 0, b->bytes, all, 0, NULL, NULL));\n"  \
	"\treturn all;\n"                                                                          \
	"}\n\n"                                                                                    \
	"/* 64-bit FNV-1a. */\n"                                                                   \
	"static __attribute__((unused)) unsigned long long hash(const unsigned char *data, "       \
	"size_t bytes)\n"                                                                          \
	"{\n"                                                                                      \
	"\tunsigned long long h = 1469598103934665603ull;\n\n"                                     \
	"\tfor (size_t i = 0; i < bytes; i++)\n"                                                   \
	"\t\th = (h ^ data[i]) * 1099511628211ull;\n"                                              \
	"\treturn h;\n"                                                                            \
	"}\n\n"                                                                                    \
	"/* How many elements of a buffer differ; prints the first. */\n"                          \
	"static size_t differ(size_t index, const unsigned char *a, const unsigned char *b)\n"     \
	"{\n"                                                                                      \
	"\tconst struct buffer *about = &buffers[index];\n"                                        \
	"\tsize_t width = about->is_float ? 4 : 1, count = 0;\n\n"                                 \
	"\tfor (size_t i = 0; i + width <= about->bytes; i += width) {\n"                          \
	"\t\tif (!memcmp(a + i, b + i, width) || count++)\n"                                       \
	"\t\t\tcontinue;\n"                                                                        \
	"\t\tif (about->is_float) {\n"                                                             \
	"\t\t\tfloat x, y;\n\n"                                                                    \
	"\t\t\tmemcpy(&x, a + i, 4);\n"                                                            \
	"\t\t\tmemcpy(&y, b + i, 4);\n"                                                            \
	"\t\t\tprintf(\"buffer %zu, element %zu: %.9g and %.9g\\n\", index, i / 4, x, y);\n"       \
	"\t\t} else {\n"                                                                           \
	"\t\t\tprintf(\"buffer %zu, byte %zu: 0x%02x and 0x%02x\\n\", index, i, a[i], b[i]);\n"    \
	"\t\t}\n"                                                                                  \
	"\t}\n"                                                                                    \
	"\treturn count;\n"                                                                        \
	"}\n\n"                                                                                    \
	"static cl_program build(const char *source, const char *options)\n"                       \
	"{\n"                                                                                      \
	"\tcl_int status;\n"                                                                       \
	"\tcl_program program = clCreateProgramWithSource(context, 1, &source, NULL, "             \
	"&status);\n\n"                                                                            \
	"\tmust(status, \"clCreateProgramWithSource\");\n"                                         \
	"\tMUST(clBuildProgram(program, 1, &device, options, NULL, NULL));\n"                      \
	"\treturn program;\n"                                                                      \
	"}\n\n"                                                                                    \
	"static void open_device(void)\n"                                                          \
	"{\n"                                                                                      \
	"\tcl_platform_id platform;\n"                                                             \
	"\tchar name[256] = \"\";\n"                                                               \
	"\tcl_int status;\n\n"                                                                     \
	"\tMUST(clGetPlatformIDs(1, &platform, NULL));\n"                                          \
	"\tMUST(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));\n"                \
	"\tMUST(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name) - 1, name, NULL));\n"         \
	"\tprintf(\"device %s; recorded on %s\\n\", name, RECORDED_ON);\n"                         \
	"\tcontext = clCreateContext(NULL, 1, &device, NULL, NULL, &status);\n"                    \
	"\tmust(status, \"clCreateContext\");\n"                                                   \
	"\tqueue = clCreateCommandQueue(context, device, 0, &status);\n"                           \
	"\tmust(status, \"clCreateCommandQueue\");\n"                                              \
	"\tfor (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++) {\n"                    \
	"\t\tbuffers[i].mem = clCreateBuffer(context, CL_MEM_READ_WRITE, buffers[i].bytes, NULL, " \
	"&status);\n"                                                                              \
	"\t\tmust(status, \"clCreateBuffer\");\n"                                                  \
	"\t}\n"                                                                                    \
	"}\n\n"

/* The same from the same content, so often: exit status 1 and a line if it differs. */
#define WTI_EMIT_REPEAT                                                                            \
	"int main(void)\n"                                                                         \
	"{\n"                                                                                      \
	"\tenum { COUNT = sizeof(buffers) / sizeof(*buffers) };\n"                                 \
	"\tunsigned char *first[COUNT];\n\n"                                                       \
	"\topen_device();\n"                                                                       \
	"\tfor (int try = 0; try < 100; try++) {\n"                                                \
	"\t\tsize_t count = 0;\n\n"                                                                \
	"\t\trestore_all();\n"                                                                     \
	"\t\tlaunch0();\n"                                                                         \
	"\t\tfor (size_t i = 0; i < COUNT; i++) {\n"                                               \
	"\t\t\tunsigned char *now = read_back(&buffers[i]);\n\n"                                   \
	"\t\t\tif (!try)\n"                                                                        \
	"\t\t\t\tfirst[i] = now;\n"                                                                \
	"\t\t\telse\n"                                                                             \
	"\t\t\t\tcount += differ(i, first[i], now);\n"                                             \
	"\t\t}\n"                                                                                  \
	"\t\tif (count) {\n"                                                                       \
	"\t\t\tprintf(\"DIVERGES: repetition %d differs in %zu elements\\n\", try + 1, count);\n"  \
	"\t\t\treturn 1;\n"                                                                        \
	"\t\t}\n"                                                                                  \
	"\t}\n"                                                                                    \
	"\tprintf(\"the same 100 times\\n\");\n"                                                   \
	"\treturn 0;\n"                                                                            \
	"}\n"

/* Both orders from the same content. */
#define WTI_EMIT_ORDERS                                                                            \
	"int main(void)\n"                                                                         \
	"{\n"                                                                                      \
	"\tenum { COUNT = sizeof(buffers) / sizeof(*buffers) };\n"                                 \
	"\tunsigned char *first[COUNT];\n"                                                         \
	"\tsize_t count = 0;\n\n"                                                                  \
	"\topen_device();\n"                                                                       \
	"\trestore_all();\n"                                                                       \
	"\tlaunch0();\n"                                                                           \
	"\tlaunch1();\n"                                                                           \
	"\tfor (size_t i = 0; i < COUNT; i++)\n"                                                   \
	"\t\tfirst[i] = read_back(&buffers[i]);\n"                                                 \
	"\trestore_all();\n"                                                                       \
	"\tlaunch1();\n"                                                                           \
	"\tlaunch0();\n"                                                                           \
	"\tfor (size_t i = 0; i < COUNT; i++)\n"                                                   \
	"\t\tcount += differ(i, first[i], read_back(&buffers[i]));\n"                              \
	"\tprintf(count ? \"DIVERGES: the order decides %zu elements\\n\" : \"the same in both "   \
	"orders\\n\", count);\n"                                                                   \
	"\treturn count ? 1 : 0;\n"                                                                \
	"}\n"

/* Against what was recorded. */
#define WTI_EMIT_RECORDED                                                                          \
	"int main(void)\n"                                                                         \
	"{\n"                                                                                      \
	"\tunsigned char *now;\n"                                                                  \
	"\tunsigned long long is;\n\n"                                                             \
	"\topen_device();\n"                                                                       \
	"\trestore_all();\n"                                                                       \
	"\tlaunch0();\n"                                                                           \
	"\tnow = read_back(&buffers[EXPECTED_BUFFER]);\n"                                          \
	"\tis = hash(now + EXPECTED_OFFSET, EXPECTED_BYTES);\n"                                    \
	"\tprintf(is == EXPECTED_HASH ? \"as recorded: %016llx\\n\" : \"DIVERGES: %016llx, "       \
	"recorded was another\\n\", is);\n"                                                        \
	"\treturn is == EXPECTED_HASH ? 0 : 1;\n"                                                  \
	"}\n"

#endif

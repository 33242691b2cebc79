/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL's functions, found when they are needed: wheeltap runs where there is no OpenCL. Those of
 * later versions may be missing in a loader, and are NULL then.
 */
#ifndef WTI_REPLAY_API_H
#define WTI_REPLAY_API_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <wheeltap/err.h>

#define WTI_REPLAY_NEEDED(X)                                                                       \
	X(clGetPlatformIDs)                                                                        \
	X(clGetPlatformInfo)                                                                       \
	X(clGetDeviceIDs)                                                                          \
	X(clGetDeviceInfo)                                                                         \
	X(clCreateContext)                                                                         \
	X(clReleaseContext)                                                                        \
	X(clCreateCommandQueue)                                                                    \
	X(clReleaseCommandQueue)                                                                   \
	X(clCreateBuffer)                                                                          \
	X(clCreateSubBuffer)                                                                       \
	X(clCreateImage)                                                                           \
	X(clGetImageInfo)                                                                          \
	X(clReleaseMemObject)                                                                      \
	X(clCreateSampler)                                                                         \
	X(clReleaseSampler)                                                                        \
	X(clCreateProgramWithSource)                                                               \
	X(clCreateProgramWithBinary)                                                               \
	X(clCreateProgramWithBuiltInKernels)                                                       \
	X(clBuildProgram)                                                                          \
	X(clGetProgramBuildInfo)                                                                   \
	X(clReleaseProgram)                                                                        \
	X(clCreateKernel)                                                                          \
	X(clReleaseKernel)                                                                         \
	X(clSetKernelArg)                                                                          \
	X(clGetKernelArgInfo)                                                                      \
	X(clFinish)                                                                                \
	X(clFlush)                                                                                 \
	X(clWaitForEvents)                                                                         \
	X(clReleaseEvent)                                                                          \
	X(clEnqueueReadBuffer)                                                                     \
	X(clEnqueueWriteBuffer)                                                                    \
	X(clEnqueueCopyBuffer)                                                                     \
	X(clEnqueueFillBuffer)                                                                     \
	X(clEnqueueReadBufferRect)                                                                 \
	X(clEnqueueWriteBufferRect)                                                                \
	X(clEnqueueCopyBufferRect)                                                                 \
	X(clEnqueueReadImage)                                                                      \
	X(clEnqueueWriteImage)                                                                     \
	X(clEnqueueFillImage)                                                                      \
	X(clEnqueueCopyImage)                                                                      \
	X(clEnqueueCopyImageToBuffer)                                                              \
	X(clEnqueueCopyBufferToImage)                                                              \
	X(clEnqueueMapImage)                                                                       \
	X(clEnqueueUnmapMemObject)                                                                 \
	X(clEnqueueMarkerWithWaitList)                                                             \
	X(clEnqueueBarrierWithWaitList)                                                            \
	X(clEnqueueNDRangeKernel)

#define WTI_REPLAY_OPTIONAL(X)                                                                     \
	X(clCreateProgramWithIL)                                                                   \
	X(clCreatePipe)                                                                            \
	X(clSVMAlloc)                                                                              \
	X(clSVMFree)                                                                               \
	X(clSetKernelArgSVMPointer)                                                                \
	X(clSetKernelExecInfo)                                                                     \
	X(clEnqueueSVMMap)                                                                         \
	X(clEnqueueSVMUnmap)                                                                       \
	X(clEnqueueSVMMemcpy)                                                                      \
	X(clEnqueueSVMMemFill)

#define WTI_REPLAY_MEMBER(name) __typeof__(&name) name;

struct wti_replay_api {
	void *library;
	WTI_REPLAY_NEEDED(WTI_REPLAY_MEMBER)
	WTI_REPLAY_OPTIONAL(WTI_REPLAY_MEMBER)
};

/* WT_E_MISSING where there is no loader, with what to install. */
int wti_replay_api_open(struct wti_replay_api *ret_api, struct wt_err *err);
void wti_replay_api_close(struct wti_replay_api *api);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the module for TraceSmith's files. */
#ifndef WTI_PYTHON_SBT_H
#define WTI_PYTHON_SBT_H

#include "reader.h"

/* sbt_read(path): a list of columns, and what is known of the file. */
PyObject *wti_sbt_read(PyObject *module, PyObject *path);
/* sbt_write(path, events): each a tuple. */
PyObject *wti_sbt_write(PyObject *module, PyObject *args);

#endif

// SPDX-License-Identifier: Apache-2.0
// Adds zooming to the pictures of a report. They are complete without it.
"use strict";

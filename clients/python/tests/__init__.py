# SPDX-License-Identifier: Apache-2.0
"""Run by clients/python/test."""

import logging

# In Python's development mode asyncio tells of everything that took a while, which is no fault.
logging.getLogger("asyncio").setLevel(logging.ERROR)

# SPDX-License-Identifier: Apache-2.0
"""The tests of the Python client, run by clients/python/test."""

import logging

# In development mode asyncio logs slow callbacks, which are not errors.
logging.getLogger("asyncio").setLevel(logging.ERROR)

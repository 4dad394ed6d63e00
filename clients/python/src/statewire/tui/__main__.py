# SPDX-License-Identifier: Apache-2.0
"""`python -m statewire.tui`."""

from . import main

main()

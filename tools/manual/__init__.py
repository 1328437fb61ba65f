# SPDX-License-Identifier: MIT
"""The reference, read from the public headers: tools/reference.py."""

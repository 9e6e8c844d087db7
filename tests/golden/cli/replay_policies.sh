# SPDX-License-Identifier: GPL-2.0-only
# The catalogue, and the options.
"$LRUTAPE" replay --list-policies
"$LRUTAPE" replay --help

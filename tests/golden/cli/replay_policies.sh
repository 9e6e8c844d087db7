# SPDX-License-Identifier: GPL-2.0-only
# How the catalogue lists a policy and a patch of it, and the options.
"$LRUTAPE" replay --list-policies | sed -n '/^classic$/,/preset 3$/p'
"$LRUTAPE" replay --help

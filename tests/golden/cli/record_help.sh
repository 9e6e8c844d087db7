# SPDX-License-Identifier: GPL-2.0-only
if "$LRUTAPE" record --help 2>&1 | grep -q 'built without libtracefs'; then
	echo "built without libtracefs"
	exit 77
fi
"$LRUTAPE" record --help

# SPDX-License-Identifier: GPL-2.0-only
# Wrong uses of `mark` end with status 2 and a remedy.
"$LRUTAPE" mark 2>&1
echo "status $?"
"$LRUTAPE" mark --loud 2>&1
echo "status $?"
"$LRUTAPE" mark "$(printf 'x%.0s' {1..1001})" 2>&1
echo "status $?"
"$LRUTAPE" mark --help

# SPDX-License-Identifier: GPL-2.0-only
for command in dump info verify; do
	"$LRUTAPE" $command --help
	echo "[status $?]"
done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What `lrutape check` says, it says alike in its three forms: the table for people, --json, and the database.
# Each figure of each is looked for in the others.
set -eu
tapes=$TOP/tests/golden/tapes/v1
cd "$TEST_TMP"
nr=0
for tape in pread-6.18 mapped-swap-6.18 vm-6.12-classic-touches vm-6.12-mglru-global vm-6.12-classic-kswapd mglru-6.12-mapped \
	vm-6.12-classic-told vm-6.12-mglru-anon; do
	[[ -f $tapes/$tape.lrt ]] || { echo "$tape: no such tape"; exit 1; }
	"$LRUTAPE" check --json -o forms.db "$tapes/$tape.lrt" >json
	"$LRUTAPE" check --all "$tapes/$tape.lrt" >text
	python3 "$TOP/tests/golden/check_forms.py" json forms.db text || { echo "$tape: forms differ"; exit 1; }
	nr=$((nr + 1))
done
echo "$nr tapes"

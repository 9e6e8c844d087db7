#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What README.md says that the demo prints is what its commands print. UPDATE_GOLDEN=1 (`make golden`) rewrites it.
set -eu
cd "$TEST_TMP"
tapes=$TOP/tests/golden/tapes/v1
cp "$tapes/churn-mthp-6.18.lrt" churn.lrt
cp "$tapes/pread-6.18.lrt" pread.lrt
cp "$tapes/mglru-6.12-aging.lrt" mglru.lrt
lrutape() { "$LRUTAPE" "$@"; }

sed -n '/demo output: begin/,/demo output: end/s/^    //p' "$TOP/README.md" >expected
while IFS= read -r line; do
	case $line in
	'# '*) printf '\n%s\n' "$line" ;;
	'$ '*)
		printf '%s\n' "$line"
		# shellcheck disable=SC2086 # words as one would type them
		${line#\$ } 2>&1
		;;
	esac
done <expected >printed
sed -i 's/ *$//' printed
if [[ -n ${UPDATE_GOLDEN:-} ]]; then
	python3 - "$TOP/README.md" <<'PY'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
block = re.sub("(?m)^(?=.)", "    ", open("printed", encoding="utf-8").read().strip("\n"))
first = "    " + re.search("(?m)^# .*", open("expected", encoding="utf-8").read()).group(0)
begin, end = page.index(first), page.index("\n\n<!-- demo output: end")
open(sys.argv[1], "w", encoding="utf-8").write(page[:begin] + block + page[end:])
PY
	cp printed expected
fi
diff <(grep . expected) <(grep . printed)

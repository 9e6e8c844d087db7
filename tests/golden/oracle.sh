#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The yardsticks count what they should, to the last miss: oracle.csv has the misses of two traces on which
# two independent simulators agree (every page counts once, nothing is warm-up, opt must take in what it
# reads). They are facts: `make golden` leaves them alone.
set -eu
cd "$TEST_TMP"
page_trace=$BIN/page_trace
[[ -x $page_trace ]] || { echo "$page_trace: not built"; exit 1; }

# The bytes are those that the simulators were given.
check_sum() { # file sha256
	[[ $(sha256sum <"$1") == "$2  -" ]] || { echo "$1: not the trace that the numbers are about"; exit 1; }
}
replay() { # trace sizes-in-KiB
	"$LRUTAPE" import --from oracleGeneral -o "$1.lrt" "$1" >/dev/null
	rm "$1"
	"$LRUTAPE" replay --interval 86400000 --policy fifo --policy lru --policy clock --policy opt \
		--memory "$2" -o "$1.db" "$1.lrt" 2>/dev/null
	"$LRUTAPE" sql --csv "$1.db" "SELECT '$1' AS trace, policy, memory_pages, accesses AS requests, misses
		FROM v_miss ORDER BY 1, 2, 3" | tr -d '\r' | tail -n +2
}

"$page_trace" loop 20000 2000000 >loop
check_sum loop 9b4d8e57918458ff285178e5fd9d860265b3aa1b63afa9154b943c569f1fce86
replay loop 8000K,40000K,76000K,80000K >got.csv
diff <(grep ^loop, "$TOP/tests/golden/oracle.csv") got.csv
[[ ${VARIANT:-} == san ]] && exit # the other takes them a minute, over the same code

"$page_trace" zipf 100000 5000000 42 >zipf100k
check_sum zipf100k ce1071d115485460aa1f933f5f73654649469233a14d7f64984bd38df66c7ef5
replay zipf100k 4000K,40000K,200000K >got.csv
diff <(grep ^zipf100k, "$TOP/tests/golden/oracle.csv") got.csv

# SPDX-License-Identifier: GPL-2.0-only
# Wrong options of `record` end with status 2, a remedy, and no file.
if "$LRUTAPE" record --help 2>&1 | grep -q 'built without libtracefs'; then
	echo "built without libtracefs"
	exit 77
fi
cd "$TEST_TMP" || exit 1

try() {
	echo "\$ lrutape record $*"
	"$LRUTAPE" record "$@" 2>&1
	echo "status $?"
}

try
try -- true
try -o a.lrt
try -o a.lrt --memory 64X -- true
try -o a.lrt --memory 0 -- true
try -o a.lrt --memory -5M -- true
try -o a.lrt --memory 99999999T -- true
try -o a.lrt --memory 64M --duration 1
try -o a.lrt --swappiness many -- true
try -o a.lrt --buffer-size 1K -- true
try -o a.lrt --clock local -- true
try -o a.lrt --duration 0 -- true
try -o a.lrt --duration 1s -- true
try -o a.lrt --swap 16M -- true
try -o a.lrt --memory 64M --cgroup /a
try -o a.lrt --cgroup /a --pid 1
try -o a.lrt --pid 1,x
try -o a.lrt --pid 0
try -o a.lrt --all --ring 1M
try -o a.lrt --all --ring 64M --rotate 32M
try -o a.lrt --all --ring 64M --max-size 64M
try -o a.lrt --all --rotate 5x
try -o a.lrt --all --rotate 0.5s
try -o a.lrt --all --max-size 1K
try -o a.lrt --all --snapshot-every 0.01
try -o a.lrt --unheard-of -- true
try -o
ls

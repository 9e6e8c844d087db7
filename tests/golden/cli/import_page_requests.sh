# SPDX-License-Identifier: GPL-2.0-only
# Access streams of other tools: page numbers a line, and libCacheSim's oracleGeneral.
cd "$TEST_TMP" || exit 1
without_size() { sed 's/, [0-9]* bytes.*//'; }
printf '# a loop\n0x10\n17\n0x10\n17\nend\n' >pages.txt
"$LRUTAPE" import --from pages -o pages.lrt pages.txt 2>&1 | without_size
# time 1, object 7, 4096 bytes, next -1; time 2, object 8, 1 byte, next -1
printf '\1\0\0\0\7\0\0\0\0\0\0\0\0\020\0\0\377\377\377\377\377\377\377\377' >requests
printf '\2\0\0\0\010\0\0\0\0\0\0\0\1\0\0\0\377\377\377\377\377\377\377\377' >>requests
"$LRUTAPE" import --from oracleGeneral -o requests.lrt requests 2>&1 | without_size
printf 'torn' >>requests
"$LRUTAPE" import --from oracleGeneral -o torn.lrt requests 2>&1 | without_size
"$LRUTAPE" import --from oracleGeneral -o text.lrt pages.txt 2>&1 | without_size
ls

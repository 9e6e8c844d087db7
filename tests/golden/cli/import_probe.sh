# SPDX-License-Identifier: GPL-2.0-only
# A probe on folio_referenced() that was defined by hand, as lrutape-import(1) has it: as the kernel and perf print it.
cd "$TEST_TMP" || exit 1
cat >trace.txt <<'END'
# tracer: nop
      touch-161     [000] .....     5.491786: folio_referenced: (shrink_folio_list+0x8ed/0xd70 <- folio_referenced) pfn=10998 locked=1 referenced=0 vm_flags=0x0
      touch-161     [000] .....     5.492827: folio_referenced: (shrink_active_list+0x1a2/0x4b0 <- folio_referenced) pfn=11002 locked=0 referenced=2 vm_flags=0x80000d5
      touch-161     [000] .....     5.492840: folio_look: (folio_referenced+0x0/0x1a0) pfn=0x2af8 locked=1
      touch-161     [000] .....     5.492851: folio_referenced: (shrink_folio_list+0x8ed/0xd70 <- folio_referenced) referenced=-1
END
cat >perf.txt <<'END'
touch   161 [000]     5.491786304: lrutape:folio_referenced: (ffffffff81234567 <- ffffffff812abcde) pfn=10998 locked=1 referenced=0 vm_flags=0x0
touch   161 [000]     5.491799304: lrutape:folio_look: (ffffffff812abcde) pfn=10999 locked=1
END
"$LRUTAPE" import --from ftrace-text -o text.lrt trace.txt 2>/dev/null | grep -c folio_
"$LRUTAPE" dump text.lrt
"$LRUTAPE" import --from perf-script -o perf.lrt perf.txt 2>/dev/null | grep -c folio_
"$LRUTAPE" dump perf.lrt

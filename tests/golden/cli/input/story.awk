# SPDX-License-Identifier: GPL-2.0-only
#
# ftrace text of a small group that reads a file, written by hand from the kernel's rules; the same
# story as in tests/unit/replay/test_check.c.
#
#   -v altered=victim       page 25 survives its reclaim
#   -v altered=activation   page 40, read twice, is not activated
#   -v rounds=n             the whole story so many times, each with a file of its own

function event(name, text) {
	microseconds += 10
	printf "          reader-10      [%03d] ..... %d.%06d: %s: %s\n", round % 2,
		100 + int(microseconds / 1000000), microseconds % 1000000, name, text
}
function page_event(name, page) {
	event(name, sprintf("dev 254:0 ino %x pfn=0x%x ofs=%d order=0", inode, base + page, page * 4096))
}
function add(page) { page_event("mm_filemap_add_to_page_cache", page) }
function evict(page) { page_event("mm_filemap_delete_from_page_cache", page) }
function read(page) {
	event("mm_filemap_get_pages", sprintf("dev=254:0 ino=%x ofs=%d-%d", inode, page * 4096,
		page * 4096 + 4095))
}
function insert(page, lru) {
	event("mm_lru_insertion", sprintf("folio=00000000%08x pfn=0x%x lru=%d flags= f    ", page,
		base + page, lru))
}
function activate(page) {
	event("mm_lru_activate", sprintf("folio=00000000%08x pfn=0x%x", page, base + page))
}
function begin() { event("mm_vmscan_memcg_reclaim_begin", "order=0 gfp_flags=GFP_KERNEL") }
function end(nr) { event("mm_vmscan_memcg_reclaim_end", sprintf("nr_reclaimed=%d", nr)) }
function batch(first, nr, priority, survivor,    page, reclaimed) {
	event("mm_vmscan_lru_isolate", sprintf("classzone=4 order=0 nr_requested=%d nr_scanned=%d " \
		"nr_skipped=0 nr_taken=%d lru=inactive_file", nr, nr, nr))
	for (page = first; page < first + nr; page++)
		if (page != survivor) {
			evict(page)
			reclaimed++
		}
	event("mm_vmscan_lru_shrink_inactive", sprintf("nid=0 nr_scanned=%d nr_reclaimed=%d nr_dirty=0 " \
		"nr_writeback=0 nr_congested=0 nr_immediate=0 nr_activate_anon=0 nr_activate_file=0 " \
		"nr_ref_keep=0 nr_unmap_fail=0 priority=%d flags=RECLAIM_WB_FILE|RECLAIM_WB_ASYNC", nr,
		reclaimed, priority))
}
function come_in(first,    page, p) {
	for (page = first; page < first + 31; page++) {
		add(page)
		if (page == first + 30)
			for (p = first; p <= page; p++)
				insert(p, 2)
		read(page)
	}
}
function story(    page) {
	come_in(0)
	come_in(31)
	# inactive [61 .. 0]: the upper half once more
	for (page = 31; page <= 61; page++)
		read(page)
	for (page = 31; page <= 61; page++)
		if (altered != "activation" || page != 40)
			activate(page)
	if (altered == "activation")
		return
	event("memcg_flush_stats", "memcg_id=1 stats_updates=100 force=1 needs_flush=1")
	begin()
	batch(0, 1, 4, -1)
	batch(1, 3, 3, -1)
	batch(4, 6, 2, -1)
	batch(10, 10, 1, -1)
	batch(20, 11, 0, altered == "victim" ? 25 : -1)
	end(altered == "victim" ? 30 : 31)
}
BEGIN {
	print "# tracer: nop"
	inode = 7
	base = 4096
	if (altered == "activation") {
		# a reclaim that finds nothing, so that the task is known to be in the group
		begin()
		end(0)
	}
	for (round = 0; round < (rounds ? rounds : 1); round++) {
		story()
		inode++
		base += 64
	}
}

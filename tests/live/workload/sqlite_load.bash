# SPDX-License-Identifier: GPL-2.0-only
# Sourced: a database of 60,000 rows of 1 KiB and an index, and statements that look up and change rows of
# it, two in three of them in a hot fifth. Seeded: the same statements each time.

sqlite_load_prepare() { # database statements
	rm -f "$1" "$1-wal" "$1-shm"
	sqlite3 "$1" >/dev/null <<-'SQL' || return
		PRAGMA journal_mode = WAL;
		CREATE TABLE item (k INTEGER PRIMARY KEY, a INT, v BLOB);
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
			INSERT INTO item SELECT i, i * 7919 % 60000, randomblob(1000) FROM n;
		CREATE INDEX item_a ON item (a);
	SQL
	awk 'BEGIN {
		srand(7)
		print "PRAGMA cache_size = -2000; PRAGMA synchronous = NORMAL;"
		for (i = 0; i < 20000; i++) {
			k = int(rand() * (rand() < 0.33 ? 60000 : 12000))
			if (rand() < 0.7)
				printf "SELECT length(v) FROM item WHERE a = %d;\n", k
			else
				printf "UPDATE item SET v = randomblob(1000) WHERE k = %d;\n", k
		}
	}' >"$2"
}

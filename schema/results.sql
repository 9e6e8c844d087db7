-- SPDX-License-Identifier: GPL-2.0-only
--
-- The results database, schema version 1: what replays counted, and what is known of the tapes.
-- replay/results.c fills the tables; analysis/ and your own queries rely on the views, v_*.
-- Both are described in docs/results.md. This file alone makes an empty database:
-- `sqlite3 empty.db <schema/results.sql`.
--
-- Counts are exact integers. NULL means "not known" throughout, never 0. A page is a base page.

PRAGMA application_id = 0x4c525554; -- "LRUT"
PRAGMA user_version = 1;

-- ---- Facts and word lists

CREATE TABLE meta (
	key   TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;

-- The lists that names in the other tables come from: counters.def, lock_sites.def,
-- drain_causes.def as the writing program knew them.
CREATE TABLE counter_kind (
	number  INTEGER PRIMARY KEY,
	name    TEXT NOT NULL UNIQUE,
	unit    TEXT NOT NULL,          -- of counter.value: pages, folios, times
	meaning TEXT NOT NULL
);

CREATE TABLE lock_site (
	number  INTEGER PRIMARY KEY,
	name    TEXT NOT NULL UNIQUE,
	meaning TEXT NOT NULL
);

CREATE TABLE drain_cause (
	number  INTEGER PRIMARY KEY,
	name    TEXT NOT NULL UNIQUE,
	meaning TEXT NOT NULL
);

-- causes.def: what may stand before a decision that was not predicted.
CREATE TABLE cause (
	number  INTEGER PRIMARY KEY,        -- the first that holds is counted
	name    TEXT NOT NULL UNIQUE,
	meaning TEXT NOT NULL
);

-- ---- Tapes: what was recorded, what was lost, how well it is understood

CREATE TABLE tape (
	tape_id           INTEGER PRIMARY KEY,
	path              TEXT NOT NULL,    -- as given on the command line
	content_hash      TEXT,             -- names its way of hashing: "crc64:..."
	format_version    INTEGER,
	kernel_release    TEXT,             -- uname -r of the recorded machine
	command           TEXT,             -- that was recorded
	source            TEXT,             -- record, or the importer's name
	recorded_policy   TEXT,             -- that its kernel ran
	first_ns          INTEGER,          -- trace clock
	last_ns           INTEGER,
	nr_events         INTEGER NOT NULL,
	nr_lost           INTEGER NOT NULL, -- events, of losses with a known count
	nr_losses_unknown INTEGER NOT NULL, -- losses without a count
	nr_overrun        INTEGER NOT NULL, -- events, the kernel's own total
	checked_policy    TEXT,             -- that agreement is about; NULL: not checked
	checked_rules     TEXT,             -- release of the kernel whose rules it followed
	walks_from_ns     INTEGER           -- from when agreement may lack page-table walks; NULL: never
);

CREATE TABLE memcg (
	tape_id     INTEGER NOT NULL REFERENCES tape,
	memcg_id    INTEGER NOT NULL,       -- inode number of its folder; 0: no memcg known
	path        TEXT,                   -- from the cgroup root
	limit_bytes INTEGER                 -- NULL: none, or not known
);

-- Decisions of the kernel on the tape, against what the model of tape.checked_policy predicted.
CREATE TABLE agreement (
	tape_id           INTEGER NOT NULL REFERENCES tape,
	memcg_id          INTEGER NOT NULL,
	decision          TEXT NOT NULL,    -- kind: victim, activation, ...
	decided           INTEGER NOT NULL,
	equal             INTEGER NOT NULL,
	first_mismatch_ns INTEGER,          -- trace clock; NULL: none
	first_predicted   TEXT,             -- its sides, in words
	first_recorded    TEXT
);

-- Of these, the ones that were not predicted, by what stands before them on the tape.
CREATE TABLE disagreement (
	tape_id  INTEGER NOT NULL,
	memcg_id INTEGER NOT NULL,
	decision TEXT NOT NULL,
	cause    TEXT NOT NULL REFERENCES cause(name),
	count    INTEGER NOT NULL
);

-- Lists whose order was lost at some time: their isolations after it are in no row of agreement.
CREATE TABLE drift (
	tape_id    INTEGER NOT NULL REFERENCES tape,
	memcg_id   INTEGER NOT NULL,
	lists      TEXT NOT NULL,           -- anon or file
	since_ns   INTEGER NOT NULL,        -- trace clock
	isolations INTEGER NOT NULL,        -- since then
	equal      INTEGER NOT NULL         -- of these
);

-- Decisions seen and not predicted at all, on the whole machine.
CREATE TABLE undecided (
	tape_id INTEGER NOT NULL REFERENCES tape,
	what    TEXT NOT NULL,
	cause   TEXT NOT NULL REFERENCES cause(name),
	count   INTEGER NOT NULL
);

-- What check inferred on the way, by rule: docs/fidelity.md has them.
CREATE TABLE inferred_by_check (
	tape_id INTEGER NOT NULL REFERENCES tape,
	rule    TEXT NOT NULL,
	count   INTEGER NOT NULL
);

-- The first decisions that were not predicted, one by one.
CREATE TABLE mismatch (
	tape_id      INTEGER NOT NULL REFERENCES tape,
	number       INTEGER NOT NULL,      -- from 1, in tape order
	timestamp_ns INTEGER NOT NULL,      -- trace clock
	memcg_id     INTEGER NOT NULL,
	cpu          INTEGER NOT NULL,
	pid          INTEGER NOT NULL,
	decision     TEXT NOT NULL,
	cause        TEXT NOT NULL REFERENCES cause(name),
	predicted    TEXT NOT NULL,         -- in words
	recorded     TEXT NOT NULL,
	state        TEXT                   -- list sizes, and the reclaim call's place
);

-- ---- Runs: one policy over one tape at one memory size and one perturbation

CREATE TABLE run (
	run_id          INTEGER PRIMARY KEY,
	tape_id         INTEGER NOT NULL REFERENCES tape,
	policy          TEXT NOT NULL,      -- full name: base[@release][+patch[=value]]...
	base            TEXT NOT NULL,
	patch           TEXT NOT NULL,      -- of policy, what follows the first '+'; '': unpatched
	release         TEXT,               -- of the kernel whose rules were followed
	memory_pages    INTEGER,            -- NULL: each memcg at its recorded limit
	seed            INTEGER NOT NULL,   -- of the perturbation; 0: none
	program_version TEXT NOT NULL,
	accesses        INTEGER,            -- folios
	stimuli         INTEGER,            -- what the run was given: reads, adds, frees, truncations
	inferred        INTEGER             -- of these, drawn from other events by the rules of inferred
);

CREATE TABLE run_setting (
	run_id INTEGER NOT NULL REFERENCES run,
	name   TEXT NOT NULL,
	value  TEXT NOT NULL
);

CREATE TABLE counter (
	run_id   INTEGER NOT NULL REFERENCES run,
	memcg_id INTEGER NOT NULL,
	name     TEXT NOT NULL REFERENCES counter_kind(name),
	value    INTEGER NOT NULL
);

-- The same over time: as it stood at timestamp_ns, counted since the run began.
CREATE TABLE counter_at (
	run_id       INTEGER NOT NULL REFERENCES run,
	memcg_id     INTEGER NOT NULL,
	timestamp_ns INTEGER NOT NULL,      -- trace clock
	name         TEXT NOT NULL REFERENCES counter_kind(name),
	value        INTEGER NOT NULL
);

CREATE TABLE lock_hold (
	run_id   INTEGER NOT NULL REFERENCES run,
	memcg_id INTEGER NOT NULL,
	site     TEXT NOT NULL REFERENCES lock_site(name),
	holds    INTEGER NOT NULL,          -- times an lruvec lock was taken here
	folios   INTEGER NOT NULL           -- handled while it was held
);

CREATE TABLE drain (
	run_id INTEGER NOT NULL REFERENCES run,
	batch  TEXT NOT NULL REFERENCES lock_site(name),
	cause  TEXT NOT NULL REFERENCES drain_cause(name),
	drains INTEGER NOT NULL,            -- times a CPU's batch was drained
	folios INTEGER NOT NULL             -- that waited in it
);

-- The recorded policy at the recorded size: what its free-running replay counted, and what the recorded
-- kernel itself did. A check of the whole, where agreement is one of single decisions.
CREATE TABLE accuracy (
	run_id   INTEGER NOT NULL REFERENCES run,
	memcg_id INTEGER NOT NULL,
	name     TEXT NOT NULL REFERENCES counter_kind(name),
	kernel   INTEGER NOT NULL,
	replay   INTEGER NOT NULL,
	source   TEXT NOT NULL              -- of kernel: memory.stat, vmstat, count_memcg_events, events
);

-- What a run asked of mapped pages, whose loads and stores are in no event: what the tape did not decide
-- was drawn from a stream of accesses that agrees with all that it shows. No row: nothing was asked.
CREATE TABLE estimate (
	run_id           INTEGER NOT NULL REFERENCES run,
	stream           INTEGER NOT NULL, -- seed of the stream
	asked            INTEGER NOT NULL, -- verdicts: was this folio accessed since the last look?
	unknown          INTEGER NOT NULL, -- of these, not decided by the tape
	first_unknown_ns INTEGER,          -- trace clock; NULL: none
	unseen_faults    INTEGER NOT NULL  -- drawn accesses to pages that this run had taken away
);

-- The same run with unknown time filled otherwise: no access in it ('never'), or all the time ('always').
-- They show how much hangs on what is not known. They are no bounds: reclaim is not monotone.
CREATE TABLE stress (
	run_id   INTEGER NOT NULL REFERENCES run,
	fill     TEXT NOT NULL,
	memcg_id INTEGER NOT NULL,
	name     TEXT NOT NULL REFERENCES counter_kind(name),
	value    INTEGER NOT NULL
);

-- Stimuli that a named rule made from verdicts, because the kernel records nothing else.
CREATE TABLE inferred (
	run_id INTEGER NOT NULL REFERENCES run,
	rule   TEXT NOT NULL,
	count  INTEGER NOT NULL
);

-- ---- Measured: not the same twice, nor on another machine. Only with `replay --cost`.

-- What a step of the kernel took, done again natively by the code of the run's policy: medians, and
-- what the middle half of the repeats lies between.
CREATE TABLE cost (
	run_id            INTEGER NOT NULL REFERENCES run,
	step              TEXT NOT NULL,    -- lru_add
	shape             TEXT NOT NULL,    -- of its code, in words
	host              TEXT NOT NULL,    -- CPU and kernel that it was measured on
	repeats           INTEGER NOT NULL,
	folios            INTEGER NOT NULL, -- in one round of the sequence that was timed
	holds             INTEGER NOT NULL, -- of the LRU lock in which they were handled
	ns_per_folio      REAL NOT NULL,
	ns_per_folio_low  REAL NOT NULL,
	ns_per_folio_high REAL NOT NULL,
	ns_per_hold       REAL NOT NULL,
	ns_per_hold_low   REAL NOT NULL,
	ns_per_hold_high  REAL NOT NULL
);

-- Runs of one tape take turns: a repeat of one run can be held against the same of another.
CREATE TABLE cost_repeat (
	run_id INTEGER NOT NULL REFERENCES run,
	step   TEXT NOT NULL,
	repeat INTEGER NOT NULL,            -- from 1
	ns     INTEGER NOT NULL,
	folios INTEGER NOT NULL,            -- handled in that time, in one or more rounds
	holds  INTEGER NOT NULL
);

-- ---- Views. Columns are added to them, never taken away or changed within a schema version.

CREATE VIEW v_tape AS
SELECT tape_id,
       replace(path, rtrim(path, replace(path, '/', '')), '') AS tape, -- without its folders
       path, content_hash, format_version, kernel_release, command, source, recorded_policy,
       first_ns, last_ns, (last_ns - first_ns) / 1e9 AS seconds,
       nr_events, nr_lost, nr_losses_unknown, nr_overrun, checked_policy, checked_rules,
       walks_from_ns
  FROM tape;

CREATE VIEW v_run AS
SELECT run_id,
       policy || ' on ' || v_tape.tape
              || coalesce(', ' || memory_pages || ' pages', '')
              || CASE seed WHEN 0 THEN '' ELSE ', seed ' || seed END AS run,
       tape_id, v_tape.tape, policy, base, release, patch,
       memory_pages, memory_pages / 256.0 AS memory_mib, -- pages of 4 KiB
       seed, accesses, stimuli, inferred, program_version
  FROM run JOIN v_tape USING (tape_id);

-- Runs that differ in nothing but the patch.
CREATE VIEW v_pair AS
SELECT a.run_id AS unpatched_run_id, b.run_id AS patched_run_id,
       a.tape_id, a.memory_pages, a.seed, a.base, a.release, b.patch
  FROM run AS a
  JOIN run AS b ON b.tape_id = a.tape_id AND b.base = a.base AND b.release IS a.release
               AND b.memory_pages IS a.memory_pages AND b.seed = a.seed
 WHERE a.patch = '' AND b.patch <> '';

CREATE VIEW v_setting AS
SELECT run_id, policy, name, value
  FROM run_setting JOIN run USING (run_id);

-- What a replay is about: the memcgs under a limit and those below them. No row: the whole machine.
CREATE VIEW v_subject AS
SELECT DISTINCT memcg.tape_id, memcg.memcg_id
  FROM memcg JOIN memcg AS top
    ON top.tape_id = memcg.tape_id AND top.limit_bytes IS NOT NULL
       AND (memcg.memcg_id = top.memcg_id OR memcg.path LIKE top.path || '/%');

-- A run's subject together. A *_max is the greatest of any one memcg: maxima do not add up.
CREATE VIEW v_counter_total AS
SELECT run_id, number, counter.name, unit,
       CASE WHEN substr(counter.name, -4) = '_max' THEN max(value) ELSE sum(value) END AS value
  FROM counter JOIN run USING (run_id) JOIN counter_kind ON counter_kind.name = counter.name
 WHERE memcg_id IN (SELECT memcg_id FROM v_subject WHERE v_subject.tape_id = run.tape_id)
       OR run.tape_id NOT IN (SELECT tape_id FROM v_subject)
 GROUP BY run_id, number;

-- Each memcg, and the subject together under memcg_id NULL.
CREATE VIEW v_counter AS
SELECT run_id, memcg_id, coalesce(memcg.path, memcg_id) AS memcg, number, counter.name, unit, value
  FROM counter
  JOIN counter_kind ON counter_kind.name = counter.name
  JOIN run USING (run_id)
  LEFT JOIN memcg USING (tape_id, memcg_id)
UNION ALL
SELECT run_id, NULL, 'together', number, name, unit, value FROM v_counter_total;

-- What a patch changes, over all seeds of a pair: seen if the difference always has the same sign. Only
-- where there are perturbed runs.
CREATE VIEW v_noise AS
SELECT p.tape_id, p.memory_pages, p.base, p.release, p.patch, a.number, a.name, a.unit,
       max(CASE p.seed WHEN 0 THEN b.value - a.value END) AS difference,
       min(b.value - a.value) AS spread_low, max(b.value - a.value) AS spread_high,
       count(*) AS pairs, min(b.value - a.value) > 0 OR max(b.value - a.value) < 0 AS seen
  FROM v_pair AS p
  JOIN v_counter_total AS a ON a.run_id = unpatched_run_id
  JOIN v_counter_total AS b ON b.run_id = patched_run_id AND b.number = a.number
 GROUP BY p.tape_id, p.memory_pages, p.base, p.release, p.patch, a.number
HAVING count(*) > 1;

CREATE VIEW v_counter_at AS
SELECT run_id, timestamp_ns, (timestamp_ns - first_ns) / 1e9 AS seconds, number, name, unit, value,
       value - lag(value, 1, 0) OVER (PARTITION BY run_id, number ORDER BY timestamp_ns) AS increase
  FROM (SELECT run_id, timestamp_ns, number, counter_at.name, unit,
               CASE WHEN substr(counter_at.name, -4) = '_max' THEN max(value)
                    ELSE sum(value) END AS value
          FROM counter_at JOIN run USING (run_id)
          JOIN counter_kind ON counter_kind.name = counter_at.name
         WHERE memcg_id IN (SELECT memcg_id FROM v_subject WHERE v_subject.tape_id = run.tape_id)
               OR run.tape_id NOT IN (SELECT tape_id FROM v_subject)
         GROUP BY run_id, timestamp_ns, number)
  JOIN run USING (run_id)
  JOIN tape USING (tape_id);

CREATE VIEW v_miss AS
SELECT v_run.run_id, tape_id, tape, policy, memory_pages, memory_mib, seed,
       a.value AS accesses,                                      -- folios
       a.value - h.value AS missed_accesses,                     -- folios
       100.0 * (a.value - h.value) / nullif(a.value, 0) AS missed_percent,
       m.value AS misses, r.value AS readahead                   -- pages brought in
  FROM v_run
  JOIN v_counter_total AS a ON a.run_id = v_run.run_id AND a.name = 'accesses'
  LEFT JOIN v_counter_total AS h ON h.run_id = v_run.run_id AND h.name = 'hits'
  LEFT JOIN v_counter_total AS m ON m.run_id = v_run.run_id AND m.name = 'misses'
  LEFT JOIN v_counter_total AS r ON r.run_id = v_run.run_id AND r.name = 'readahead';

CREATE VIEW v_lock_of_subject AS
SELECT run_id, lock_site.number, site, holds, folios
  FROM lock_hold JOIN run USING (run_id) JOIN lock_site ON lock_site.name = site
 WHERE memcg_id IN (SELECT memcg_id FROM v_subject WHERE v_subject.tape_id = run.tape_id)
       OR run.tape_id NOT IN (SELECT tape_id FROM v_subject);

-- A run's subject together; number 0 is all sites together.
CREATE VIEW v_lock_total AS
SELECT run_id, number, site, sum(holds) AS holds, sum(folios) AS folios,
       1.0 * sum(folios) / nullif(sum(holds), 0) AS folios_per_hold
  FROM v_lock_of_subject GROUP BY run_id, number
UNION ALL
SELECT run_id, 0, 'all', sum(holds), sum(folios), 1.0 * sum(folios) / nullif(sum(holds), 0)
  FROM v_lock_of_subject GROUP BY run_id;

CREATE VIEW v_lock AS
SELECT run_id, memcg_id, coalesce(memcg.path, memcg_id) AS memcg, number, site, holds, folios,
       1.0 * folios / nullif(holds, 0) AS folios_per_hold
  FROM lock_hold
  JOIN lock_site ON lock_site.name = site
  JOIN run USING (run_id)
  LEFT JOIN memcg USING (tape_id, memcg_id)
UNION ALL
SELECT run_id, NULL, 'together', number, site, holds, folios, folios_per_hold FROM v_lock_total;

CREATE VIEW v_drain AS
SELECT run_id, lock_site.number AS batch_number, batch, drain_cause.number AS cause_number, cause,
       drains, folios,
       1.0 * folios / nullif(drains, 0) AS folios_per_drain,
       1000.0 * drains / nullif(folios, 0) AS drains_per_1000_folios
  FROM drain
  JOIN lock_site ON lock_site.name = batch
  JOIN drain_cause ON drain_cause.name = cause;

CREATE VIEW v_accuracy AS
SELECT run_id, run.tape_id, policy, memory_pages, memcg_id, coalesce(memcg.path, memcg_id) AS memcg,
       number, accuracy.name, unit, kernel, replay, replay - kernel AS difference,
       100.0 * (replay - kernel) / nullif(kernel, 0) AS difference_percent, source
  FROM accuracy
  JOIN run USING (run_id)
  JOIN counter_kind ON counter_kind.name = accuracy.name
  LEFT JOIN memcg USING (tape_id, memcg_id);

CREATE VIEW v_estimate AS
SELECT run_id, run.tape_id, policy, memory_pages, seed, stream, asked, unknown,
       100.0 * unknown / nullif(asked, 0) AS unknown_percent, first_unknown_ns,
       (first_unknown_ns - first_ns) / 1e9 AS first_unknown_seconds, unseen_faults
  FROM estimate JOIN run USING (run_id) JOIN tape USING (tape_id);

-- A run's subject together, beside the two extremes of what is not known.
CREATE VIEW v_stress AS
SELECT stress.run_id, policy, memory_pages, counter_kind.number, stress.name, counter_kind.unit,
       sum(CASE fill WHEN 'never' THEN stress.value END) AS never,
       (SELECT value FROM v_counter_total AS total
         WHERE total.run_id = stress.run_id AND total.name = stress.name) AS drawn,
       sum(CASE fill WHEN 'always' THEN stress.value END) AS always
  FROM stress JOIN run USING (run_id) JOIN counter_kind ON counter_kind.name = stress.name
 WHERE memcg_id IN (SELECT memcg_id FROM v_subject WHERE v_subject.tape_id = run.tape_id)
       OR run.tape_id NOT IN (SELECT tape_id FROM v_subject)
 GROUP BY stress.run_id, stress.name;

-- A lock that is never free hands itself on 1/hold times a second, whatever number of CPUs wait.
CREATE VIEW v_cost AS
SELECT run_id, policy, step, shape, host, repeats, folios, holds,
       1.0 * folios / nullif(holds, 0) AS folios_per_hold,
       ns_per_folio, ns_per_folio_low, ns_per_folio_high,
       ns_per_hold, ns_per_hold_low, ns_per_hold_high,
       1e9 / ns_per_hold AS saturated_holds_per_second
  FROM cost JOIN run USING (run_id);

CREATE VIEW v_cost_repeat AS
SELECT run_id, step, repeat, 1.0 * ns / folios AS ns_per_folio, 1.0 * ns / holds AS ns_per_hold
  FROM cost_repeat;

-- Each memcg, and all of them together under memcg_id NULL.
CREATE VIEW v_agreement AS
SELECT tape_id, tape, memcg_id, coalesce(memcg.path, memcg_id) AS memcg, decision, decided, equal,
       100.0 * equal / nullif(decided, 0) AS equal_percent, first_mismatch_ns,
       first_predicted, first_recorded
  FROM agreement
  JOIN v_tape USING (tape_id)
  LEFT JOIN memcg USING (tape_id, memcg_id)
UNION ALL
SELECT tape_id, tape, NULL, 'all', decision, sum(decided), sum(equal),
       100.0 * sum(equal) / nullif(sum(decided), 0), min(first_mismatch_ns), NULL, NULL
  FROM agreement JOIN v_tape USING (tape_id)
 GROUP BY tape_id, decision;

-- Why not: of each memcg, and of all of them together under memcg_id NULL.
CREATE VIEW v_disagreement AS
SELECT disagreement.tape_id, tape, memcg_id, coalesce(memcg.path, memcg_id) AS memcg, decision,
       cause.number, cause, count, 100.0 * count / nullif(decided, 0) AS percent_of_decided, meaning
  FROM disagreement
  JOIN v_tape USING (tape_id)
  JOIN cause ON cause.name = cause
  JOIN agreement USING (tape_id, memcg_id, decision)
  LEFT JOIN memcg USING (tape_id, memcg_id)
UNION ALL
SELECT d.tape_id, tape, NULL, 'all', d.decision, cause.number, cause, sum(count),
       100.0 * sum(count) / nullif((SELECT sum(decided) FROM agreement AS a
				     WHERE a.tape_id = d.tape_id AND a.decision = d.decision), 0),
       meaning
  FROM disagreement AS d JOIN v_tape USING (tape_id) JOIN cause ON cause.name = cause
 GROUP BY d.tape_id, d.decision, cause.number;

CREATE VIEW v_drift AS
SELECT tape_id, tape, memcg_id, coalesce(memcg.path, memcg_id) AS memcg, lists, since_ns,
       (since_ns - first_ns) / 1e9 AS since_seconds, isolations, equal,
       100.0 * equal / nullif(isolations, 0) AS equal_percent
  FROM drift
  JOIN v_tape USING (tape_id)
  LEFT JOIN memcg USING (tape_id, memcg_id);

CREATE VIEW v_undecided AS
SELECT tape_id, tape, what, cause, count, meaning
  FROM undecided JOIN v_tape USING (tape_id) JOIN cause ON cause.name = cause;

CREATE VIEW v_mismatch AS
SELECT tape_id, tape, mismatch.number, timestamp_ns, (timestamp_ns - first_ns) / 1e9 AS seconds,
       coalesce(memcg.path, memcg_id) AS memcg, cpu, pid, decision, cause, predicted, recorded,
       state, meaning
  FROM mismatch
  JOIN v_tape USING (tape_id)
  JOIN cause ON cause.name = cause
  LEFT JOIN memcg USING (tape_id, memcg_id);

-- Of a tape's subject together.
CREATE VIEW v_agreement_total AS
SELECT tape_id, decision, sum(decided) AS decided, sum(equal) AS equal,
       100.0 * sum(equal) / nullif(sum(decided), 0) AS equal_percent
  FROM agreement
 WHERE memcg_id IN (SELECT memcg_id FROM v_subject WHERE v_subject.tape_id = agreement.tape_id)
       OR tape_id NOT IN (SELECT tape_id FROM v_subject)
 GROUP BY tape_id, decision;

-- How far to believe a run, one row each. Agreement as in v_agreement_total.
CREATE VIEW v_belief AS
SELECT run.run_id, tape_id, recorded_policy,
       (SELECT sum(decided) FROM v_agreement_total AS a WHERE a.tape_id = run.tape_id) AS decided,
       (SELECT sum(equal) FROM v_agreement_total AS a WHERE a.tape_id = run.tape_id) AS equal,
       (SELECT decision FROM v_agreement_total AS least
         WHERE least.tape_id = run.tape_id AND decided > 0
         ORDER BY equal_percent, decision LIMIT 1) AS least_decision,
       (SELECT min(equal_percent) FROM v_agreement_total AS least
         WHERE least.tape_id = run.tape_id) AS least_percent,
       nr_events, nr_lost, nr_losses_unknown, nr_overrun, stimuli, inferred,
       100.0 * inferred / nullif(stimuli, 0) AS inferred_percent
  FROM run JOIN tape USING (tape_id);

-- ---- Indexes, made after the last row. They are also what holds each row to be given once.

CREATE UNIQUE INDEX memcg_once ON memcg (tape_id, memcg_id);
CREATE UNIQUE INDEX agreement_once ON agreement (tape_id, memcg_id, decision);
CREATE UNIQUE INDEX disagreement_once ON disagreement (tape_id, memcg_id, decision, cause);
CREATE UNIQUE INDEX drift_once ON drift (tape_id, memcg_id, lists);
CREATE UNIQUE INDEX undecided_once ON undecided (tape_id, what);
CREATE UNIQUE INDEX inferred_by_check_once ON inferred_by_check (tape_id, rule);
CREATE UNIQUE INDEX mismatch_once ON mismatch (tape_id, number);
CREATE UNIQUE INDEX run_setting_once ON run_setting (run_id, name);
CREATE UNIQUE INDEX counter_once ON counter (run_id, memcg_id, name);
CREATE UNIQUE INDEX counter_at_once ON counter_at (run_id, name, timestamp_ns, memcg_id);
CREATE UNIQUE INDEX lock_hold_once ON lock_hold (run_id, memcg_id, site);
CREATE UNIQUE INDEX drain_once ON drain (run_id, batch, cause);
CREATE UNIQUE INDEX accuracy_once ON accuracy (run_id, memcg_id, name);
CREATE UNIQUE INDEX estimate_once ON estimate (run_id);
CREATE UNIQUE INDEX stress_once ON stress (run_id, fill, memcg_id, name);
CREATE UNIQUE INDEX inferred_once ON inferred (run_id, rule);
CREATE UNIQUE INDEX cost_once ON cost (run_id, step);
CREATE UNIQUE INDEX cost_repeat_once ON cost_repeat (run_id, step, repeat);

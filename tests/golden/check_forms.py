# SPDX-License-Identifier: GPL-2.0-only
"""Holds what check says as JSON, as a database and as text against each other. usage: json database text"""
import collections
import json
import re
import sqlite3
import sys

with open(sys.argv[1]) as file:
    said = json.load(file)
db = sqlite3.connect(sys.argv[2])
wrong = 0


def same(what, one, other):
    global wrong
    if one != other:
        wrong += 1
        print(what)
        for row in sorted(set(one) ^ set(other), key=str)[:10]:
            print('  ', 'first ' if row in one else 'second', row)


# ---- JSON and database
def first(row):
    at = row['first_mismatch'] or {}
    return at.get('timestamp_ns'), at.get('predicted'), at.get('recorded')


same('decisions',
     [(r['memcg_id'], r['decision'], r['decided'], r['equal']) + first(r) for r in said['decisions']],
     db.execute('SELECT memcg_id, decision, decided, equal, first_mismatch_ns, first_predicted, first_recorded'
                ' FROM agreement ORDER BY rowid').fetchall())
same('causes',
     sorted((r['memcg_id'], r['decision'], c, n) for r in said['decisions'] for c, n in r['causes'].items()),
     sorted(db.execute('SELECT memcg_id, decision, cause, count FROM disagreement').fetchall()))
same('drifts',
     sorted((r['memcg_id'], r['lists'], r['since_ns'], r['isolations'], r['equal']) for r in said['drifts']),
     sorted(db.execute('SELECT memcg_id, lists, since_ns, isolations, equal FROM drift').fetchall()))
same('undecided', [(r['what'], r['cause'], r['count']) for r in said['undecided']],
     db.execute('SELECT what, cause, count FROM undecided ORDER BY rowid').fetchall())
same('inferred', list(said['inferred'].items()), db.execute('SELECT rule, count FROM inferred_by_check ORDER BY rowid').fetchall())
lost = said['lost']
same('tape',
     [(said['events'], lost['events'], lost['places_of_unknown_size'], lost['overrun'], said['kernel_release'],
       said['recorded_policy'], said['checked_policy'], said['rules'], said['walks_from_ns'])],
     db.execute('SELECT nr_events, nr_lost, nr_losses_unknown, nr_overrun, kernel_release, recorded_policy,'
                ' checked_policy, checked_rules, walks_from_ns FROM tape').fetchall())

# ---- JSON and text
rows, causes, drifts, undecided, inferred, walks, memcg, part = [], [], [], [], [], [], None, None
with open(sys.argv[3]) as file:
    for line in file:
        line = line.rstrip('\n')
        if line.startswith('memcg '):
            memcg, part = line[6:], 'decisions'
        elif line.startswith('  not equal'):
            part = 'causes'
        elif line.startswith('seen and not decided'):
            part = 'undecided'
        elif line.startswith('inferred, by rule'):
            part = 'inferred'
        elif m := re.match(r'  drift of the (\w+) lists from ([0-9.]+) on: of (\d+) isolations since then (\d+)', line):
            drifts.append((memcg, m[1], m[2], int(m[3]), int(m[4])))
        elif m := re.match(r'events lost: (\d+)', line):
            same('lost', [int(m[1])], [max(lost['events'], lost['overrun'])])
        elif m := re.match(r'MGLRU walked page tables of mapped folios at ([0-9.]+):', line):
            walks.append(m[1])
        elif part == 'undecided' and (m := re.match(r' +(\d+)  ', line)):
            undecided.append(int(m[1]))
        elif part == 'inferred' and (m := re.match(r' +(\d+)  (\w+)$', line)):
            inferred.append((m[2], int(m[1])))
        elif part == 'causes' and (m := re.match(r' +(\d+)  (\w+): ', line)):
            causes.append((memcg, m[2], int(m[1])))
        elif part == 'decisions' and (m := re.match(r'  (\w+) +(\d+) +(\d+) +[0-9.]+ %(?:  at ([0-9.]+): (.*))?$', line)):
            rows.append((memcg, m[1], int(m[2]), int(m[3]), m[4], m[5]))


def seconds(ns):
    return '%d.%06d' % (ns // 1000000000, ns // 1000 % 1000000)


def words(row):
    at, predicted, recorded = first(row)
    return (seconds(at), 'predicted %s, recorded %s' % (predicted, recorded)) if at is not None else (None, None)


same('decisions of the text', [(r['memcg'], r['decision'], r['decided'], r['equal']) + words(r)
                               for r in said['decisions']], rows)
sums = collections.Counter()
for r in said['decisions']:
    for cause, count in r['causes'].items():
        sums[r['memcg'], cause] += count
same('causes of the text', sorted((memcg, cause, n) for (memcg, cause), n in sums.items()), sorted(causes))
same('drifts of the text', [(r['memcg'], r['lists'], seconds(r['since_ns']), r['isolations'], r['equal'])
                            for r in said['drifts']], drifts)
same('undecided of the text', [r['count'] for r in said['undecided'] if r['count']], undecided)
same('inferred of the text', list(said['inferred'].items()), inferred)
same('walks of the text', [seconds(said['walks_from_ns'])] if said['walks_from_ns'] is not None else [], walks)
sys.exit(wrong != 0)

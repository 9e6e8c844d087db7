# SPDX-License-Identifier: GPL-2.0-only
# The page as a reader sees it: its words, and of each chart the title and its lines. It is whole, the same
# twice, loads nothing, and a stranger's name stays text.
cd "$TEST_TMP" && "$BIN/tests/unit/replay/test_results_sample" sample.db || exit 1
"$LRUTAPE" report -o page.html sample.db || exit 1
"$LRUTAPE" report sample.db >again.html && cmp page.html again.html && echo "the same page twice"
cat >look.py <<'PY'
import re
import sys
from html.parser import HTMLParser
from xml.dom import minidom


class Look(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text, self.quiet = [], "", 0

    def handle_starttag(self, tag, attrs):
        for name, _ in attrs:
            if name in ("src", "href") or name.startswith("on"):
                print("NOT ALLOWED: %s of %s" % (name, tag))
        if tag != "meta":
            self.open.append(tag)
        if tag in ("svg", "style", "head"):
            self.quiet += 1
        if tag in ("h1", "h2", "h3", "h4"):
            self.text += "\n" + "#" * int(tag[1]) + " "

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            print("NOT WHOLE: </%s>" % tag)
        if tag in ("svg", "style", "head"):
            self.quiet -= 1
        if tag in ("td", "th"):
            self.text += " | "
        if tag in ("tr", "p", "h1", "h2", "h3", "h4"):
            self.text = self.text.rstrip(" |") + "\n"

    def handle_data(self, data):
        if not self.quiet:
            self.text += data.strip("\n")


page = open(sys.argv[1], encoding="utf-8").read()
assert not re.search(r"https?:|@import|url\(", page), "something is loaded from elsewhere"
look = Look()
look.feed(page)
print(look.text if not look.open else "NOT WHOLE: %s" % look.open)
for svg in re.findall(r"<svg.*?</svg>", page, re.S):
    drawn = minidom.parseString(svg)  # fails unless it is well-formed
    titles = [t.firstChild.data for t in drawn.getElementsByTagName("title")]
    print("chart: %s" % "; ".join(titles))
PY
python3 look.py page.html
echo "---- perturbed, over time, at several sizes"
"$LRUTAPE" replay --policy classic --policy classic+folio_batch_15 --memory 50%,100% --perturb 2 --interval 100 \
	-o runs.db "$TOP/tests/golden/tapes/v1/pread-6.18.lrt" 2>/dev/null
"$LRUTAPE" report --title 'a <b> & "c"' runs.db >runs.html
python3 look.py runs.html | grep -E '^#|^chart|NOT' | sed 's/;.*//'
python3 look.py runs.html | grep -q 'none seen' && echo "differences within the noise are told"
grep -o '<title>.*</title>' runs.html | head -n 1
echo "---- of a check alone"
"$LRUTAPE" check -o check.db "$TOP/tests/golden/tapes/v1/mixed.lrt" >/dev/null
"$LRUTAPE" report check.db >check.html
python3 look.py check.html | grep -E '^#|^Nothing|NOT'
echo "---- a stranger's names"
cp sample.db evil.db
sqlite3 evil.db "UPDATE tape SET path = '<script>alert(1)<!--'; UPDATE memcg SET path = x'2f01265e3c'" 2>/dev/null
"$LRUTAPE" report evil.db | grep -c '<script'
"$LRUTAPE" report evil.db | grep -o '<h2>Tape.*</h2>' | head -n 1
echo "---- misuse"
for wrong in "" "a b" "sample.db 1" "sample.db 98 99" "--nothing sample.db" "no.db" "-o no/such/page.html sample.db"; do
	echo "\$ lrutape report $wrong"
	"$LRUTAPE" report $wrong 2>&1 | sed 's/tmp-....../tmp-/'
	echo "[status ${PIPESTATUS[0]}]"
done
ls -- *.tmp* 2>/dev/null
"$LRUTAPE" report sample.db >/dev/full
echo "[status $?]"

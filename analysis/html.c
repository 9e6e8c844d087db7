// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/html.h"

static const char style[] =
	":root { color-scheme: light dark;\n"
	"  --ink: #1b1b1b; --paper: #fff; --faint: #666; --line: #ccc; --alarm: #a3162a }\n"
	"@media (prefers-color-scheme: dark) {\n"
	"  :root { --ink: #e4e4e4; --paper: #161616; --faint: #999; --line: #444; --alarm: #ff8a8a } }\n"
	"body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);\n"
	"  max-width: 60em; margin: 2em auto; padding: 0 1em }\n"
	"h1, h2, h3, h4 { line-height: 1.2; margin: 1.6em 0 .5em } h1 { margin-top: 0 }\n"
	"table { border-collapse: collapse; margin: .8em 0; font-variant-numeric: tabular-nums }\n"
	"th, td { text-align: left; padding: .15em .8em .15em 0; vertical-align: top;\n"
	"  border-bottom: 1px solid var(--line) }\n"
	"th.n, td.n { text-align: right } tr.none td { color: var(--faint) }\n"
	"tr.alarm td { color: var(--alarm) }\n"
	"h4 + .wide table { margin-top: 0 } .wide { overflow-x: auto }\n"
	"svg { display: block; max-width: 100%; min-width: 600px; height: auto; margin: .8em 0 }\n"
	"svg text { font: 12px system-ui, sans-serif; fill: var(--ink) } svg .faint { fill: var(--faint) }\n"
	"svg .title { font-size: 14px; font-weight: bold }\n"
	"svg .grid { stroke: var(--line) } svg .axis { stroke: var(--faint) }\n";

void html_text(FILE *to, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		switch (byte) {
		case '&':
			fputs("&amp;", to);
			break;
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		case '\'':
			fputs("&#39;", to);
			break;
		default:
			fputc(byte < 0x20 || byte == 0x7f ? '?' : byte, to);
			break;
		}
	}
}

void html_begin(FILE *to, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
	      to);
	html_text(to, title);
	fprintf(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
	html_text(to, title);
	fputs("</h1>\n", to);
}

void html_end(FILE *to)
{
	fputs("</body>\n</html>\n", to);
}

void html_head(FILE *to, int level, const char *text)
{
	fprintf(to, "<h%d>", level);
	html_text(to, text);
	fprintf(to, "</h%d>\n", level);
}

void html_paragraph(FILE *to, const char *text)
{
	fputs("<p>", to);
	html_text(to, text);
	fputs("</p>\n", to);
}

void html_table_begin(FILE *to, const char *const *column)
{
	fputs("<div class=\"wide\"><table>\n<tr>", to);
	for (; *column; column++) {
		fputs(**column == '#' ? "<th class=\"n\">" : "<th>", to);
		html_text(to, **column == '#' ? *column + 1 : *column);
		fputs("</th>", to);
	}
	fputs("</tr>\n", to);
}

void html_table_end(FILE *to)
{
	fputs("</table></div>\n", to);
}

void html_row_begin(FILE *to, const char *class)
{
	if (class)
		fprintf(to, "<tr class=\"%s\">", class);
	else
		fputs("<tr>", to);
}

void html_row_end(FILE *to)
{
	fputs("</tr>\n", to);
}

void html_cell(FILE *to, const char *text, bool number)
{
	fputs(number ? "<td class=\"n\">" : "<td>", to);
	html_text(to, text);
	fputs("</td>", to);
}

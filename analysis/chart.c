// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/chart.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/html.h"

#define WIDTH 720
#define LEFT 76 /* of a line chart's plot: room for the figures beside it */
#define RIGHT 16
#define TOP 42 /* title, and what the y axis counts */
#define PLOT_HEIGHT 200
#define Y_STEPS 5 /* lines of the grid, about */
#define LEGEND_ROW 18
#define BAR 13
#define NAME_WIDTH 210 /* of bars and ranges: room for what stands beside them */
#define VALUE_WIDTH 90

/* Paul Tol's bright scheme: told apart by most eyes, and in grey. */
static const char *const colour[CHART_SERIES_LIMIT] = {
	"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777", "#ee8844",
};

static const char *const dashes[CHART_SERIES_LIMIT] = {
	"", "6 3", "2 3", "9 3 2 3", "", "6 3", "2 3", "9 3 2 3",
};

static void svg_begin(FILE *to, int height, const char *title)
{
	fprintf(to,
		"<div class=\"wide\"><svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n<title>",
		WIDTH, height, WIDTH, height);
	html_text(to, title);
	fputs("</title>\n<text x=\"0\" y=\"16\" class=\"title\">", to);
	html_text(to, title);
	fputs("</text>\n", to);
}

static void svg_text(FILE *to, double x, double y, const char *anchor, const char *class,
		     const char *text)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s%s%s>", x, y, anchor,
		*class ? " class=\"" : "", class, *class ? "\"" : "");
	html_text(to, text);
	fputs("</text>\n", to);
}

static void svg_line(FILE *to, double x1, double y1, double x2, double y2, const char *class)
{
	fprintf(to,
		"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#bbb\" class=\"%s\"/>\n",
		x1, y1, x2, y2, class);
}

/* 1, 2 or 5 times a power of ten, so that about @nr of them fill the length. */
static double nice_step(double length, int nr)
{
	double rough = length / nr, power = 1, lead;

	while (power * 10 <= rough)
		power *= 10;
	while (power > rough)
		power /= 10;
	lead = rough / power;
	return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

/* 1200000 as 1.2 M: what an axis has room for. */
static void figure_text(double value, char *text, size_t size)
{
	static const char unit[] = " kMGT";
	int i = 0;

	while ((value >= 10000 || value <= -10000) && unit[i + 1]) {
		value /= 1000;
		i++;
	}
	if (i)
		snprintf(text, size, "%.4g %c", value, unit[i]);
	else
		snprintf(text, size, "%.4g", value);
}

/* @line: as the chart draws it, in its dashes; else a bar */
static void legend(FILE *to, double y, const char *name, size_t i, bool line)
{
	fprintf(to,
		"<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%d\" "
		"stroke-dasharray=\"%s\"/>\n",
		LEFT, y - 4, LEFT + 30, y - 4, colour[i], line ? 2 : BAR - 2,
		line ? dashes[i] : "");
	svg_text(to, LEFT + 38, y, "start", "", name);
}

/* ---- lines */

struct plot {
	double x_low, x_high, y_high;
};

static double plot_x(const struct plot *plot, double x)
{
	return LEFT + (x - plot->x_low) / (plot->x_high - plot->x_low) * (WIDTH - LEFT - RIGHT);
}

static double plot_y(const struct plot *plot, double y)
{
	return TOP + PLOT_HEIGHT - y / plot->y_high * PLOT_HEIGHT;
}

static bool find_extent(const struct chart_series *series, size_t nr, struct plot *plot)
{
	bool any = false;
	double y_step, top = 0;

	for (size_t s = 0; s < nr; s++) {
		if (series[s].nr < 2)
			continue;
		for (size_t i = 0; i < series[s].nr; i++) {
			const struct chart_point *point = &series[s].point[i];

			if (!any || point->x < plot->x_low)
				plot->x_low = point->x;
			if (!any || point->x > plot->x_high)
				plot->x_high = point->x;
			if (!any || point->y > plot->y_high)
				plot->y_high = point->y;
			any = true;
		}
	}
	if (any && plot->x_high <= plot->x_low)
		return false;
	if (plot->y_high <= 0)
		plot->y_high = 1;
	/* Up to the next line of the grid. */
	y_step = nice_step(plot->y_high, Y_STEPS);
	while (top < plot->y_high * 0.9999)
		top += y_step;
	plot->y_high = top;
	return any;
}

static void draw_axes(FILE *to, const struct plot *plot, const char *x_label, const char *y_label)
{
	double y_step = nice_step(plot->y_high, Y_STEPS);
	double x_step = nice_step(plot->x_high - plot->x_low, 8);
	char text[32];

	for (int i = 0; i * y_step <= plot->y_high * 1.0001; i++) {
		double y = plot_y(plot, i * y_step);

		svg_line(to, LEFT, y, WIDTH - RIGHT, y, "grid");
		figure_text(i * y_step, text, sizeof(text));
		svg_text(to, LEFT - 6, y + 4, "end", "faint", text);
	}
	for (int64_t i = (int64_t)(plot->x_low / x_step);
	     (double)i * x_step <= plot->x_high * 1.0001; i++) {
		double x = (double)i * x_step;

		if (x < plot->x_low)
			continue;
		figure_text(x, text, sizeof(text));
		svg_text(to, plot_x(plot, x), TOP + PLOT_HEIGHT + 16, "middle", "faint", text);
	}
	svg_text(to, WIDTH - RIGHT, TOP + PLOT_HEIGHT + 32, "end", "faint", x_label);
	svg_text(to, 0, TOP - 9, "start", "faint", y_label);
}

void chart_lines(FILE *to, const char *title, const char *x_label, const char *y_label,
		 const struct chart_series *series, size_t nr)
{
	struct plot plot = { 0 };

	if (nr > CHART_SERIES_LIMIT)
		nr = CHART_SERIES_LIMIT;
	if (!find_extent(series, nr, &plot))
		return;
	svg_begin(to, TOP + PLOT_HEIGHT + 38 + (int)nr * LEGEND_ROW, title);
	draw_axes(to, &plot, x_label, y_label);
	for (size_t s = 0; s < nr; s++) {
		fprintf(to,
			"<polyline fill=\"none\" stroke-width=\"1.8\" stroke=\"%s\" stroke-dasharray=\"%s\" points=\"",
			colour[s], dashes[s]);
		for (size_t i = 0; i < series[s].nr; i++)
			fprintf(to, "%s%.1f,%.1f", i ? " " : "",
				plot_x(&plot, series[s].point[i].x),
				plot_y(&plot, series[s].point[i].y));
		fputs("\"><title>", to);
		html_text(to, series[s].name);
		fputs("</title></polyline>\n", to);
		legend(to, TOP + PLOT_HEIGHT + 46 + (double)s * LEGEND_ROW, series[s].name, s,
		       true);
	}
	fputs("</svg></div>\n", to);
}

/* ---- bars */

void chart_bars(FILE *to, const char *title, const char *const *category, size_t nr_categories,
		const char *const *series, size_t nr_series, const double *value)
{
	size_t drawn = nr_series < CHART_SERIES_LIMIT ? nr_series : CHART_SERIES_LIMIT;
	double highest = 0, scale, y = TOP;
	int row = (int)drawn * BAR + 8;

	for (size_t i = 0; i < nr_categories * nr_series; i++)
		highest = value[i] > highest ? value[i] : highest;
	if (!drawn || !nr_categories || highest <= 0)
		return;
	scale = (WIDTH - NAME_WIDTH - VALUE_WIDTH) / highest;
	svg_begin(to, TOP + (int)nr_categories * row + 12 + (int)drawn * LEGEND_ROW, title);
	for (size_t c = 0; c < nr_categories; c++, y += row) {
		svg_text(to, NAME_WIDTH - 8, y + row / 2.0, "end", "", category[c]);
		for (size_t s = 0; s < drawn; s++) {
			double v = value[c * nr_series + s], top = y + (double)s * BAR;
			char text[32];

			snprintf(text, sizeof(text), "%.0f", v);
			fprintf(to,
				"<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
				"fill=\"%s\"><title>",
				NAME_WIDTH, top, v * scale, BAR - 2, colour[s]);
			html_text(to, series[s]);
			fprintf(to, ": %s</title></rect>\n", text);
			svg_text(to, NAME_WIDTH + v * scale + 5, top + BAR - 3, "start", "faint",
				 text);
		}
	}
	for (size_t s = 0; s < drawn; s++)
		legend(to, y + 14 + (double)s * LEGEND_ROW, series[s], s, false);
	fputs("</svg></div>\n", to);
}

/* ---- ranges */

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double greatest(double a, double b)
{
	return a > b ? a : b;
}

void chart_ranges(FILE *to, const char *title, const char *unit, const struct chart_range *range,
		  size_t nr)
{
	double low = 0, high = 0, scale, zero;
	double room = WIDTH - NAME_WIDTH - RIGHT;
	char text[64];

	for (size_t i = 0; i < nr; i++) {
		low = least(low, least(range[i].low, range[i].value));
		high = greatest(high, greatest(range[i].high, range[i].value));
	}
	if (!nr || high <= low)
		return;
	scale = room / (high - low);
	zero = NAME_WIDTH - low * scale;
	svg_begin(to, TOP + (int)nr * LEGEND_ROW + 24, title);
	svg_line(to, zero, TOP - 6, zero, TOP + (double)nr * LEGEND_ROW, "axis");
	for (size_t i = 0; i < nr; i++) {
		bool seen = range[i].low > 0 || range[i].high < 0;
		double y = TOP + (double)i * LEGEND_ROW + 8;
		const char *paint = seen ? colour[0] : colour[6];

		svg_text(to, NAME_WIDTH - 8, y + 4, "end", seen ? "" : "faint", range[i].name);
		fprintf(to,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
			"stroke-width=\"%d\"><title>",
			NAME_WIDTH + (range[i].low - low) * scale, y,
			NAME_WIDTH + (range[i].high - low) * scale, y, paint, seen ? 4 : 2);
		html_text(to, range[i].name);
		fprintf(to, ": %+.3g %+.3g..%+.3g</title></line>\n", range[i].value, range[i].low,
			range[i].high);
		fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n",
			NAME_WIDTH + (range[i].value - low) * scale, y, paint);
	}
	snprintf(text, sizeof(text), "%+.3g", low);
	svg_text(to, NAME_WIDTH, TOP + (double)nr * LEGEND_ROW + 18, "start", "faint", text);
	svg_text(to, zero, TOP + (double)nr * LEGEND_ROW + 18, "middle", "faint", "0");
	snprintf(text, sizeof(text), "%+.3g %.40s", high, unit);
	svg_text(to, WIDTH - RIGHT, TOP + (double)nr * LEGEND_ROW + 18, "end", "faint", text);
	fputs("</svg></div>\n", to);
}

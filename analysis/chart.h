/* SPDX-License-Identifier: GPL-2.0-only */
/* Charts as inline SVG. What a chart shows stands in its title elements too, for readers without sight. */
#ifndef ANALYSIS_CHART_H
#define ANALYSIS_CHART_H

#include <stddef.h>
#include <stdio.h>

#define CHART_SERIES_LIMIT 8 /* colours that can be told apart */

struct chart_point {
	double x, y;
};

struct chart_series {
	const char *name;
	const struct chart_point *point; /* x ascending */
	size_t nr;
};

/**
 * chart_lines() - one line a series, over a shared x
 * @title, @x_label, @y_label: text
 * @nr: the first CHART_SERIES_LIMIT are drawn
 *
 * y begins at 0. Nothing is printed where there is no series of two points.
 */
void chart_lines(FILE *to, const char *title, const char *x_label, const char *y_label,
		 const struct chart_series *series, size_t nr);

/**
 * chart_bars() - for each category one bar a series
 * @category: names, nr_categories of them
 * @series: names, nr_series of them, at most CHART_SERIES_LIMIT drawn
 * @value: nr_categories x nr_series, at least 0; by category, then series
 */
void chart_bars(FILE *to, const char *title, const char *const *category, size_t nr_categories,
		const char *const *series, size_t nr_series, const double *value);

/* A difference and how far it spreads. */
struct chart_range {
	const char *name;
	double value, low, high; /* low <= value <= high need not hold */
};

/** chart_ranges() - a dot in its spread for each, around 0; faint where the spread has 0 in it. @unit: text. */
void chart_ranges(FILE *to, const char *title, const char *unit, const struct chart_range *range,
		  size_t nr);

#endif

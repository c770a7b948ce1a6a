/* SPDX-License-Identifier: MIT */
/*
 * trend_shape.c - the shape of one series; see trend_shape.h.
 *
 * Growth is a significant slope of a series that has not bent off. Two windows are tried, all of it
 * and the last half: a program that loads its data and then leaks has bent off as a whole and still
 * grows in the last half. Where the measurements are not evenly apart there are two clocks, time and
 * the number of the measurement: what is taken after each round of work grows by the second.
 */
#include "analysis/trend_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trend_curves.h"
#include "analysis/trend_test.h"
#include "util/alloc.h"

/*
 * A discovery: by itself at most as likely as SURE without growth, so that of random walks at twenty
 * snapshots not more than 5 % are taken for growth (measured: tests/unit/test_trend.c); and within
 * the report's false discovery rate.
 */
#define SURE	       0.01
#define DISCOVERY_RATE 0.05
#define VERY_SURE      0.001
#define MIN_VERY_SURE  10u

#define MIN_WINDOW  6u
#define WHOLE_SHARE 0.9 /* of the error probability; the last half has the rest */
#define SPIKE	    8.0
#define UNEVEN	    0.02 /* so much may an interval differ from the mean one */

/* So much better than a line, in units of twice the log likelihood, is another curve believed. */
#define BEND_EVIDENCE 8.0
#define MOST_LEFT     0.1
/* Of the last measurements, which have to rise as well; in standard errors. */
#define LATE_PART  0.4
#define NEW_GROUND 0.4 /* of what was gained in the last half */
#define LATE_RISE  0.5

/* Steps of a staircase that is believed. */
#define MIN_STEPS  3u
#define MANY_STEPS 5u

/* A part of the measurements, seen by a clock. */
struct window {
	size_t from, n;
	double share; /* of the error probability */
	const double *clock; /* of all measurements */
	struct trend_design *design;
};

struct trend_times {
	size_t n;
	double *s;
	double *number; /* 0, 1, 2, ... */
	bool uneven; /* it tells another time */
	struct window windows[4];
	size_t nr_windows; /* 0: too few for a test */
};

const char *trend_shape_name(enum trend_shape shape)
{
	static const char *const names[] = {
		[TREND_LINEAR] = "linear",   [TREND_DOUBLING] = "doubling",
		[TREND_PLATEAU] = "plateau", [TREND_STEP] = "step",
		[TREND_NOISE] = "noise",     [TREND_SHRINKING] = "shrinking",
	};

	return names[shape];
}

const char *trend_confidence_name(enum trend_confidence confidence)
{
	static const char *const names[] = {"low", "medium", "high"};

	return names[confidence];
}

static void add_window(struct trend_times *t, size_t from, const double *clock, double share)
{
	struct window *w = &t->windows[t->nr_windows++];

	w->from = from;
	w->n = t->n - from;
	w->share = share;
	w->clock = clock;
	w->design = trend_design_new(clock + from, w->n);
}

/* All of it, and the last half if that is enough for a test. */
static void add_windows(struct trend_times *t, const double *clock, double share)
{
	size_t n = t->n, half = 0;

	while (half < n && t->s[half] - t->s[0] < (t->s[n - 1] - t->s[0]) / 2)
		half++;
	if (!half || n - half < MIN_WINDOW) {
		add_window(t, 0, clock, share);
		return;
	}
	add_window(t, 0, clock, WHOLE_SHARE * share);
	add_window(t, half, clock, (1 - WHOLE_SHARE) * share);
}

/* Whether a clock that counts measurements goes otherwise than time does. */
static bool is_uneven(const double *s, size_t n)
{
	double mean = (s[n - 1] - s[0]) / (double)(n - 1);

	for (size_t i = 1; i < n; i++)
		if (fabs(s[i] - s[i - 1] - mean) > UNEVEN * mean)
			return true;
	return false;
}

struct trend_times *trend_times_new(const double *s, size_t n)
{
	struct trend_times *t = xcalloc(1, sizeof(*t));

	t->n = n;
	t->s = xmallocarray(n, sizeof(*t->s));
	t->number = xmallocarray(n, sizeof(*t->number));
	memcpy(t->s, s, n * sizeof(*s));
	for (size_t i = 0; i < n; i++)
		t->number[i] = (double)i;
	t->uneven = is_uneven(s, n);
	if (n < TREND_MIN_SURE)
		return t;
	if (t->uneven) {
		add_windows(t, t->s, 0.5);
		add_windows(t, t->number, 0.5);
	} else {
		add_windows(t, t->s, 1);
	}
	return t;
}

void trend_times_free(struct trend_times *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr_windows; i++)
		trend_design_free(t->windows[i].design);
	free(t->s);
	free(t->number);
	free(t);
}

/* ---- bends ------------------------------------------------------------------------------- */

/* Twice the log likelihood by which one curve explains the values better than another. */
static double better(double squares, double than, size_t n, double scale)
{
	double least = 1e-18 * scale; /* what doubles can tell */

	return (double)n * log((than + least) / (squares + least));
}

static double spread(const double *value, size_t n)
{
	double most = 0;

	for (size_t i = 1; i < n; i++)
		most = fmax(most, fabs(value[i] - value[0]));
	return most * most * (double)n;
}

/*
 * By how much a curve explains the values better than another one does. Measurements that repeat each
 * other count for less, unless the curve leaves next to nothing.
 */
static double evidence_of(const struct trend_bend *bend, double other, size_t n, double scale)
{
	double evidence = better(bend->squares, other, n, scale);

	if (bend->squares > MOST_LEFT * other)
		evidence *= (1 - bend->memory) / (1 + bend->memory);
	return evidence;
}

/* Whether a curve that bends off explains the values better than a line that leaves `line` squares. */
static bool bends(const double *clock, const double *value, size_t n, double line)
{
	static const enum curve curves[] = {CURVE_RAMP, CURVE_STEP, CURVE_FILL};
	double scale = spread(value, n);

	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
		struct trend_bend bend = trend_fit_bend(curves[i], clock, value, n);

		if (evidence_of(&bend, line, n, scale) > BEND_EVIDENCE)
			return true;
	}
	return false;
}

/*
 * Whether the values have bent off: flat at the end, or all of it was one step. By whichever clock: a
 * ramp in time has corners everywhere by number, and nothing explains it well there but a line.
 */
static bool has_bent(const struct trend_times *t, const struct window *w, const double *value)
{
	size_t n = w->n, late = n - (size_t)(LATE_PART * (double)n + 0.5);
	const double *clock = w->clock + w->from, *v = value + w->from;
	double line = trend_fit_line(clock, v, n).squares;
	struct trend_fit f;

	if (!(spread(v, n) > 0) || bends(t->s + w->from, v, n, line) ||
	    (t->uneven && bends(t->number + w->from, v, n, line)))
		return true;
	late = n - late < 3 ? n - 3 : late;
	f = trend_fit_line(clock + late, v + late, n - late);
	return !(f.slope > 0 && f.slope >= LATE_RISE * f.slope_error);
}

/* ---- spikes ------------------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double middle(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/*
 * The values without single ones far above or below both neighbours: a snapshot in the middle of a
 * large request. Far is SPIKE times what two neighbours typically differ by. Caller frees.
 */
static double *without_spikes(const double *value, size_t n)
{
	double *calm = xmallocarray(n, 2 * sizeof(*calm)), *steps = calm + n;

	memcpy(calm, value, n * sizeof(*value));
	for (size_t i = 1; i < n; i++)
		steps[i - 1] = fabs(value[i] - value[i - 1]);
	qsort(steps, n - 1, sizeof(*steps), ascending);
	for (size_t i = 1; i + 1 < n; i++) {
		double mid = middle(value[i - 1], value[i], value[i + 1]);

		if (fabs(value[i] - mid) > SPIKE * steps[(n - 1) / 2])
			calm[i] = mid;
	}
	return calm;
}

/* ---- one series -------------------------------------------------------------------------- */

static size_t first_growth(const double *value, size_t n)
{
	double *least = xmallocarray(n, sizeof(*least)), most = value[0];
	size_t found = 0;

	/* least[i]: of the values from i on */
	for (size_t i = n; i-- > 0;)
		least[i] = i + 1 < n ? fmin(least[i + 1], value[i]) : value[i];
	for (size_t i = 1; i < n && !found; i++) {
		if (least[i] > most)
			found = i;
		most = fmax(most, value[i]);
	}
	free(least);
	return found;
}

/* By eye, where no test has power. */
static enum trend_shape few_look(const double *value, size_t n)
{
	double gained = value[n - 1] - value[0], last = value[n - 1] - value[n - 2], most = 0;
	size_t rises = 0, falls = 0;

	for (size_t i = 1; i < n; i++) {
		rises += value[i] > value[i - 1];
		falls += value[i] < value[i - 1];
		most = fmax(most, value[i - 1]);
	}
	if (falls && !rises)
		return TREND_SHRINKING;
	if (falls)
		return value[n - 1] > most && rises > falls ? TREND_LINEAR : TREND_NOISE;
	if (!rises)
		return TREND_NOISE;
	if (last > 0.1 * gained / (double)(n - 1))
		return rises == 1 ? TREND_STEP : TREND_LINEAR;
	return rises == 1 ? TREND_STEP : TREND_PLATEAU;
}

/* Whether the last third of the values still rises as fast as all of them, or a third as fast. */
static bool rises_still(const double *s, const double *value, size_t n)
{
	size_t from = n - n / 3;

	return trend_fit_line(s + from, value + from, n - from).slope * (s[n - 1] - s[0]) >
	       (value[n - 1] - value[0]) / 3;
}

/* Whether the values went up for a while or at once, and not all the time; else noise. */
static enum trend_shape risen_look(const double *s, const double *value, size_t n, double level)
{
	double scale = spread(value, n), needed = BEND_EVIDENCE + 2 * log((double)n);
	struct trend_bend ramp = trend_fit_bend(CURVE_RAMP, s, value, n);
	struct trend_bend step = trend_fit_bend(CURVE_STEP, s, value, n);
	struct trend_bend fill = trend_fit_bend(CURVE_FILL, s, value, n);
	double line = trend_fit_line(s, value, n).squares, stopped = log((double)n);

	if (evidence_of(&step, level, n, scale) > needed &&
	    better(step.squares, ramp.squares, n, scale) > -log((double)n))
		return TREND_STEP;
	if ((evidence_of(&ramp, level, n, scale) > needed &&
	     evidence_of(&ramp, line, n, scale) > stopped) ||
	    (evidence_of(&fill, level, n, scale) > needed &&
	     evidence_of(&fill, line, n, scale) > stopped && !rises_still(s, value, n)))
		return TREND_PLATEAU;
	return TREND_NOISE;
}

/* What it is if it does not grow. */
static enum trend_shape not_growing_look(const double *s, const double *value, size_t n)
{
	double *other = xcalloc(n, sizeof(*other)), level;
	enum trend_shape shape = TREND_NOISE;

	if (spread(value, n) > 0) {
		level = trend_fit_line(other, value, n).squares; /* on a line that is all 0 */
		shape = risen_look(s, value, n, level);
		for (size_t i = 0; i < n; i++)
			other[i] = -value[i];
		if (shape == TREND_NOISE && risen_look(s, other, n, level) != TREND_NOISE)
			shape = TREND_SHRINKING;
	}
	free(other);
	return shape;
}

/*
 * Whether the late measurements of the window are well above all that was before it: else what
 * rises in it has been there before and has fallen again, as a sawtooth does.
 */
static bool is_new_ground(const struct window *w, const double *value, size_t n)
{
	size_t late = (size_t)(LATE_PART * (double)w->n + 0.5);
	double mean = 0, most = -INFINITY;

	for (size_t i = 0; i < w->from; i++)
		most = fmax(most, value[i]);
	for (size_t i = n - late; i < n; i++)
		mean += value[i] / (double)late;
	return mean - most > NEW_GROUND * (value[n - 1] - value[w->from]);
}

static void look_at_window(const struct trend_times *t, const struct window *w, const double *value,
			   struct trend_view *v)
{
	double up, down;

	up = trend_test(w->design, value + w->from);
	down = fmin(1, (1 - up) / w->share);
	up = fmin(1, up / w->share);
	if (down < v->not_shrinking)
		v->not_shrinking = down;
	if (up < v->not_growing && value[t->n - 1] > value[w->from] &&
	    is_new_ground(w, value, t->n) && !has_bent(t, w, value)) {
		v->not_growing = up;
		v->from = w->from;
	}
}

void trend_look(const struct trend_times *t, const double *value, struct trend_view *ret)
{
	struct trend_view v = {.not_growing = 1, .not_shrinking = 1};
	double *calm = without_spikes(value, t->n);
	size_t last = t->n - 1;

	trend_stairs_find(t->s, value, t->n, &v.stairs);
	for (size_t i = 0; i < t->nr_windows; i++)
		look_at_window(t, &t->windows[i], calm, &v);
	v.otherwise = t->nr_windows ? not_growing_look(t->s, calm, t->n) : few_look(value, t->n);
	v.rose_last = value[last] > value[last - 1];
	if (value[last] > value[0])
		v.first_growth = first_growth(calm, t->n);
	else if (v.otherwise == TREND_PLATEAU || v.otherwise == TREND_STEP)
		v.otherwise = TREND_NOISE; /* it is gone again */
	if (t->nr_windows && v.not_growing > SURE &&
	    (v.otherwise == TREND_PLATEAU || v.otherwise == TREND_STEP))
		v.from = t->n / 2;
	v.slope = trend_slope(t->s + v.from, value + v.from, t->n - v.from);
	free(calm);
	*ret = v;
}

/* ---- all together ------------------------------------------------------------------------ */

static enum trend_confidence confidence_of(const struct trend_times *t, const struct trend_view *v,
					   double rate, bool stairs)
{
	bool many = t->n >= MIN_VERY_SURE;

	if (!t->nr_windows)
		return TREND_LOW;
	if (stairs)
		return many && v->stairs.nr >= MANY_STEPS ? TREND_HIGH : TREND_MEDIUM;
	if (v->not_growing > SURE || rate > DISCOVERY_RATE)
		return TREND_LOW;
	return many && v->not_growing <= VERY_SURE && rate <= VERY_SURE ? TREND_HIGH : TREND_MEDIUM;
}

void trend_believe(const struct trend_times *t, const struct trend_view *views, size_t n,
		   struct trend_belief *ret)
{
	double *up = xmallocarray(n + 1, sizeof(*up)), *down = xmallocarray(n + 1, sizeof(*down));
	size_t needed = t->nr_windows ? MIN_STEPS : 2;

	for (size_t i = 0; i < n; i++) {
		up[i] = views[i].not_growing;
		down[i] = views[i].not_shrinking;
	}
	trend_false_discovery(up, n);
	trend_false_discovery(down, n);
	for (size_t i = 0; i < n; i++) {
		const struct trend_view *v = &views[i];
		bool stairs = v->stairs.nr >= needed;
		bool ended =
			stairs && !v->rose_last && trend_stairs_ended(&v->stairs, t->s[t->n - 1]);

		ret[i].confidence = confidence_of(t, v, up[i], stairs && !ended);
		ret[i].shape = v->otherwise;
		if (stairs)
			ret[i].shape = ended ? TREND_PLATEAU : TREND_DOUBLING;
		else if (ret[i].confidence > TREND_LOW)
			ret[i].shape = TREND_LINEAR;
		else if (v->not_shrinking <= SURE && down[i] <= DISCOVERY_RATE)
			ret[i].shape = TREND_SHRINKING;
	}
	free(up);
	free(down);
}

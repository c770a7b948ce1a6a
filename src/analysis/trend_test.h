/* SPDX-License-Identifier: MIT */
/*
 * trend_test.h - is a series of measurements growing, or does it only vary? One series, no heap.
 *
 * The answer is a probability: that the slope is not above 0, given the series, if it is a line
 * plus noise that remembers (a snapshot that is high is followed by another one). How long the
 * noise remembers is not known from twenty snapshots, so it is not estimated: the answer is the
 * mean over all memories from none to that of a random walk, with and without white noise on top,
 * each weighed by how well it explains the series. Priors are flat in level, slope and the logarithm of the noise,
 * so for each memory this is the one-sided t-test of generalised least squares, and the mean over
 * the memories keeps its error rate exactly: of series without growth whose memory is drawn by the
 * weights, a share of at most p has an answer below p, with any number of snapshots.
 */
#ifndef HEAPSTORY_ANALYSIS_TREND_TEST_H
#define HEAPSTORY_ANALYSIS_TREND_TEST_H

#include <stddef.h>

/* What depends on the times alone: made once for all series that were measured together. */
struct trend_design;

/* For n >= 3 times in seconds, ascending, none equal. They are copied. Never fails. */
struct trend_design *trend_design_new(const double *s, size_t n);
void trend_design_free(struct trend_design *design);

/*
 * The probability that the slope of these n values is <= 0. That it is >= 0 is 1 minus it. A series
 * of equal values has 0.5.
 */
double trend_test(const struct trend_design *design, const double *value);

/*
 * Median of the slopes of all pairs, per second (Theil 1950, Sen 1968): a fifth of the values may
 * be anything. For n >= 2.
 */
double trend_slope(const double *s, const double *value, size_t n);

/*
 * In place: of each of n probabilities the false discovery rate at which it would be the last one
 * to be found (Benjamini and Hochberg 1995).
 */
void trend_false_discovery(double *p, size_t n);

/* The upper tail of Student's t with df degrees of freedom, t of either sign. */
double trend_t_tail(double t, double df);

#endif

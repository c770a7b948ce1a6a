/* SPDX-License-Identifier: MIT */
/*
 * local_types.cpp - code of which gcc has the DIEs below types: of lambdas and local classes.
 *
 * Allocates nothing. Built without optimization; the symbolizer's tests look up its addresses.
 */
namespace {
struct scale {
	int k;
	__attribute__((always_inline)) int of(int v) const { return v * k + 1; }
};
template <class F> int each(F f) { return f(3); }
}

int main(int argc, char **)
{
	struct local {
		int k;
		int of(int v) const { return scale{k}.of(v); }
	};
	int sum = each([&](int q) { return scale{q}.of(argc); });

	sum += each([&](int q) { return scale{q + 1}.of(sum) + local{q}.of(1); });
	return each([](int q) { return scale{q}.of(q); }) + sum;
}

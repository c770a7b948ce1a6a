/* SPDX-License-Identifier: MIT */
/*
 * sym_shapes.cpp - functions of all kinds that a symbol table may hold.
 *
 * Heap story: none to speak of; it is there for its names. Templates, lambdas, constructors with
 * aliases, operators, virtual thunks, anonymous namespaces, abi tags, local statics, .cold parts.
 */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace geometry {
namespace {
int hidden_counter;
__attribute__((noinline)) int hidden(int by)
{
	return hidden_counter += by;
}
} // namespace

struct Shape {
	virtual ~Shape() { hidden(-1); }
	virtual double area() const = 0;
	virtual std::string name() const { return "shape"; }
};

struct Tagged {
	virtual ~Tagged() {}
	virtual int tag() { return 1; }
};

template <typename T, int N = 2> struct Polygon : Shape, virtual Tagged {
	std::vector<T> sides;
	Polygon() : sides(N) { hidden(N); }
	double area() const override { return static_cast<double>(sides.size()); }
	std::string name() const override { return std::string("polygon of ") + std::to_string(N); }
	int tag() override { return N; }
	T &operator[](size_t i) { return sides.at(i); }
	explicit operator bool() const { return !sides.empty(); }
};
} // namespace geometry

template <typename F> __attribute__((noinline)) static int apply(F f, int n)
{
	return n > 100 ? throw std::out_of_range("n") : f(n);
}

extern "C" __attribute__((noinline)) int plain_c(int n) noexcept
{
	return n + 1;
}
extern "C" int plain_c_alias(int n) noexcept __attribute__((alias("plain_c")));
extern "C" int __plain_c_weak(int n) noexcept __attribute__((weak, alias("plain_c")));

int main(int argc, char **)
{
	std::map<std::string, std::unique_ptr<geometry::Shape>> shapes;
	std::unordered_map<int, std::wstring> numbers;
	std::function<int(int)> twice = [](int n) { return 2 * n; };

	shapes["two"] = std::make_unique<geometry::Polygon<int>>();
	shapes["five"] = std::make_unique<geometry::Polygon<std::string, 5>>();
	numbers[argc] = L"one";
	double sum = 0;
	for (auto &shape : shapes)
		sum += shape.second->area() + static_cast<double>(shape.second->name().size());
	std::vector<int> order{ 3, 1, 2 };
	std::sort(order.begin(), order.end(), [&](int a, int b) { return a * argc < b * argc; });
	printf("%d %d %.0f\n", apply(twice, plain_c(argc)),
	       apply([&](int n) { return n + order[0]; }, argc), sum);
	return 0;
}

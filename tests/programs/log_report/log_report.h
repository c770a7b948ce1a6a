// SPDX-License-Identifier: MIT
/*
 * log_report.h - a C++ program of usual size, in several files, whose text is mostly inlined
 * templates. The symbolizer is held against others at its addresses.
 */
#ifndef LOG_REPORT_H
#define LOG_REPORT_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace report
{
struct Request {
	std::string method, path, agent;
	int status = 0;
	std::uint64_t bytes = 0;
	std::chrono::microseconds took{0};
};

struct Malformed {
	std::string line;
};

using Parsed = std::variant<std::monostate, Request, Malformed>;

class Parser {
public:
	virtual ~Parser() = default;
	virtual Parsed parse(const std::string &line) const = 0;
};

/* What reads lines such as the first one. */
std::unique_ptr<Parser> parser_for(std::string_view first);

std::vector<std::string> read_lines(std::istream &in);
/* Of a log that there is not. */
std::vector<std::string> make_lines(std::size_t nr);

/* Keeps so many of the values that were added, each of them as likely as any other. */
template <typename T> class Reservoir {
	std::vector<T> kept_;
	std::size_t room_, seen_ = 0;
	std::minstd_rand random_{17};

public:
	explicit Reservoir(std::size_t room) : room_(room) { kept_.reserve(room); }

	void add(const T &value)
	{
		++seen_;
		if (kept_.size() < room_)
			kept_.push_back(value);
		else if (auto at = std::uniform_int_distribution<std::size_t>(0, seen_ - 1)(random_); at < room_)
			kept_[at] = value;
	}

	std::optional<T> quantile(double q) const
	{
		std::vector<T> sorted = kept_;

		if (sorted.empty())
			return std::nullopt;
		auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(sorted.size() - 1));
		std::nth_element(sorted.begin(), nth, sorted.end());
		return *nth;
	}
};

struct PathTotals {
	std::uint64_t requests = 0, bytes = 0;
	std::map<int, unsigned> by_status;
	Reservoir<double> seconds{64};
	std::set<std::string, std::less<>> agents;
};

class Totals {
	std::unordered_map<std::string, std::unique_ptr<PathTotals>> by_path_;
	std::deque<Malformed> malformed_;
	std::priority_queue<std::tuple<std::int64_t, std::string>> slowest_;

public:
	void operator()(std::monostate) {}
	void operator()(const Malformed &m);
	void operator()(const Request &r);
	/* The largest paths, then the slowest requests, then what was not understood. */
	void print(std::ostream &out, std::size_t rows);
};
} // namespace report

#endif

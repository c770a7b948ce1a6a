// SPDX-License-Identifier: MIT
/* totals.cpp - what is summed up, and how it is printed */
#include "log_report.h"

#include <iomanip>

namespace report
{
void Totals::operator()(const Malformed &m)
{
	malformed_.push_back(m);
	if (malformed_.size() > 5)
		malformed_.pop_front();
}

void Totals::operator()(const Request &r)
{
	auto &t = by_path_[r.path.substr(0, r.path.find('?'))];

	if (!t)
		t = std::make_unique<PathTotals>();
	t->requests++;
	t->bytes += r.bytes;
	t->by_status[r.status]++;
	t->seconds.add(std::chrono::duration<double>(r.took).count());
	t->agents.insert(r.agent);
	slowest_.emplace(r.took.count(), r.path);
}

void Totals::print(std::ostream &out, std::size_t rows)
{
	std::vector<std::pair<std::string, const PathTotals *>> sorted;

	for (const auto &[path, totals] : by_path_)
		sorted.emplace_back(path, totals.get());
	std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
		return std::make_tuple(b.second->bytes, a.first) < std::make_tuple(a.second->bytes, b.first);
	});
	for (std::size_t i = 0; i < std::min(rows, sorted.size()); i++) {
		const auto &[path, t] = sorted[i];

		out << std::setw(8) << t->requests << std::setw(12) << t->bytes << std::fixed << std::setprecision(6)
		    << std::setw(12) << t->seconds.quantile(0.99).value_or(0) << ' ' << path;
		for (const auto &[status, nr] : t->by_status)
			out << ' ' << status << ':' << nr;
		out << ' ' << t->agents.size() << " agents\n";
	}
	for (std::size_t i = 0; i < 3 && !slowest_.empty(); i++, slowest_.pop())
		out << std::get<0>(slowest_.top()) << " us " << std::get<1>(slowest_.top()) << '\n';
	for (const auto &m : malformed_)
		out << "not understood: " << std::quoted(m.line) << '\n';
}
} // namespace report

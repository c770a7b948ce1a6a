// SPDX-License-Identifier: MIT
/* lines.cpp - lines that are read, and lines that are made up */
#include "log_report.h"

#include <sstream>

namespace report
{
std::vector<std::string> read_lines(std::istream &in)
{
	std::vector<std::string> lines;

	for (std::string line; std::getline(in, line);)
		lines.push_back(std::move(line));
	return lines;
}

std::vector<std::string> make_lines(std::size_t nr)
{
	static const std::string paths[] = {"/", "/index.html", "/search?q=heap", "/static/app.js", "/api/v1/items"};
	std::mt19937 random(5);
	std::lognormal_distribution<double> took(7, 1);
	std::vector<std::string> lines;

	std::generate_n(std::back_inserter(lines), nr, [&] {
		std::ostringstream line;

		line << "10.0.0." << random() % 200 << " - \"GET " << paths[random() % 5] << " HTTP/1.1\" "
		     << (random() % 20 ? 200 : 404) << ' ' << random() % 100000 << " \"agent " << random() % 9 << "\" "
		     << static_cast<long>(took(random)) << "us";
		return line.str();
	});
	return lines;
}
} // namespace report

// SPDX-License-Identifier: MIT
/*
 * main.cpp - what was asked for, by path.
 *
 *	log_report [FILE...]
 *
 * Without a FILE it reads lines of its own making.
 */
#include "log_report.h"

#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <stdexcept>

namespace fs = std::filesystem;
using namespace report;

static Totals sum(const std::vector<std::vector<std::string>> &files)
{
	std::vector<std::future<std::vector<Parsed>>> parts;
	Totals totals;

	for (const auto &lines : files)
		parts.push_back(std::async(std::launch::async, [&lines] {
			std::vector<Parsed> parsed;
			auto parser = parser_for(lines.empty() ? "" : lines.front());

			std::transform(lines.begin(), lines.end(), std::back_inserter(parsed),
				       [&](const auto &line) { return parser->parse(line); });
			return parsed;
		}));
	for (auto &part : parts)
		for (const auto &parsed : part.get())
			std::visit(totals, parsed);
	return totals;
}

int main(int argc, char **argv)
{
	std::vector<std::vector<std::string>> files;

	try {
		for (const fs::path path : std::vector<std::string>(argv + 1, argv + argc)) {
			std::ifstream in(path);

			if (!in)
				throw std::runtime_error("cannot open " + path.filename().string());
			files.push_back(read_lines(in));
		}
		if (files.empty())
			files.push_back(make_lines(2000));
		sum(files).print(std::cout, 20);
	} catch (const std::exception &e) {
		std::cerr << e.what() << '\n';
		return 1;
	}
	return 0;
}

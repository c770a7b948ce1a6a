// SPDX-License-Identifier: MIT
/* parse.cpp - lines of two kinds of logs */
#include "log_report.h"

#include <regex>
#include <sstream>

namespace report
{
class CombinedParser : public Parser {
	std::regex pattern_{R"re((\S+) (\S+) "([A-Z]+) ([^" ]*)(?: HTTP/[0-9.]+)?" (\d{3}) (\d+|-) "([^"]*)" (\d+)us)re"};

public:
	Parsed parse(const std::string &line) const override
	{
		std::smatch m;

		if (line.empty())
			return std::monostate{};
		if (!std::regex_match(line, m, pattern_))
			return Malformed{line};
		return Request{m[3], m[4], m[7], std::stoi(m[5]), m[6] == "-" ? 0 : std::stoull(m[6]),
			       std::chrono::microseconds(std::stoll(m[8]))};
	}
};

class WordsParser : public Parser {
public:
	Parsed parse(const std::string &line) const override
	{
		std::istringstream in(line);
		Request r;
		long long took = 0;

		if (!(in >> r.method >> r.path >> r.status >> r.bytes >> took))
			return line.empty() ? Parsed{std::monostate{}} : Parsed{Malformed{line}};
		std::getline(in >> std::ws, r.agent);
		r.took = std::chrono::microseconds(took);
		return r;
	}
};

std::unique_ptr<Parser> parser_for(std::string_view first)
{
	if (first.find('"') != std::string_view::npos)
		return std::make_unique<CombinedParser>();
	return std::make_unique<WordsParser>();
}
} // namespace report

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Options: what --help lists, what the manual pages describe, what the examples use, and what the
# program takes are the same.
"$PYTHON" - "$TESTS/../docs" <<-'END'
	import os, re, shlex, subprocess, sys
	docs = sys.argv[1]

	def run(*words):
	    return subprocess.run(["heapstory", *words], capture_output=True, text=True,
	                          stdin=subprocess.DEVNULL, timeout=60)

	def flags(line):
	    """Options that a line of mdoc names."""
	    found, taking = set(), False
	    for word in re.findall(r'"[^"]*"|\S+', line.lstrip(".")):
	        if re.fullmatch(r"[A-Z][a-z]", word): taking = word == "Fl"
	        elif taking and re.match(r"-?[a-z]", word): found.add("-" + word)
	    return found

	def page(name):
	    """Options that a page mentions, and those that it has in its synopsis and lists."""
	    mentioned, own, section = set(), set(), ""
	    lines = open(f"{docs}/{name}.1").read().replace("\\\n", "").splitlines()
	    for line in lines:
	        if line.startswith(".Sh"): section = line[4:]
	        if not line.startswith("."): continue
	        mentioned |= flags(line)
	        if section == "SYNOPSIS" or line.startswith(".It"): own |= flags(line)
	    return mentioned, own, [l[2:] for l in lines if l.startswith("$ ")]

	def options_used(line):
	    """(command, options) of each heapstory in an example."""
	    for part in re.split(r"[|&]|\$\(|\)", re.sub(r"\s*#.*", "", line)):
	        words = shlex.split(part)
	        if words[:1] != ["heapstory"] or len(words) < 2: continue
	        words = words[1:words.index("--")] if "--" in words else words[1:]
	        yield words[0], [w.split("=")[0] for w in words[1:] if re.match(r"-.", w)]

	commands = re.findall(r"^  ([a-z]+) +", run("--help").stdout.split("TARGET")[0], re.M)
	pages = sorted(f[10:-2] for f in os.listdir(docs) if re.match(r"heapstory-[a-z]+\.1$", f))
	if pages != sorted(c for c in commands if c != "help"): print("pages", pages, "commands", commands)
	helps = {c: run(c, "--help").stdout for c in commands}
	listed = {c: set(re.findall(r"^  (--?[a-z-]+)", text.split("example:")[0], re.M)) for c, text in helps.items()}
	every = set().union(*listed.values())
	if len(every) < 40: print("options:", sorted(every))

	examples = re.findall(r"^  (.*)", run("--help").stdout.split("example:")[1], re.M)
	for command, text in helps.items():
	    usage = set(re.findall(r"(?<![a-z-])--?[a-z-]+", text.splitlines()[0])) - {"--"}
	    if usage - listed[command]: print(command, "usage has", usage - listed[command])
	    examples += re.findall(r"^  (.*)", text.split("example:")[1], re.M)
	    if command == "help": continue
	    mentioned, own, more = page(f"heapstory-{command}")
	    if listed[command] - mentioned: print(command, "page lacks", sorted(listed[command] - mentioned))
	    if own - listed[command]: print(command, "--help lacks", sorted(own - listed[command]))
	    examples += more
	_, own, more = page("heapstory")
	if own - every - {"--help", "--version"}: print("heapstory.1 has", sorted(own - every))
	seen = 0
	for example in examples + more:
	    for command, options in options_used(example):
	        seen += 1
	        wrong = [o for o in options if o not in listed.get(command, set())]
	        if wrong: print(f"example '{example}' has", wrong)
	if seen < 2 * len(commands): print("examples seen:", seen)

	# what is taken is listed, and the other way round: whatever else is refused, some with a reason
	values = {"--sort": "bytes", "--kind": "mapping", "--by": "site", "--mode": "live"}
	for command in commands:
	    if command == "help": continue
	    for option in sorted(every):
	        err = run(command, option, values.get(option, "5m"), "x.hs").stderr
	        if "argument too many" in err: err = run(command, option, "x.hs").stderr
	        refused = re.search(f"unknown option '{option}'|'{option}' (needs 'run'|is)|{option} is not for|has no {option}", err) is not None
	        if refused == (option in listed[command]): print(command, option, "refused" if refused else "taken", err)
	END
finish

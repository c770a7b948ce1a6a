# SPDX-License-Identifier: MIT
# Makefile of heapstory: one flat file, objects under build/. `make help` lists the targets.
#
# Yours: CC CXX CFLAGS LDFLAGS PREFIX DESTDIR, and for the test programs RUSTC.
# Ours:  SAN=address,undefined  COVERAGE=1  WERROR=1  V=1
# Every combination of compiler, SAN and COVERAGE has its own build/<variant>/; the plain one is
# build/ itself, so that build/heapstory and build/libheapstory.so are always the plain ones.

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
AR ?= ar
RUSTC ?= rustc
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
SAN ?=
COVERAGE ?=
WERROR ?=
V ?=

comma := ,
empty :=
space := $(empty) $(empty)
cc_name := $(notdir $(firstword $(CC)))
variant := $(subst $(space),-,$(strip $(filter-out gcc cc,$(cc_name)) $(subst $(comma),-,$(SAN)) \
	$(if $(COVERAGE),coverage)))
O := build$(if $(variant),/$(variant))
Q := $(if $(V),,@)

warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla \
	-Wundef -Wformat=2 $(if $(WERROR),-Werror)
cflags := -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(warnings) -Isrc -I. -I$(O)/gen -MMD -MP
san_flags := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
	$(if $(COVERAGE),--coverage)
# The preloaded library never carries a sanitizer: the host has none, or its own.
# -fno-builtin: or gcc turns malloc and memset into a calloc that calls itself.
tracer_flags := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-builtin -fexceptions \
	-Wframe-larger-than=1024 $(tracer_regs)
# Records are copied through general registers: a vector load can't take what two narrower stores
# have just left, and waits for both to reach the cache.
tracer_regs = $(if $(filter %/fallback.o,$@),,-mgeneral-regs-only)
tracer_ldflags := -shared -Wl,-z,defs -Wl,-z,now -Wl,--version-script=src/tracer/exports.map
tool_libs := -lzstd -lxxhash -ljansson -liberty -ldwarf -lz -llzma -lprotobuf-c -lm
test_libs := -Wl,--as-needed -lcmocka -lunwind -lunwind-generic $(tool_libs) -ldl -pthread

# The file of a store is made by the launcher or by the traced program: both carry that code.
tracer_src := $(wildcard src/tracer/*.c) src/store/writer.c src/store/create.c
tool_src := $(wildcard src/util/*.c src/analysis/*.c symbolizer/*.c reports/*.c) \
	$(filter-out src/store/writer.c,$(wildcard src/store/*.c)) src/tracer/sys.c
cli_src := $(wildcard src/cli/*.c)
# What interposes cannot be linked into a test; the rest of the tracer is tested as a library.
tracer_lib_src := $(filter-out $(shell grep -l HS_EXPORT src/tracer/*.c 2>/dev/null),$(tracer_src))
unit_src := $(wildcard tests/unit/test_*.c)
unit_help_src := $(filter-out $(unit_src),$(wildcard tests/unit/*.c))
fuzz_src := $(wildcard tests/fuzz/fuzz_*.c)
headers := $(wildcard src/*/*.h symbolizer/*.h reports/*.h)

tracer_obj := $(tracer_src:%.c=$(O)/obj/tracer/%.o)
tracer_lib_obj := $(tracer_lib_src:%.c=$(O)/obj/tracer-lib/%.o)
tool_obj := $(tool_src:%.c=$(O)/obj/tool/%.o) $(O)/obj/gen/profile.o
cli_obj := $(cli_src:%.c=$(O)/obj/tool/%.o)
cli_lib_obj := $(filter-out %/main.o,$(cli_obj))
unit_help_obj := $(unit_help_src:%.c=$(O)/obj/tool/%.o)
unit_bin := $(unit_src:tests/unit/%.c=$(O)/unit/%)
fuzz_bin := $(fuzz_src:tests/fuzz/%.c=$(O)/fuzz/%)

.PHONY: all aarch64 bench check check-headers check-imports check-layers clean clean-aarch64 demo \
	deps deps-build format fuzz fuzz-build help install lint programs test test-debian13 \
	test-large uninstall unit
.DEFAULT_GOAL := all
.SECONDARY:
.DELETE_ON_ERROR:

## all            the tool and the library that it preloads (default)
all: $(O)/heapstory $(O)/libheapstory.so

help:
	@sed -n 's/^## //p' Makefile
	@echo "variables: CC CXX CFLAGS LDFLAGS PREFIX DESTDIR; SAN=address,undefined COVERAGE=1 WERROR=1 V=1"

# ---- build -------------------------------------------------------------------------------------

$(O)/libheapstory.so: $(tracer_obj) src/tracer/exports.map
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK    $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(tracer_ldflags) -o $@ $(tracer_obj) -pthread

$(O)/heapstory: $(cli_obj) $(tool_obj)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK    $@")
	$(Q)$(CC) $(CFLAGS) $(san_flags) $(LDFLAGS) -o $@ $^ $(tool_libs) -pthread

$(O)/obj/tracer/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC      $<")
	$(Q)$(CC) $(cflags) $(tracer_flags) -c -o $@ $<

$(O)/obj/tracer-lib/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC      $< (as a library)")
	$(Q)$(CC) $(cflags) $(filter-out -Wframe%,$(tracer_flags)) $(san_flags) -c -o $@ $<

$(O)/obj/tool/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC      $<")
	$(Q)$(CC) $(cflags) $(san_flags) -c -o $@ $<

# The messages of pprof's format, from their description. What it generates is not ours to mend.
$(O)/gen/reports/profile.pb-c.c $(O)/gen/reports/profile.pb-c.h &: reports/profile.proto
	@mkdir -p $(O)/gen
	$(if $(V),,@echo "  PROTOC  $<")
	$(Q)protoc-c --c_out=$(O)/gen $<

$(O)/obj/gen/profile.o: $(O)/gen/reports/profile.pb-c.c
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC      $<")
	$(Q)$(CC) $(cflags) $(san_flags) -w -c -o $@ $<

$(O)/obj/tool/reports/export_pprof.o $(O)/obj/tool/tests/unit/test_export.o: $(O)/gen/reports/profile.pb-c.h

$(O)/libtracer-test.a: $(tracer_lib_obj)
$(O)/libtool-test.a: $(tool_obj) $(cli_lib_obj) $(unit_help_obj)
$(O)/libtracer-test.a $(O)/libtool-test.a:
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rc $@ $^

# ---- tests -------------------------------------------------------------------------------------

## unit           the unit tests, built (tests/run runs them)
unit: $(unit_bin) $(O)/bench/big_snapshots

$(O)/unit/%: $(O)/obj/tool/tests/unit/%.o $(O)/libtracer-test.a $(O)/libtool-test.a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK    $@")
	$(Q)$(CC) $(CFLAGS) $(san_flags) $(LDFLAGS) -o $@ $< -Wl,--start-group \
		$(O)/libtracer-test.a $(O)/libtool-test.a -Wl,--end-group $(test_libs)

# Writes snapshots of any number of blocks.
$(O)/bench/big_snapshots: $(O)/obj/tool/tests/bench/big_snapshots.o $(O)/libtool-test.a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK    $@")
	$(Q)$(CC) $(CFLAGS) $(san_flags) $(LDFLAGS) -o $@ $^ $(tool_libs) -pthread

# Programs that the tests trace: an ordinary optimised build without frame pointers, in which the
# calls of malloc and free stay where the source has them.
program_flags := -O1 -g -Wall -Wextra -fno-optimize-sibling-calls -fno-builtin-malloc \
	-fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free -fno-builtin-aligned_alloc
P := build/programs
program_cc := gcc
program_so := $(patsubst tests/programs/%.c,$(P)/%.so,$(wildcard tests/programs/plug_*.c \
	tests/programs/libearly.c tests/programs/libpool.c tests/programs/count_preload.c))
program_bin := $(filter-out $(program_so:.so=),$(patsubst tests/programs/%.c,$(P)/%,\
	$(wildcard tests/programs/*.c))) \
	$(patsubst tests/programs/%.cpp,$(P)/%,$(wildcard tests/programs/*.cpp)) \
	$(patsubst tests/programs/%.rs,$(P)/%,$(filter-out %/mark.rs %/tell.rs,$(wildcard tests/programs/*.rs))) \
	$(addprefix $(P)/cache_insert_,O2 frames nopie static stripped) $(P)/own_unwind_generic \
	$(P)/log_report \
	$(if $(shell command -v musl-gcc),$(P)/cache_insert_musl)

## programs       the small programs that the tests trace
programs: $(program_so) $(program_bin)

program_headers := $(wildcard tests/programs/*.h)

$(P)/%.so: tests/programs/%.c $(program_headers)
	@mkdir -p $(@D)
	$(Q)$(program_cc) $(program_flags) $(program_extra) -shared -fPIC -o $@ $< -ldl

$(P)/count_preload.so: program_extra := -O2 -fexceptions -fno-builtin -std=gnu11

$(P)/early_init: tests/programs/early_init.c $(program_headers) $(P)/libearly.so
	$(Q)$(program_cc) $(program_flags) -Wl,-rpath,'$$ORIGIN' -o $@ $< -L$(P) -learly

$(P)/own_new: tests/programs/own_new.cpp tests/programs/mark.h $(P)/libpool.so
	$(Q)g++ $(program_flags) -Wl,-rpath,'$$ORIGIN' -o $@ $< -L$(P) -lpool

$(P)/cache_insert_O2: program_extra := -O2
$(P)/cache_insert_nopie: program_extra := -fno-pie -no-pie
$(P)/cache_insert_static: program_extra := -static
$(P)/cache_insert_frames: program_extra := -fno-asynchronous-unwind-tables -fno-unwind-tables \
	-fno-omit-frame-pointer
$(addprefix $(P)/cache_insert_,O2 frames nopie static): tests/programs/cache_insert.c \
		$(program_headers)
	@mkdir -p $(@D)
	$(Q)$(program_cc) $(program_flags) $(program_extra) -o $@ $<

$(P)/cache_insert_musl: tests/programs/cache_insert.c $(program_headers)
	@mkdir -p $(@D)
	$(Q)musl-gcc $(program_flags) -o $@ $<

$(P)/cache_insert_stripped: tests/programs/cache_insert.c $(program_headers)
	@mkdir -p $(@D)
	$(Q)$(program_cc) $(program_flags) -Wl,--build-id -o $@ $<
	$(Q)objcopy --only-keep-debug $@ $@.debug && strip $@ && \
		cd $(P) && objcopy --add-gnu-debuglink=$(@F).debug $(@F)

# The one of them that is linked with a part of the tool.
$(P)/sym_driver: $(O)/obj/tool/tests/programs/sym_driver.o \
		$(filter $(O)/obj/tool/symbolizer/% $(O)/obj/tool/src/util/%,$(tool_obj))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(san_flags) $(LDFLAGS) -o $@ $^ $(tool_libs) -pthread

$(P)/own_unwind: program_libs := -lunwind
$(P)/own_unwind_generic: program_libs := -lunwind-generic -lunwind
$(P)/own_unwind_generic: program_extra := -DGENERIC
$(P)/own_unwind_generic: tests/programs/own_unwind.c $(program_headers)
	@mkdir -p $(@D)
	$(Q)$(program_cc) $(program_flags) $(program_extra) -o $@ $< $(program_libs)

$(P)/stack_use: program_libs := $(if $(filter gcc,$(program_cc)),-lstdc++)

$(P)/%: tests/programs/%.c $(program_headers)
	@mkdir -p $(@D)
	$(Q)$(program_cc) $(program_flags) -Wl,-rpath,'$$ORIGIN' -o $@ $< -pthread -ldl $(program_libs)

$(P)/cpp_bus $(P)/cpp_corners $(P)/cpp_merged $(P)/cpp_operations $(P)/cpp_text: program_std := c++20

$(P)/%: tests/programs/%.cpp $(program_headers)
	@mkdir -p $(@D)
	$(Q)g++ $(program_flags) -std=$(or $(program_std),c++17) -o $@ $< -pthread

$(P)/log_report: $(wildcard tests/programs/log_report/*)
	@mkdir -p $(@D)
	$(Q)g++ $(program_flags) -O2 -std=c++17 -o $@ $(filter %.cpp,$^) -pthread

# MAKEFLAGS: rustc would take part in make's job server.
$(P)/%: tests/programs/%.rs tests/programs/mark.rs tests/programs/tell.rs
	@mkdir -p $(@D)
	$(Q)MAKEFLAGS= $(RUSTC) -O -g --edition 2021 -o $@ $<

# For the tests on an emulated machine. Code with signed return addresses is the harder case.
A := build/aarch64
aarch64_cc := aarch64-linux-gnu-gcc
aarch64_bin := $(addprefix $(A)/programs/,plug_a.so plug_b.so plug_bump.so aligned_family \
	altstack_alloc cache_insert cache_insert_frames closefd dl_plugin early_init ends libc_inner prod_cons realloc_edges \
	stack_use swap_generation vec_growth wrapper)

## aarch64        the tracer and small programs for aarch64, which the tests run under qemu
aarch64:
	$(Q)$(MAKE) --no-print-directory CC=$(aarch64_cc) CFLAGS='-O2 -g -mbranch-protection=standard' \
		SAN= COVERAGE= O=$(A) P=$(A)/programs program_cc='$(aarch64_cc) -mbranch-protection=standard' \
		$(A)/libheapstory.so $(aarch64_bin)

clean-aarch64:
	rm -rf $(A)

## test           installs what is missing, builds, runs all tests
test: deps
	$(Q)$(MAKE) --no-print-directory all unit programs aarch64
	$(Q)tests/run --build $(O)

## test-large     look-ups in a Java virtual machine's debug information (a download of 300 MB)
test-large: deps
	$(Q)$(call install_missing,openjdk-17-jre-headless openjdk-17-dbg)
	$(Q)$(MAKE) --no-print-directory all $(P)/sym_driver $(P)/log_report $(P)/seed_idleak
	$(Q)SYMBOLS_LARGE=$$(dpkg -L openjdk-17-jre-headless | grep /server/libjvm.so$$) && \
		tests/tools/inlines.py $(P)/sym_driver $$SYMBOLS_LARGE 10000 build/test-large.txt llvm && \
		tests/bench/symbols 3 $$SYMBOLS_LARGE

## test-debian13  builds in Debian 13 and runs the unit tests there (root; a gigabyte)
test-debian13: deps
	$(Q)$(call install_missing,debootstrap)
	$(Q)$(MAKE) --no-print-directory $(P)/sym_driver $(P)/sym_shapes $(P)/seed_idleak
	$(Q)tests/debian13 build $(foreach d,$(deps_build),$(lastword $(subst =, ,$(d))))

## check          the fast part: unit tests, layers, headers, imports
check: all unit check-layers check-headers check-imports
	$(Q)tests/run --build $(O) 'unit/*'

## check-layers   includes point one way
check-layers:
	$(Q)tests/check-layers

## check-headers  each header compiles alone
check-headers:
	$(Q)for h in $(headers); do \
		case $$h in */poison.h) continue ;; esac; \
		echo "#include \"$$h\"" | $(CC) $(filter-out -MMD -MP,$(cflags)) -Werror -fsyntax-only \
			-x c - || { echo "check-headers: $$h does not compile alone"; exit 1; }; \
	done

## check-imports  what the library takes from libc is what src/tracer/imports.txt lists
check-imports: build/libheapstory.so
	$(Q)nm -D --undefined-only build/libheapstory.so | awk '{ print $$2 }' | sed 's/@.*//' | \
		grep -v -e '^_ITM_' -e '^__gmon_start__$$' -e '^__cxa_finalize$$' | LC_ALL=C sort -u | \
		diff -u --label imports.txt --label libheapstory.so src/tracer/imports.txt -

## fuzz           runs each fuzz target for a while (FUZZ_SECONDS, default 20)
FUZZ_SECONDS ?= 20
fuzz: fuzz-build
	$(Q)for f in $(fuzz_bin); do tests/fuzz/run $$f $(FUZZ_SECONDS) || exit 1; done

fuzz-build: $(fuzz_bin)

$(O)/fuzz/%: $(O)/obj/tool/tests/fuzz/%.o $(wildcard tests/fuzz/main.c) $(O)/libtool-test.a \
		$(O)/libtracer-test.a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK    $@")
	$(Q)$(CC) $(cflags) $(san_flags) $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(tool_libs) -pthread

## lint           shellcheck, man page syntax, layout of the code
lint:
	$(Q)shellcheck -x -P tests .ci/run tests/run tests/lib.sh tests/check-layers tests/debian13 tests/demo $(wildcard \
		tests/cli/*.sh tests/unwind/run.sh tests/fuzz/run tests/bench/*.sh)
	$(Q)mandoc -T lint -W warning $(wildcard docs/*.[15])

## format         applies .clang-format
format:
	clang-format -i $(wildcard src/*/*.[ch] symbolizer/*.[ch] reports/*.[ch] tests/unit/*.[ch] \
		tests/programs/*.[ch] tests/fuzz/*.[ch])

## bench          cost beside heaptrack, look-ups beside llvm-symbolizer (tests/bench)
bench: all $(P)/sym_driver $(P)/log_report $(P)/seed_idleak
	$(Q)tests/bench/run
	$(Q)tests/bench/symbols

## demo           a program that grows without a leak, and how one finds why (under a minute)
demo: deps-build
	$(Q)$(MAKE) --no-print-directory all $(P)/demo_idleak
	$(Q)tests/demo

# ---- install -----------------------------------------------------------------------------------

## install        into $(DESTDIR)$(PREFIX)
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/heapstory \
		$(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 755 $(O)/heapstory $(DESTDIR)$(PREFIX)/bin/heapstory
	install -m 755 $(O)/libheapstory.so $(DESTDIR)$(PREFIX)/lib/heapstory/libheapstory.so
	for p in $(wildcard docs/*.1); do install -m 644 $$p $(DESTDIR)$(PREFIX)/share/man/man1/; done
	for p in $(wildcard docs/*.5); do install -m 644 $$p $(DESTDIR)$(PREFIX)/share/man/man5/; done

## uninstall      takes away what install put there
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/heapstory
	rm -rf $(DESTDIR)$(PREFIX)/lib/heapstory
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/man/man1/,$(notdir $(wildcard docs/*.1)))
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/man/man5/,$(notdir $(wildcard docs/*.5)))

## clean          removes build/
clean:
	rm -rf build

# ---- what has to be installed ------------------------------------------------------------------

# command=package where any version of the command will do, else the name of a package
deps_build := gcc=gcc g++=g++ libc6-dev libunwind8 libunwind-dev libzstd-dev libxxhash-dev \
	libjansson-dev libiberty-dev uthash-dev libdwarf-dev zlib1g-dev liblzma-dev \
	protoc-c=protobuf-c-compiler libprotobuf-c-dev
deps_test = rustc=rustc go=golang-go redis-server=redis-server redis-cli=redis-tools sqlite3=sqlite3 \
	python3=python3 node=nodejs gdb=gdb valgrind=valgrind strace=strace musl-gcc=musl-tools \
	clang=clang llvm-nm=llvm heaptrack=heaptrack shellcheck=shellcheck mandoc=mandoc \
	objcopy=binutils dwz=dwz eu-addr2line=elfutils setpriv=util-linux ps=procps libcmocka-dev \
	libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0 debuginfod=debuginfod \
	aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-aarch64=qemu-user \
	libc6-dbg libstdc++6-$(or $(shell g++ -dumpversion 2>/dev/null),12)-dbg

## deps           installs what is missing for building and testing (Debian, root or sudo)
deps:
	$(Q)$(call install_missing,$(deps_build) $(deps_test))

deps-build:
	$(Q)$(call install_missing,$(deps_build))

# Services must not start because their package was installed: policy-rc.d says no meanwhile.
define install_missing
missing=; \
for d in $(1); do \
	case $$d in \
	*=*) command -v "$${d%%=*}" >/dev/null 2>&1 && continue ;; \
	*) dpkg-query -W -f '$${Status}\n' "$$d" 2>/dev/null | grep -q 'ok installed' && continue ;; \
	esac; \
	missing="$$missing $${d#*=}"; \
done; \
[ -n "$$missing" ] || exit 0; \
echo "installing:$$missing"; \
as_root=; \
if [ "$$(id -u)" != 0 ]; then \
	command -v sudo >/dev/null || { echo "neither root nor sudo; install:$$missing"; exit 1; }; \
	as_root=sudo; \
fi; \
$$as_root env DEBIAN_FRONTEND=noninteractive MISSING="$$missing" sh -ec ' \
	apt-get update -q; \
	policy=/usr/sbin/policy-rc.d; \
	if [ ! -e $$policy ]; then \
		printf "#!/bin/sh\nexit 101\n" >$$policy; \
		chmod 755 $$policy; \
		trap "rm -f $$policy" EXIT; \
	fi; \
	apt-get install -q -y --no-install-recommends $$MISSING'
endef

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)

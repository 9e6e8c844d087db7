# SPDX-License-Identifier: GPL-2.0-only
# Every entry point; `make help` lists them. Files are found by wildcard: nobody edits this to add one.
#
#   BUILD=dir      where everything built goes (default: build)
#   VARIANT=name   release (default), san (ASan + UBSan), debug, fuzz (clang, libFuzzer)
#   CC=clang  V=1  WERROR=1  LRUTAPE_NO_DEPS=1 (install nothing)

VARIANT ?= release
BUILD ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
PKG_CONFIG ?= pkg-config
prefix ?= /usr/local
bindir ?= $(prefix)/bin
mandir ?= $(prefix)/share/man

OUT := $(BUILD)/$(VARIANT)
OBJ := $(OUT)/obj
BIN := $(OUT)/bin
GEN := $(OUT)/gen

# ---- Libraries. Minimum versions stand here and nowhere else.

NEED_ZSTD := libzstd >= 1.4.0
NEED_ZLIB := zlib >= 1.2.11
NEED_SQLITE := sqlite3 >= 3.34.0
NEED_TRACEEVENT := libtraceevent >= 1.7.0
NEED_TRACEFS := libtracefs >= 1.6.0
NEED_CMOCKA := cmocka >= 1.1.5

have = $(shell $(PKG_CONFIG) --exists '$(1)' 2>/dev/null && echo yes)
HAVE_REQUIRED := $(and $(call have,$(NEED_ZSTD)),$(call have,$(NEED_ZLIB)),$(call have,$(NEED_SQLITE)))
HAVE_TRACEFS := $(and $(call have,$(NEED_TRACEEVENT)),$(call have,$(NEED_TRACEFS)))
HAVE_CMOCKA := $(call have,$(NEED_CMOCKA))
ifdef LRUTAPE_NO_TRACEFS
HAVE_TRACEFS :=
endif

PACKAGES := $(if $(HAVE_REQUIRED),libzstd zlib sqlite3) $(if $(HAVE_TRACEFS),libtracefs libtraceevent)
ifneq ($(strip $(PACKAGES)),)
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES))
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES))
endif
# What the static recorder is linked with: the same libraries but sqlite, as archives.
HAVE_STATIC := $(and $(HAVE_REQUIRED),$(HAVE_TRACEFS),$(filter release debug,$(VARIANT)),\
	       $(filter /%/libtracefs.a,$(shell $(CC) -print-file-name=libtracefs.a)),\
	       $(filter /%/libtraceevent.a,$(shell $(CC) -print-file-name=libtraceevent.a)),\
	       $(filter /%/libzstd.a,$(shell $(CC) -print-file-name=libzstd.a)))
ifneq ($(HAVE_STATIC),)
STATIC_LIBS := $(shell $(PKG_CONFIG) --static --libs libtracefs libtraceevent libzstd zlib)
endif
CMOCKA_LIBS := $(if $(HAVE_CMOCKA),$(shell $(PKG_CONFIG) --libs cmocka))

# ---- Sources.

# Each folder is searched to four levels: deep enough for any stage, and no find(1) to disagree with.
files_below = $(sort $(foreach d,/ /*/ /*/*/ /*/*/*/,$(wildcard $(1)$(d)$(2))))

CAPTURE_SRC := $(call files_below,capture,*.c)
ifndef HAVE_TRACEFS
# The recorder goes, the importers stay. What only the recorder calls may stay in the archive, unlinked.
NEEDS_TRACEFS := $(sort $(filter capture/record%,$(CAPTURE_SRC)) \
		 $(if $(CAPTURE_SRC),$(shell grep -lE '<(tracefs|event-parse|kbuffer|trace-seq)\.h>|"capture/trace_instance\.h"' \
		 $(CAPTURE_SRC))))
CAPTURE_SRC := $(filter-out $(NEEDS_TRACEFS),$(CAPTURE_SRC))
endif
LIB_SRC := $(call files_below,schema,*.c) $(CAPTURE_SRC) $(call files_below,replay,*.c) \
	   $(call files_below,analysis,*.c)
SQL_SRC := $(call files_below,schema,*.sql) $(call files_below,analysis,*.sql)
WORKLOAD_SRC := $(sort $(wildcard tests/live/workload/*.c))
TOOL_SRC := $(sort $(wildcard tests/live/tools/*.c))
TEST_SRC := $(call files_below,tests/unit,test_*.c) $(call files_below,tests/property,test_*.c)
ifndef HAVE_TRACEFS
TEST_SRC := $(filter-out $(NEEDS_TRACEFS:capture/%=tests/unit/capture/test_%),$(TEST_SRC))
endif
ORACLE_SRC := $(sort $(wildcard tests/oracle/*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
BENCH_SRC := $(sort $(wildcard tests/bench/bench_*.c))
ALL_C := $(sort lrutape.c lrutape_record.c $(call files_below,schema,*.c) $(call files_below,capture,*.c) \
	 $(call files_below,replay,*.c) $(call files_below,analysis,*.c) $(call files_below,tests,*.c))
ALL_H := $(foreach d,schema capture replay analysis tests,$(call files_below,$(d),*.h))

LIB_OBJ := $(LIB_SRC:%.c=$(OBJ)/%.o)
LIB := $(OUT)/lib/liblrutape.a
WORKLOADS := $(WORKLOAD_SRC:tests/live/workload/%.c=$(BIN)/%)
TOOLS := $(TOOL_SRC:tests/live/tools/%.c=$(BIN)/%)
TESTS := $(TEST_SRC:%.c=$(BIN)/%)
ORACLES := $(ORACLE_SRC:tests/oracle/%.c=$(BIN)/%)
FUZZERS := $(FUZZ_SRC:%.c=$(BIN)/%)
BENCHES := $(BENCH_SRC:tests/bench/%.c=$(BIN)/%)
SQL_INC := $(SQL_SRC:%=$(GEN)/%.inc)

# ---- Flags. Asserts stay on everywhere: a wrong number is worse than a crash.

WARN := -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes $(if $(WERROR),-Werror)
OPT_release := -O2 -g
OPT_debug := -O0 -g3
OPT_san := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
OPT_fuzz := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	    -fno-sanitize-recover=undefined -DLRUTAPE_LIBFUZZER
ifndef OPT_$(VARIANT)
$(error VARIANT=$(VARIANT): no such variant: use release, san, debug or fuzz)
endif
# _GNU_SOURCE is defined as empty so that a file that also defines it draws no warning.
ALL_CPPFLAGS := -I. -I$(GEN) -D_GNU_SOURCE= $(PKG_CFLAGS) $(CPPFLAGS)
# Lists are threaded through structs of several types, as in the kernel and with its consequence:
# what points to a list head may be a folio or not, which strict aliasing forbids to compare.
ALL_CFLAGS := -std=gnu11 -fno-strict-aliasing -pthread $(WARN) $(OPT_$(VARIANT)) $(CFLAGS)
ALL_LDFLAGS := -pthread -rdynamic $(filter -fsanitize%,$(OPT_$(VARIANT))) $(LDFLAGS)
ALL_LIBS := $(PKG_LIBS) -ldl $(LDLIBS)

# The core and the policies know no clock, no environment, no floating point.
POISON := scripts/poison.h
poison_flags = $(if $(filter replay/mm/% replay/policy/%,$(1)),-include $(POISON))

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

# ---- Building.

.PHONY: all help programs variant static tests fuzzers benches workloads required demo run-demo test run-test \
	check-san test-live test-vm run-test-vm test-chroot lint check-format check-headers check-includes check-spdx \
	check-docs check-pure format check-cppcheck check-tidy bars bars-mglru bars-vm mutants agreement second-run agreement-vm \
	bench golden fuzz deps install uninstall clean ci
.DELETE_ON_ERROR:
.SECONDARY:

all: programs ## build build/release/bin/lrutape and the workload programs (default)

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z][a-z_.-]*:.*## / { printf "  %-22s %s\n", $$1, $$2 }' Makefile

programs: $(BIN)/lrutape workloads
workloads: $(WORKLOADS)
static: $(BIN)/lrutape-record $(WORKLOADS:$(BIN)/%=$(BIN)/static/%) ## build lrutape-record, one static binary, and static workloads
tests: $(TESTS) $(TOOLS) $(ORACLES)
fuzzers: $(FUZZERS)
benches: $(BENCHES)

required:
ifndef HAVE_REQUIRED
	@echo "lrutape: libraries are missing or too old: $(NEED_ZSTD), $(NEED_ZLIB), $(NEED_SQLITE)" \
	      "(found through $(PKG_CONFIG)): run \`make deps\`, or install them" >&2; exit 1
endif
ifndef HAVE_TRACEFS
	@echo "lrutape: $(NEED_TRACEFS), $(NEED_TRACEEVENT) not found: building without \`record\`"
endif

# Holds the compiler and flags, so that a change of either rebuilds.
FLAGS_NOW := $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(ALL_LIBS)
$(OUT)/flags: FORCE
	@mkdir -p $(@D); echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' >$@
FORCE:

$(OBJ)/%.o: %.c $(OUT)/flags | required $(SQL_INC)
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(call poison_flags,$<) -MMD -MP -c -o $@ $<

# A .sql file as a C string: `static const char sql[] =` newline `#include "schema/results.sql.inc"` newline `;`
$(GEN)/%.sql.inc: %.sql
	@mkdir -p $(@D)
	$(say) SQL $<
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $< >$@

# The list of objects is a prerequisite too: an archive must not keep the object of a deleted file.
$(OUT)/lib/objects: FORCE
	@mkdir -p $(@D); echo '$(LIB_OBJ)' | cmp -s - $@ || echo '$(LIB_OBJ)' >$@

$(LIB): $(LIB_OBJ) $(OUT)/lib/objects
	$(say) AR $@
	$(Q)rm -f $@; $(AR) rcs $@ $(LIB_OBJ)

# Mostly linked from objects: lrutape.c names the commands weakly, and a weak name pulls nothing from an
# archive; a policy brought by the user may call what the program itself does not. From capture/ only
# what is called is taken, so that a build without libtracefs needs no list of what the recorder uses.
PROGRAM_OBJ := $(OBJ)/lrutape.o $(filter-out $(OBJ)/capture/%,$(LIB_OBJ)) \
	       $(filter $(OBJ)/capture/%_command.o,$(LIB_OBJ))
$(BIN)/lrutape: $(PROGRAM_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(PROGRAM_OBJ) $(LIB) $(ALL_LIBS)

# For a host with nothing installed: no libc, no sqlite, no symbols, and nothing that loads code.
STATIC_OBJ := $(filter $(OBJ)/schema/% $(OBJ)/capture/%_command.o,$(LIB_OBJ))
STATIC_LDFLAGS = -static -s -Wl,--wrap=dlopen $(filter-out -rdynamic,$(ALL_LDFLAGS))
$(BIN)/lrutape-record: $(OBJ)/lrutape_record.o $(STATIC_OBJ) $(LIB)
ifeq ($(HAVE_STATIC),)
	@echo "lrutape: lrutape-record: libtracefs.a, libtraceevent.a and libzstd.a are needed, and" \
	      "VARIANT=release or debug: run \`make deps\`" >&2; exit 1
endif
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(STATIC_LDFLAGS) -o $@ $(OBJ)/lrutape_record.o $(STATIC_OBJ) $(LIB) $(STATIC_LIBS) $(LDLIBS)

# Workloads for a virtual machine that holds nothing else.
$(WORKLOADS:$(BIN)/%=$(BIN)/static/%): $(BIN)/static/%: $(OBJ)/tests/live/workload/%.o
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(STATIC_LDFLAGS) -o $@ $< $(LDLIBS)

$(WORKLOADS): $(BIN)/%: $(OBJ)/tests/live/workload/%.o
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(LDLIBS)

# What a live test or a benchmark needs beside the program: linked like a test, without cmocka.
$(TOOLS): $(BIN)/%: $(OBJ)/tests/live/tools/%.o $(LIB)
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(ALL_LIBS)

# Inputs whose right answers are known.
$(ORACLES): $(BIN)/%: $(OBJ)/tests/oracle/%.o $(LIB)
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(ALL_LIBS)

$(BENCHES): $(BIN)/%: $(OBJ)/tests/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(ALL_LIBS) -lm

$(TESTS): $(BIN)/%: $(OBJ)/%.o $(LIB)
ifndef HAVE_CMOCKA
	@echo "lrutape: $(NEED_CMOCKA) not found, the tests need it: run \`make deps\`" >&2; exit 1
endif
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(CMOCKA_LIBS) $(ALL_LIBS) -lm

$(FUZZERS): $(BIN)/%: $(OBJ)/%.o $(LIB)
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) $(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer) -o $@ $< $(LIB) $(ALL_LIBS)

-include $(patsubst %.c,$(OBJ)/%.d,lrutape.c lrutape_record.c $(LIB_SRC) $(WORKLOAD_SRC) $(TOOL_SRC) $(TEST_SRC) $(ORACLE_SRC) $(FUZZ_SRC) $(BENCH_SRC))

# ---- Running. What needs a compiler runs `deps` first and then a second make, which sees what deps installed.

deps: ## install what is missing with apt-get (Debian, Ubuntu)
	@scripts/deps $(DEPS_GROUP)

maybe_deps = $(if $(LRUTAPE_NO_DEPS),@:,@scripts/deps)

variant: programs ## build NAME.so: this core with PATCH applied, for `replay --policy build/release/bin/NAME.so`
	@BIN=$(abspath $(BIN)) CC='$(CC)' CFLAGS='$(ALL_CFLAGS)' scripts/variant '$(NAME)' '$(PATCH)'

demo: ## record or take the bundled tape, check it, compare a patch with its base
	$(maybe_deps)
	@$(MAKE) --no-print-directory run-demo

run-demo: programs
	@BIN=$(abspath $(BIN)) scripts/demo

test: ## build and run all tests; PATTERN=pattern runs some
	$(maybe_deps)
	@$(MAKE) --no-print-directory run-test

run-test: programs tests fuzzers $(if $(HAVE_STATIC),static)
	@BIN=$(abspath $(BIN)) VARIANT=$(VARIANT) tests/run $(PATTERN)

check-san: ## the same tests under ASan and UBSan
	$(maybe_deps)
	@$(MAKE) --no-print-directory VARIANT=san run-test

test-live: programs $(TOOLS) $(if $(HAVE_STATIC),static) ## only the tests that record on this kernel (root)
	@BIN=$(abspath $(BIN)) VARIANT=$(VARIANT) tests/run tests/live

VM_KERNELS ?= 6.1 6.12
test-vm: ## Debian's kernels VM_KERNELS in qemu: the tape is what the kernel prints, check follows them
	$(maybe_deps)
	@$(MAKE) --no-print-directory run-test-vm

run-test-vm: programs static
	@BIN=$(abspath $(BIN)) tests/vm/test.sh $(VM_KERNELS); status=$$?; \
		BIN=$(abspath $(BIN)) tests/vm/classes.sh $(VM_KERNELS) && exit $$status

test-chroot: ## demo and tests in a bare Debian with git and make only (root)
	@tests/vm/chroot-test.sh

bars: programs benches $(ORACLES) ## the figures the project holds itself to, measured now (root: live ones too)
	@BIN=$(abspath $(BIN)) scripts/bars

mutants: programs ## break one rule of MGLRU at a time: does check notice on the bundled tapes? (ONLY=name)
	@BIN=$(abspath $(BIN)) CC='$(CC)' CFLAGS='$(ALL_CPPFLAGS) $(ALL_CFLAGS)' LDFLAGS='$(ALL_LDFLAGS)' LIBS='$(ALL_LIBS)' \
		OBJECTS='$(OBJ)/lrutape.o $(LIB_OBJ)' tests/mutants/run $(ONLY)

bars-vm: programs static ## recordings of MGLRU made now in VMs (VM_KERNELS): check against what is asked of it
	@BIN=$(abspath $(BIN)) scripts/bars-vm $(VM_KERNELS)

bars-mglru: programs $(ORACLES) ## TRACES=folder of MGLRU traces: each decision equal to the kernel's
	@BIN=$(abspath $(BIN)) scripts/bars-mglru $(TRACES)

agreement: programs ## classes of workload, recorded now: decisions equal to the kernel's (root)
	@BIN=$(abspath $(BIN)) scripts/agreement
second-run: programs ## a memory size that was not recorded: the estimate against a second live run of it (root)
	@BIN=$(abspath $(BIN)) scripts/second-run
agreement-vm: programs static ## the same on the kernels of VM_KERNELS in a virtual machine, classic LRU
	@BIN=$(abspath $(BIN)) LRUTAPE_VM_BARS=1 tests/vm/classes.sh $(VM_KERNELS)

bench: programs benches $(TOOLS) $(ORACLES) ## events and accesses a second, medians and spread; BASE=commit beside it
	@BIN=$(abspath $(BIN)) BASE=$(BASE) scripts/bench $(PATTERN)

golden: programs $(ORACLES) ## rewrite the golden rows and outputs, show the difference
	@BIN=$(abspath $(BIN)) UPDATE_GOLDEN=1 tests/run tests/golden; git --no-pager diff --stat -- tests/golden

FUZZ_SECONDS ?= 60
fuzz: ## libFuzzer with clang, FUZZ_SECONDS for each target
	@$(MAKE) --no-print-directory CC=clang VARIANT=fuzz fuzzers
	@BIN=$(abspath $(BUILD)/fuzz/bin) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

ci: ## what CI runs
	@.ci/run

# ---- Promises kept by machine.

lint: check-spdx check-includes check-headers check-pure check-docs check-format check-cppcheck check-tidy ## all of the checks below
check-spdx: ## every file names its licence
	@scripts/check-spdx
check-includes: ## who may include whom
	@scripts/check-includes
check-headers: $(SQL_INC) ## each header compiles alone
	@CC='$(CC)' FLAGS='$(ALL_CPPFLAGS) -std=gnu11 $(WARN) -Werror' scripts/check-headers $(ALL_H)
check-pure: $(filter $(OBJ)/replay/mm/% $(OBJ)/replay/policy/%,$(LIB_OBJ)) ## the core asks no clock, chance or environment
	@scripts/check-pure $^
check-docs: programs ## options, policies, counters stand in their documents
	@BIN=$(abspath $(BIN)) scripts/check-docs
	@scripts/check-fidelity
check-format: ## clang-format 14 changes nothing
	@scripts/check-format $(ALL_C) $(ALL_H)
format: ## let clang-format 14 have its way
	clang-format -i $(ALL_C) $(ALL_H)
check-cppcheck: ## cppcheck finds nothing
	@scripts/check-cppcheck -I$(GEN)
check-tidy: compile_commands.json $(SQL_INC) ## clang-tidy finds nothing
	@scripts/check-tidy $(filter-out tests/%,lrutape.c lrutape_record.c $(LIB_SRC))

comma := ,
COMPILED := lrutape_record.c $(LIB_SRC) $(WORKLOAD_SRC) $(TOOL_SRC) $(TEST_SRC) $(ORACLE_SRC) $(FUZZ_SRC) $(BENCH_SRC)
compile_entry = {"directory":"$(CURDIR)","file":"$(1)","command":"$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(call poison_flags,$(1)) -c $(1)"}
compile_commands.json: Makefile $(OUT)/flags ## for editors and clang-tidy
	$(say) GEN $@
	$(file >$@,[$(call compile_entry,lrutape.c))$(foreach f,$(COMPILED),$(file >>$@,$(comma)$(call compile_entry,$(f))))$(file >>$@,])

# ---- Installing.

MAN := $(wildcard docs/man/*.[1-8])

install: programs ## into prefix=/usr/local, below DESTDIR
	install -D -m 755 $(BIN)/lrutape $(DESTDIR)$(bindir)/lrutape
	$(foreach m,$(MAN),install -D -m 644 $(m) $(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))$(newline))

uninstall: ## what install put there
	rm -f $(DESTDIR)$(bindir)/lrutape
	$(foreach m,$(MAN),rm -f $(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))$(newline))

clean: ## all that was built
	rm -rf $(BUILD) compile_commands.json

define newline


endef

# A small front for Meson: `make demo` and `make test` do everything on a fresh Debian 12.
BUILD ?= build
PREFIX ?= /usr/local
# Debian's packages are installed once; the stamp remembers which list they came from.
SETUP = $(BUILD)/.setup

.PHONY: all everything setup demo test check install uninstall clean fuzz bench soak corpus divergence seeds suites matrix burn mutate replay wheel trywheel deb tarball static aarch64 site picture help
all: $(BUILD)/build.ninja ## build the program, libraries, Python package, manual pages and examples; no tests
	@ninja -C $(BUILD) product

everything: $(BUILD)/build.ninja ## the same, and all programs that the tests need
	@ninja -C $(BUILD)

$(SETUP): tools/setup
	@tools/setup
	@mkdir -p $(BUILD) && touch $@

setup: $(SETUP) ## install the Debian packages that are missing (as root or through sudo)

# Rules are found, not listed: Meson has to look again where there are other files than the last time.
RULES = $(BUILD)/.rules
$(RULES): FORCE
	@mkdir -p $(BUILD) && ls src/inspect/rules/*/*.c >$@.now && { cmp -s $@.now $@ || mv $@.now $@; } && rm -f $@.now
FORCE:

$(BUILD)/build.ninja: $(SETUP) $(RULES)
	@if test -f $@; then meson setup --reconfigure $(BUILD) >/dev/null; else meson setup $(BUILD) --prefix=$(PREFIX) >/dev/null; fi
	@touch $@

demo: $(BUILD)/build.ninja ## build the recorder, record a training program that is wrong, and print what is found
	@ninja -C $(BUILD) recorder
	@tools/demo $(BUILD)

test: everything ## build everything and run all tests, with and without sanitizers
	@tools/test $(BUILD)

check: $(SETUP) ## check the code's layers, symbols, format and generated files; seconds
	@tools/check
	@corpus/lint

install: $(BUILD)/build.ninja ## install below PREFIX, which is /usr/local unless given; DESTDIR is respected
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@ninja -C $(BUILD) product
	@meson install -C $(BUILD) --no-rebuild

uninstall: $(BUILD)/build.ninja ## remove from PREFIX what `make install` installed there
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@ninja -C $(BUILD) --quiet build.ninja >/dev/null
	@tools/uninstall $(BUILD)

# The name of the wheel says which glibc it needs. GLIBC=2.28 links with zig, from PyPI or $$ZIG, for older systems.
GLIBC ?=
# ARCH=aarch64 builds with Debian's cross compiler and Debian's libraries for arm64, unpacked beside the build folder.
ARCH ?=
TORCH ?=
CROSS = $(if $(filter aarch64,$(ARCH)),tools/setup gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static,:)
WHEEL = $(BUILD)-wheel$(if $(ARCH),-$(ARCH))$(if $(GLIBC),-$(GLIBC))
wheel: $(SETUP) ## the program for pip, with agents for CPython 3.9 to 3.14, into dist/; GLIBC=2.28: for older systems; ARCH=aarch64; TORCH=PYTHON: with its shim
	@$(CROSS)
	@packaging/wheel.py $(if $(ARCH),--arch $(ARCH)) $(if $(GLIBC),--glibc $(GLIBC)) $(foreach python,$(TORCH),--shim $(python)) $(WHEEL)

trywheel: $(SETUP) ## install the wheels of dist/ in fresh environments of every interpreter, use them and remove them
	@for wheel in $(filter-out %_aarch64.whl,$(wildcard dist/*.whl)); do tests/packaging/test_wheel.py $$wheel $$(packaging/interpreters.py) || exit 1; done
	@for wheel in $(filter %_aarch64.whl,$(wildcard dist/*.whl)); do \
		tests/packaging/test_foreign_wheel.py $$wheel $(or $(lastword $(wildcard $(BUILD)-wheel-aarch64*-root)),$(BUILD)-wheel-aarch64-root) || test $$? = 77 || exit 1; done

tarball: $(SETUP) ## a tree that runs from any folder, into dist/; GLIBC=2.28: for older systems; ARCH=aarch64
	@$(CROSS)
	@packaging/tarball.py $(if $(ARCH),--arch $(ARCH)) $(if $(GLIBC),--glibc $(GLIBC)) $(WHEEL)

static: $(SETUP) ## one program that needs no libc, for musl (Alpine), into dist/; tests it in a root without glibc
	@tools/setup musl-tools busybox-static
	@packaging/static.py $(BUILD)-static
	@tests/packaging/test_static.py $$(ls -t dist/wheeltap-*-static.tar.gz | head -n 1) || test $$? = 77

deb: $(SETUP) ## the Debian packages, into dist/, and lintian's judgement
	@tools/setup debhelper dh-python dpkg-dev lintian
	@packaging/deb.py $(BUILD)-deb

fuzz: $(SETUP) ## look for inputs that break the parsers, with libFuzzer
	@tools/fuzz

COUNT ?= 10000
SEED ?= 1
mutate: everything ## read mutated files with every verb; half an hour: make mutate COUNT=10000 SEED=1
	@test -f $(BUILD)-asan/build.ninja || meson setup $(BUILD)-asan -Db_sanitize=address,undefined -Doptimization=1 -Dwerror_dev=false >/dev/null
	@ninja -C $(BUILD)-asan --quiet wheeltap tests/extremes/make_extremes
	@tests/extremes/test_extremes.py $(BUILD)-asan/wheeltap $(BUILD)-asan/tests/extremes/make_extremes 8
	@tests/mutate/campaign.py --mutator $(BUILD)/tests/mutate/mutate_stream --plain $(BUILD)/wheeltap \
		--asan $(BUILD)-asan/wheeltap --count $(COUNT) --seed $(SEED) --keep $(BUILD)/mutate-failures
	@WHEELTAP_BUILD=$(abspath $(BUILD)) tests/opencl/replay_mutate.py --count $$(($(COUNT) / 20)) --seed $(SEED) $(BUILD)/tests/mutate/mutate_stream \
		$(BUILD)-asan/wheeltap $(foreach name,vector_add image_filter svm map_unmap sub_buffers,$(BUILD)/tests/opencl/opencl_$(name))

replay: everything ## replay the OpenCL programs of the tests 20 times each; half an hour
	@tests/opencl/replay_campaign.py $(BUILD)

bench: everything ## measure speed and cost
	@bench/run $(BUILD)

corpus: all ## record all programs of corpus/, right and wrong
	@corpus/run --wheeltap $(BUILD)/wheeltap --seeds 3 --configs ABC --jobs 2

divergence: all ## rerun each program of corpus/divergence ten times: is the first operation that differs the right one?
	@corpus/divergence/run.py $(BUILD)/wheeltap

seeds: all ## learn from the good runs of all programs of corpus/, and check those of other seeds
	@corpus/seeds --wheeltap $(BUILD)/wheeltap

soak: everything ## kill, stop and starve recordings at random moments, many times
	@tests/record/soak $(BUILD)

suites: all ## numpy's and scipy's own tests, recorded and not; an hour
	@/usr/bin/python3 tests/python/suites/compare.py --keep $(BUILD)/suites.jsonl $(BUILD)/wheeltap /usr/bin/python3

matrix: everything ## the Python agent's tests with other releases of torch, from PyPI; an hour
	@tools/matrix $(BUILD)

burn: all ## Burn itself, built by cargo, reads what we write and the other way round; a quarter of an hour
	@/usr/bin/python3 tests/model/burn/test_burn.py $(BUILD)/wheeltap $(BUILD)/burn || test $$? = 77

aarch64: $(SETUP) $(BUILD)/build.ninja ## build for aarch64 and test it under qemu-user; needs gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu, qemu-user-static
	@tools/cross $(BUILD) || test $$? = 77

site: ## the documents as pages in $(BUILD)/site/pages, offline; needs mkdocs
	@tools/site $(BUILD)/site || test $$? = 77

picture: all ## the picture of a finding in README, from a real run
	@tools/picture $(BUILD)

clean: ## remove the build folders
	@rm -rf $(BUILD) $(BUILD)-*

help: ## print this list
	@echo 'usage: make [TARGET] [BUILD=folder] [PREFIX=folder]'
	@awk -F':.*## ' '/^[a-z0-9]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' Makefile

# A small front for Meson: `make demo` and `make test` do everything on a fresh Debian 12.
BUILD ?= build
PREFIX ?= /usr/local
# Debian's packages are installed once; the stamp remembers which list they came from.
SETUP = $(BUILD)/.setup

.PHONY: all setup demo test check install clean fuzz bench soak corpus suites matrix
all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(SETUP): tools/setup
	@tools/setup
	@mkdir -p $(BUILD) && touch $@

setup: $(SETUP)

$(BUILD)/build.ninja: $(SETUP)
	@test -f $@ || meson setup $(BUILD) --prefix=$(PREFIX) >/dev/null
	@touch $@

demo: all
	@tools/demo $(BUILD)

test: all
	@tools/test $(BUILD)

check: $(SETUP)
	@tools/check
	@corpus/lint

install: all
	@meson configure $(BUILD) --prefix=$(PREFIX) && meson install -C $(BUILD)

fuzz: $(SETUP)
	@tools/fuzz

bench: all
	@bench/run $(BUILD)

corpus: $(SETUP)
	@corpus/run --wheeltap $(BUILD)/wheeltap --seeds 3 --configs ABC --jobs 2

soak: all
	@tests/record/soak $(BUILD)

# numpy's and scipy's own tests, with us and without; an hour. The agent's tests on other torches, from PyPI; another.
suites: all
	@/usr/bin/python3 tests/python/suites/compare.py --keep $(BUILD)/suites.jsonl $(BUILD)/wheeltap /usr/bin/python3

matrix: all
	@tools/matrix $(BUILD)

clean:
	@rm -rf build build-*

# Two commands matter: `make demo` and `make test`. Both set up what they need.
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
JOBS ?= 2

.PHONY: setup demo test test-real check bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

demo: $(READY)  ## train three models on the built-in city, compare them, write an offline page
	$(VENV)/bin/sparserec demo $(DEMO)

test: $(READY)  ## all tests but those on real data
	$(PY) -m pytest -n $(JOBS) --dist worksteal tests

test-real: $(READY)  ## slow checks; SPARSEREC_DATA names a folder with gowalla/ and yelp2018/
	$(PY) -m pytest -m real tests

check: $(READY)  ## lint, types, import rules
	$(VENV)/bin/ruff check src tests benchmarks conformance
	$(VENV)/bin/ruff format --check src tests benchmarks conformance
	$(VENV)/bin/mypy src/sparserec
	$(VENV)/bin/lint-imports

bench: $(READY)  ## speed and memory against the usual implementations; SPARSEREC_DATA names the data folder
	$(PY) benchmarks/run.py

clean:
	rm -rf $(VENV) .venv-bench runs demo

# Two commands matter: `make demo` and `make test`. Both set up what they need.
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.docs-ready
JOBS ?= 2
PYTHON ?= python3
DEVICE_VENV = .venv-device-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

.PHONY: setup demo test test-device test-real test-release docs check bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[train,dev]'
	touch $(READY)

$(DOCS_READY): $(READY)
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[train,dev,docs]'
	touch $(DOCS_READY)

demo: $(READY)  ## train on the built-in city, compare with dense and with the paper, write an offline page
	$(VENV)/bin/sparserec demo $(DEMO)

test: $(READY)  ## all tests but those on real data
	$(PY) -m pytest -n $(JOBS) --dist worksteal tests

test-device:  ## the reader on another Python, with numpy alone: make test-device PYTHON=python3.13
	$(PYTHON) -m venv $(DEVICE_VENV)
	$(DEVICE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check numpy pytest hypothesis
	PYTHONPATH=src $(DEVICE_VENV)/bin/python -m pytest tests/device --ignore tests/device/test_device_curve.py --ignore tests/device/test_frontier.py

test-real: $(READY)  ## slow checks; SPARSEREC_DATA names a folder with gowalla/ and yelp2018/
	$(PY) -m pytest -m real tests

test-release: $(DOCS_READY)  ## builds sdist, wheel and npm package, installs and uses them on every Python found, runs the notebooks
	$(PY) -m pytest -m release -v tests/release

docs: $(DOCS_READY)  ## the site, into site/; its front page is a model of the built-in city, trained here
	$(PY) docs/build.py site

check: $(READY)  ## lint, types, import rules
	$(VENV)/bin/ruff check src tests benchmarks conformance reproduction
	$(VENV)/bin/ruff format --check src tests benchmarks conformance reproduction
	$(VENV)/bin/mypy src/sparserec reproduction
	$(VENV)/bin/lint-imports

bench: $(READY)  ## speed and memory against the usual implementations; SPARSEREC_DATA names the data folder
	$(PY) benchmarks/run.py

clean:
	rm -rf $(VENV) .venv-bench .venv-device-* runs demo site

# Thin calls of packaging/dev.py, which serves systems without make too: `py packaging\dev.py run`.
PYTHON ?= python3
DEV = $(PYTHON) packaging/dev.py
N ?= 150

.PHONY: run test setup lint bench torture clean
run test setup lint bench clean:
	@$(DEV) $@

torture:
	@$(DEV) torture N=$(N) $(if $(SEED),SEED=$(SEED))
